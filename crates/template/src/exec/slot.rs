//! A value as the executor has it. A template can tell three nothings apart: no value at all (quiet: its fields are
//! nothing, too), a nil in a map or list (its fields are an error), and values that are merely empty.

use crate::Value;

#[derive(Clone, Debug, Default)]
pub(crate) enum Slot {
    /// No value: printed as `<no value>`.
    #[default]
    Nothing,
    /// A nil of the type `interface {}`.
    Nil,
    /// By its own type; never nil.
    Plain(Value),
    /// Out of a map or list of anything, so that its type is `interface {}`; never nil.
    Boxed(Value),
}

impl Slot {
    /// What a map or list of anything holds.
    pub(crate) fn boxed(value: Value) -> Self {
        match value {
            Value::Nil => Self::Nil,
            value => Self::Boxed(value),
        }
    }

    /// What a function returned.
    pub(crate) fn result(value: Value) -> Self {
        match value {
            Value::Nil => Self::Nil,
            value => Self::Plain(value),
        }
    }

    pub(crate) fn plain(value: Value) -> Self {
        match value {
            Value::Nil => Self::Nothing,
            value => Self::Plain(value),
        }
    }

    /// As it comes out of a pipeline, where types are forgotten.
    pub(crate) fn unboxed(self) -> Self {
        match self {
            Self::Nothing | Self::Nil => Self::Nothing,
            Self::Plain(value) | Self::Boxed(value) => Self::Plain(value),
        }
    }

    pub(crate) fn value(&self) -> Option<&Value> {
        match self {
            Self::Nothing | Self::Nil => None,
            Self::Plain(value) | Self::Boxed(value) => Some(value),
        }
    }

    pub(crate) fn into_value(self) -> Value {
        match self {
            Self::Nothing | Self::Nil => Value::Nil,
            Self::Plain(value) | Self::Boxed(value) => value,
        }
    }

    pub(crate) fn is_true(&self) -> bool {
        self.value().is_some_and(Value::is_true)
    }

    pub(crate) fn type_name(&self) -> String {
        match self {
            Self::Nothing => "<nil>".into(),
            Self::Nil | Self::Boxed(_) => "interface {}".into(),
            Self::Plain(value) => value.type_name(),
        }
    }
}
