//! A strategic merge: an object and a patch in, the object changed as an API server would.
//!
//! Maps are merged key by key, a null removes; lists are replaced, or merged by the key that their Go type names
//! ([`list`]). What a patch may say besides is in [`directive`].

use mizzen_text::At;
use serde_json::{Map, Value};

use super::{PatchError, directive, list};
use crate::shapes::{Field, Shape, Shapes, Struct};

type Merged<T> = Result<T, PatchError>;

/// Merges the patch into the object, which stays as it is where that fails.
pub fn strategic(object: &mut Value, patch: &Value) -> Result<(), PatchError> {
    let said = |name: &str| object.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
    let (api_version, kind) = (said("apiVersion"), said("kind"));
    let Some(shape) = Shapes::kubernetes().kind(&api_version, &kind) else {
        return Err(PatchError::UnknownKind { api_version, kind });
    };
    let (Value::Object(original), Value::Object(patch)) = (&*object, patch) else {
        return Err(PatchError::at(&At::TOP, "only a map can be merged into an object"));
    };
    let mut merged = Value::Object(map(original.clone(), patch.clone(), Rules::Struct(shape), &At::TOP)?);
    make_whole(&mut merged);
    *object = merged;
    Ok(())
}

/// A fraction without a rest is a whole number as soon as Go has written it down.
fn make_whole(value: &mut Value) {
    match value {
        Value::Number(number) if number.is_f64() => {
            let float = number.as_f64().unwrap_or_default();
            // So far a float counts every whole number.
            if float.fract() == 0.0 && float.abs() < (1_u64 << 53) as f64 {
                *value = Value::from(float as i64);
            }
        }
        Value::Array(items) => items.iter_mut().for_each(make_whole),
        Value::Object(fields) => fields.values_mut().for_each(make_whole),
        _ => {}
    }
}

/// What is known about a map that is merged.
#[derive(Clone, Copy)]
pub(super) enum Rules {
    Struct(&'static Struct),
    /// It is no struct in Go: its values can be set but not merged.
    Plain,
}

impl Rules {
    fn of(shape: &Shape) -> Self {
        match shape {
            Shape::Struct(number) => Shapes::kubernetes().get(*number).map_or(Self::Plain, Self::Struct),
            _ => Self::Plain,
        }
    }

    fn field(self, name: &str, at: &At<'_>) -> Merged<&'static Field> {
        match self {
            Self::Struct(shape) => shape
                .field(name)
                .ok_or_else(|| PatchError::at(at, format!("{} has no such field", shape.name))),
            Self::Plain => Err(PatchError::at(at, "nothing can be merged into the values of this map")),
        }
    }

    /// The field, which must be a list, and what its items are.
    pub(super) fn list(self, name: &str, at: &At<'_>) -> Merged<(&'static Field, Self)> {
        let field = self.field(name, at)?;
        match &field.shape {
            Shape::List(item) if matches!(**item, Shape::List(_)) => {
                Err(PatchError::at(at, "lists of lists cannot be merged"))
            }
            Shape::List(item) => Ok((field, Self::of(item))),
            Shape::Bytes => Ok((field, Self::Plain)),
            _ => Err(PatchError::at(at, "this is no list")),
        }
    }
}

/// The sorts of values that a merge keeps apart. A whole number and a fraction are two of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sort {
    Null,
    Bool,
    Int,
    Float,
    Text,
    List,
    Map,
}

pub(super) fn sort(value: &Value) -> Sort {
    match value {
        Value::Null => Sort::Null,
        Value::Bool(_) => Sort::Bool,
        Value::Number(number) if number.is_i64() => Sort::Int,
        Value::Number(_) => Sort::Float,
        Value::String(_) => Sort::Text,
        Value::Array(_) => Sort::List,
        Value::Object(_) => Sort::Map,
    }
}

pub(super) fn map(
    mut original: Map<String, Value>,
    mut patch: Map<String, Value>,
    rules: Rules,
    at: &At<'_>,
) -> Merged<Map<String, Value>> {
    if let Some(said) = patch.remove(directive::PATCH) {
        return directive::whole_map(&said, patch, at);
    }
    directive::retain_keys(&mut original, &mut patch, at)?;
    directive::set_element_order(&mut original, &mut patch, rules, at)?;
    for (key, value) in patch {
        let deleted_from = directive::deleted_from(&key, at)?;
        let deletes = deleted_from.is_some();
        let key = deleted_from.unwrap_or(key);
        let at = at.field(&key);
        if value.is_null() {
            original.remove(&key);
            continue;
        }
        let there = original.get(&key).map(sort);
        let merged = match (there, value) {
            (Some(Sort::Map), Value::Object(patch)) => {
                let field = rules.field(&key, &at)?;
                let Some(Value::Object(below)) = original.remove(&key) else { continue };
                let merged =
                    if field.replace { patch } else { map(below, patch, Rules::of(&field.shape), &at)? };
                Some(Value::Object(merged))
            }
            (Some(Sort::List), Value::Array(patch)) => {
                let (field, items) = rules.list(&key, &at)?;
                let Some(Value::Array(below)) = original.remove(&key) else { continue };
                let merged = if field.merge || deletes {
                    list::merge(below, patch, items, field.key.as_deref(), deletes, &at)?
                } else {
                    patch
                };
                Some(Value::Array(merged))
            }
            // A list of what shall go cannot make something of another sort.
            (there, value) if deletes && there != Some(sort(&value)) => continue,
            (there, mut value) => {
                if there != Some(sort(&value)) {
                    directive::drop_nulls(&mut value);
                }
                directive::without(value)
            }
        };
        match merged {
            Some(merged) => drop(original.insert(key, merged)),
            None => drop(original.remove(&key)),
        }
    }
    Ok(original)
}
