//! Values out of YAML and into it without a detour over JSON: charts do little else.

use std::{collections::BTreeMap, rc::Rc};

use mizzen_text::yaml::{Build, Node, Print};

use super::{List, Map, Value, json};

/// Every number is a float, as it is when Go reads YAML by way of JSON.
impl Build for Value {
    type Map = BTreeMap<Rc<str>, Self>;

    fn null() -> Self {
        Self::Nil
    }

    fn bool(bool: bool) -> Self {
        Self::Bool(bool)
    }

    #[expect(clippy::cast_precision_loss, reason = "so does Go")]
    fn int(int: i64) -> Self {
        Self::Float(int as f64)
    }

    #[expect(clippy::cast_precision_loss, reason = "so does Go")]
    fn unsigned(int: u64) -> Self {
        Self::Float(int as f64)
    }

    fn float(float: f64) -> Self {
        Self::Float(float)
    }

    fn text(text: &str) -> Self {
        Self::Text(text.into())
    }

    fn list(items: Vec<Self>) -> Self {
        Self::List(List::new(items))
    }

    fn map(map: BTreeMap<Rc<str>, Self>) -> Self {
        Self::Map(map.into())
    }

    fn insert(map: &mut BTreeMap<Rc<str>, Self>, key: &str, value: Self) -> bool {
        map.insert(key.into(), value).is_some()
    }
}

impl Print for Value {
    fn node(&self) -> Node<'_, Self> {
        match self {
            Self::Nil => Node::Null,
            Self::Bool(bool) => Node::Bool(*bool),
            Self::Int(int) | Self::Int64(int) => Node::Int(*int),
            Self::Float(float) => json::whole(*float).map_or(Node::Float(*float), Node::Int),
            Self::Text(text) => Node::Text(text),
            Self::List(list) if list.is_nil() => Node::Null,
            Self::Map(map) if map.is_nil() => Node::Null,
            Self::List(list) => Node::List(list),
            Self::Map(_) | Self::Object(_) => Node::Map,
        }
    }

    fn entries<R>(&self, read: impl FnOnce(Vec<(&str, &Self)>) -> R) -> R {
        match self {
            Self::Map(map) => {
                map.lend(|entries| read(entries.iter().map(|(key, value)| (key.as_ref(), value)).collect()))
            }
            Self::Object(object) => match object.plain() {
                // An object's plain data is data, never another object.
                Self::Object(_) => read(Vec::new()),
                plain => plain.entries_of_map(read),
            },
            _ => read(Vec::new()),
        }
    }
}

impl Value {
    fn entries_of_map<R>(&self, read: impl FnOnce(Vec<(&str, &Self)>) -> R) -> R {
        let map = match self {
            Self::Map(map) => map.clone(),
            _ => Map::new(),
        };
        map.lend(|entries| read(entries.iter().map(|(key, value)| (key.as_ref(), value)).collect()))
    }
}
