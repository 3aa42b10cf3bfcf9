//! A value while a template runs. Go's kinds as far as templates can tell them apart; maps are shared by reference.

mod json;
mod list;
mod map;
mod yaml;

use std::{fmt, rc::Rc};

pub use list::List;
pub(crate) use map::changes;
pub use map::{Elements, Map};

use crate::Failure;

#[derive(Clone, Debug, Default)]
pub enum Value {
    #[default]
    Nil,
    Bool(bool),
    /// Go's `int`: literals, `len`, `int`.
    Int(i64),
    /// Go's `int64`: what Sprig's arithmetic gives.
    Int64(i64),
    /// Every number that came out of YAML or JSON.
    Float(f64),
    Text(Rc<str>),
    List(List),
    Map(Map),
    Object(Rc<dyn Object>),
}

/// Something with fields and methods that is no map: `.Files`, `.Capabilities`, `.Chart`.
pub trait Object: fmt::Debug {
    /// Go's name of the type, for messages.
    fn type_name(&self) -> &str;
    /// A field, or a method's result; `None` where the type has no such field.
    fn field(&self, name: &str, args: &[Value]) -> Result<Option<Value>, Failure>;
    /// The same as plain data: for printing, `toYaml` and `range`.
    fn plain(&self) -> Value;
    /// How it is printed, where Go's type has a way of its own.
    fn printed(&self) -> Option<Value> {
        None
    }
    /// For functions that work on one kind of object only.
    fn as_any(&self) -> Option<&dyn std::any::Any> {
        None
    }
}

impl Value {
    pub fn text(text: impl Into<Rc<str>>) -> Self {
        Self::Text(text.into())
    }

    /// Go's idea of a true value: not empty, not zero, not nil.
    pub fn is_true(&self) -> bool {
        match self {
            Self::Nil => false,
            Self::Bool(bool) => *bool,
            Self::Int(int) | Self::Int64(int) => *int != 0,
            Self::Float(float) => *float != 0.0,
            Self::Text(text) => !text.is_empty(),
            Self::List(list) => !list.is_empty(),
            Self::Map(map) => !map.is_empty(),
            Self::Object(_) => true,
        }
    }

    /// Nobody can see it change but who holds this.
    pub(crate) fn is_alone(&self) -> bool {
        match self {
            Self::Map(map) => map.is_alone(),
            Self::List(list) => list.is_alone(),
            Self::Object(_) => false,
            Self::Nil | Self::Bool(_) | Self::Int(_) | Self::Int64(_) | Self::Float(_) | Self::Text(_) => {
                true
            }
        }
    }

    /// Go's name of the type, as `typeOf` and error messages print it.
    pub fn type_name(&self) -> String {
        match self {
            Self::Nil => "<nil>".into(),
            Self::Bool(_) => "bool".into(),
            Self::Int(_) => "int".into(),
            Self::Int64(_) => "int64".into(),
            Self::Float(_) => "float64".into(),
            Self::Text(_) => "string".into(),
            Self::List(list) => format!("[]{}", list.elements().type_name()),
            Self::Map(map) => format!("map[string]{}", map.elements().type_name()),
            Self::Object(object) => object.type_name().to_owned(),
        }
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::text(text)
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Self::text(text)
    }
}

impl From<bool> for Value {
    fn from(bool: bool) -> Self {
        Self::Bool(bool)
    }
}

impl From<Map> for Value {
    fn from(map: Map) -> Self {
        Self::Map(map)
    }
}

impl From<List> for Value {
    fn from(list: List) -> Self {
        Self::List(list)
    }
}
