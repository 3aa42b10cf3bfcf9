//! `index`, `slice` and `len`.

use crate::{Elements, Failure, Value, exec::Slot};

pub(super) fn length(item: &Slot) -> Result<Slot, Failure> {
    let length = match item {
        Slot::Nothing => return refuse("len of nothing: there is no value"),
        Slot::Nil => return refuse("len of nil pointer"),
        Slot::Plain(value) | Slot::Boxed(value) => match value {
            Value::Text(text) => text.len(),
            Value::List(list) => list.len(),
            Value::Map(map) => map.len(),
            Value::Object(object) => return length(&Slot::plain(plain(&object.plain(), "len of")?)),
            other => return refuse(format!("len of type {}", other.type_name())),
        },
    };
    Ok(Slot::Plain(Value::Int(i64::try_from(length).unwrap_or(i64::MAX))))
}

/// An object that is a map or a list at heart; anything else has no parts.
fn plain(value: &Value, what: &str) -> Result<Value, Failure> {
    match value {
        Value::Text(_) | Value::List(_) | Value::Map(_) => Ok(value.clone()),
        other => refuse(format!("{what} type {}", other.type_name())),
    }
}

pub(super) fn index(item: &Slot, indexes: &[Slot]) -> Result<Slot, Failure> {
    let mut item = item.clone();
    if item.value().is_none() {
        return refuse("index of untyped nil");
    }
    for index in indexes {
        let Some(value) = item.value() else {
            return refuse("index of nil pointer");
        };
        let value = match value {
            Value::Object(object) => plain(&object.plain(), "can't index item of")?,
            value => value.clone(),
        };
        item = match value {
            Value::Text(text) => {
                // One more than there are is allowed by the check, and then Go breaks down.
                match text.as_bytes().get(position(index.value(), text.len())?) {
                    Some(byte) => Slot::Plain(Value::Int(i64::from(*byte))),
                    None => return refuse("reflect: string index out of range"),
                }
            }
            Value::List(list) => match list.get(position(index.value(), list.len())?) {
                Some(value) => slot(value.clone(), list.elements()),
                None => return refuse("reflect: slice index out of range"),
            },
            Value::Map(map) => match index.value() {
                Some(Value::Text(key)) => match (map.get(key), map.elements()) {
                    (Some(value), elements) => slot(value, elements),
                    (None, Elements::Any) => Slot::Nil,
                    (None, _) => Slot::Plain(Value::text("")),
                },
                Some(other) => {
                    return refuse(format!("value has type {}; should be string", other.type_name()));
                }
                None => return refuse("value is nil; should be of type string"),
            },
            other => return refuse(format!("can't index item of type {}", other.type_name())),
        };
    }
    Ok(item)
}

fn slot(value: Value, elements: Elements) -> Slot {
    match elements {
        Elements::Any => Slot::boxed(value),
        Elements::Text | Elements::Int | Elements::Lists => Slot::plain(value),
    }
}

fn position(index: Option<&Value>, most: usize) -> Result<usize, Failure> {
    let index = match index {
        Some(Value::Int(index) | Value::Int64(index)) => *index,
        None => return refuse("cannot index slice/array with nil"),
        Some(other) => {
            return refuse(format!("cannot index slice/array with type {}", other.type_name()));
        }
    };
    match usize::try_from(index) {
        Ok(position) if position <= most => Ok(position),
        _ => refuse(format!("index out of range: {index}")),
    }
}

pub(super) fn slice(item: &Slot, indexes: &[Slot]) -> Result<Slot, Failure> {
    let Some(value) = item.value() else {
        return refuse("slice of untyped nil");
    };
    let value = match value {
        Value::Object(object) => plain(&object.plain(), "can't slice item of")?,
        value => value.clone(),
    };
    if indexes.len() > 3 {
        return refuse(format!("too many slice indexes: {}", indexes.len()));
    }
    let length = match &value {
        Value::Text(_) if indexes.len() == 3 => return refuse("cannot 3-index slice a string"),
        Value::Text(text) => text.len(),
        Value::List(list) => list.len(),
        other => return refuse(format!("can't slice item of type {}", other.type_name())),
    };
    let mut bounds = [0, length, length];
    for (bound, index) in bounds.iter_mut().zip(indexes) {
        if matches!(index, Slot::Boxed(_) | Slot::Nil) {
            return refuse("cannot index slice/array with type interface {}");
        }
        *bound = position(index.value(), length)?;
    }
    let [from, to, capacity] = bounds;
    for (low, high) in [(from, to), (to, capacity)] {
        if low > high {
            return refuse(format!("invalid slice index: {low} > {high}"));
        }
    }
    Ok(Slot::Plain(match value {
        Value::Text(text) => match text.get(from..to) {
            Some(part) => Value::text(part),
            None => return refuse(format!("{from} to {to} cuts through a character")),
        },
        Value::List(list) => Value::List(list.slice(from, to)),
        other => other,
    }))
}

fn refuse<T>(message: impl Into<String>) -> Result<T, Failure> {
    Err(Failure::new(message))
}
