//! Arguments as Go's reflection hands them to a function: what Sprig's signatures say, one reader for each kind.

use std::rc::Rc;

use crate::{Call, Elements, Failure, List, Map, Value};

pub(crate) trait Arguments {
    /// For a `map[string]interface {}`: nothing is a nil map, which can be read.
    fn dict(&self, index: usize) -> Result<Map, Failure>;
    /// For a `map[string]string`.
    fn string_map(&self, index: usize) -> Result<Map, Failure>;
    /// All from there on, each a string.
    fn texts_from(&self, index: usize) -> Result<Vec<Rc<str>>, Failure>;
    /// All from there on, each a map.
    fn dicts_from(&self, index: usize) -> Result<Vec<Map>, Failure>;
    /// For an `interface {}` that has to be a list; `action` is told where it is none.
    fn items(&self, index: usize, action: &str) -> Result<List, Failure>;
    /// For a `float64`; a whole literal is one.
    fn float(&self, index: usize) -> Result<f64, Failure>;
}

impl Arguments for Call<'_> {
    fn dict(&self, index: usize) -> Result<Map, Failure> {
        match self.any(index) {
            Value::Nil if self.is_typed_nil(index) => Err(typed_nil("map[string]interface {}")),
            Value::Nil => Ok(Map::nil(Elements::Any)),
            Value::Map(map) if map.elements() == Elements::Any => Ok(map),
            other => Err(wrong("map[string]interface {}", &other)),
        }
    }

    fn string_map(&self, index: usize) -> Result<Map, Failure> {
        match self.any(index) {
            Value::Nil if self.is_typed_nil(index) => Err(typed_nil("map[string]string")),
            Value::Nil => Ok(Map::nil(Elements::Text)),
            Value::Map(map) if map.elements() == Elements::Text => Ok(map),
            other => Err(wrong("map[string]string", &other)),
        }
    }

    fn texts_from(&self, index: usize) -> Result<Vec<Rc<str>>, Failure> {
        (index..self.args.len()).map(|index| self.text(index)).collect()
    }

    fn dicts_from(&self, index: usize) -> Result<Vec<Map>, Failure> {
        (index..self.args.len()).map(|index| self.dict(index)).collect()
    }

    fn items(&self, index: usize, action: &str) -> Result<List, Failure> {
        let value = self.any(index);
        if let Some(list) = as_list(&value) {
            return Ok(list);
        }
        Err(Failure::new(match value {
            Value::Nil => format!("cannot {action} nothing: a list is needed"),
            other => format!("cannot {action} type {}", kind(&other)),
        }))
    }

    fn float(&self, index: usize) -> Result<f64, Failure> {
        match self.any(index) {
            Value::Float(float) => Ok(float),
            #[expect(clippy::cast_precision_loss, reason = "as Go converts a literal")]
            Value::Int(int) => Ok(int as f64),
            other => Err(wrong("float64", &other)),
        }
    }
}

fn typed_nil(expected: &str) -> Failure {
    Failure::new(format!("wrong type for value; expected {expected}; got interface {{}}"))
}

pub(crate) fn wrong(expected: &str, got: &Value) -> Failure {
    Failure::new(match got {
        Value::Nil => format!("invalid value; expected {expected}"),
        other => format!("wrong type for value; expected {expected}; got {}", other.type_name()),
    })
}

/// The list that a value is, also in the shape of an object.
pub(crate) fn as_list(value: &Value) -> Option<List> {
    match value {
        Value::List(list) => Some(list.clone()),
        Value::Object(object) if object.type_name().starts_with("[]") => match object.plain() {
            Value::List(list) => Some(list),
            _ => None,
        },
        _ => None,
    }
}

/// Go's name of a value's kind.
pub(crate) fn kind(value: &Value) -> &'static str {
    match value {
        Value::Nil => "invalid",
        Value::Bool(_) => "bool",
        Value::Int(_) => "int",
        Value::Int64(_) => "int64",
        Value::Float(_) => "float64",
        Value::Text(_) => "string",
        Value::List(_) => "slice",
        Value::Map(_) => "map",
        Value::Object(object) => match object.type_name() {
            name if name.starts_with('*') => "ptr",
            name if name.starts_with("[]") => "slice",
            name if name.starts_with("map[") => "map",
            _ => match object.plain() {
                Value::List(_) => "slice",
                _ => "struct",
            },
        },
    }
}
