//! Free-form JSON as the API carries it, in a shape that is easy to ask.

use mizzen_api::proto::{Struct, Value, ValueKind};

/// The same value by reference.
#[derive(Clone, Copy)]
pub(super) enum Json<'a> {
    Null,
    Bool,
    Number(f64),
    Text(&'a str),
    List(&'a [Value]),
    Object(&'a Struct),
}

impl<'a> From<&'a Value> for Json<'a> {
    fn from(value: &'a Value) -> Self {
        match &value.kind {
            None | Some(ValueKind::NullValue(_)) => Self::Null,
            Some(ValueKind::BoolValue(_)) => Self::Bool,
            Some(ValueKind::NumberValue(number)) => Self::Number(*number),
            Some(ValueKind::StringValue(text)) => Self::Text(text),
            Some(ValueKind::ListValue(list)) => Self::List(&list.values),
            Some(ValueKind::StructValue(object)) => Self::Object(object),
        }
    }
}

impl Json<'_> {
    pub(super) fn is_null(self) -> bool {
        matches!(self, Self::Null)
    }

    /// What it is, for people.
    pub(super) fn noun(self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool => "a boolean",
            Self::Number(_) => "a number",
            Self::Text(_) => "a text",
            Self::List(_) => "a list",
            Self::Object(_) => "an object",
        }
    }
}

/// An object's fields in the order of their names: they are kept without one, and what is found shall not depend on
/// chance.
pub(super) fn entries(object: &Struct) -> Vec<(&str, Json<'_>)> {
    let mut entries: Vec<_> =
        object.fields.iter().map(|(name, value)| (name.as_str(), Json::from(value))).collect();
    entries.sort_unstable_by_key(|(name, _)| *name);
    entries
}
