//! What a document is read into. JSON values are what nearly everybody wants; templates have values of their own, and
//! reading into them directly saves a copy of everything.

use serde_json::{Map, Value};

/// A value that can be made of scalars, lists and maps.
pub trait Build: Sized {
    type Map: Default;

    fn null() -> Self;
    fn bool(bool: bool) -> Self;
    fn int(int: i64) -> Self;
    /// Only what is too big for `int`.
    fn unsigned(int: u64) -> Self;
    /// Finite and not whole, or too big for `int`.
    fn float(float: f64) -> Self;
    fn text(text: &str) -> Self;
    fn list(items: Vec<Self>) -> Self;
    fn map(map: Self::Map) -> Self;
    /// Whether the key was there already; the last one counts.
    fn insert(map: &mut Self::Map, key: &str, value: Self) -> bool;
}

impl Build for Value {
    type Map = Map<String, Self>;

    fn null() -> Self {
        Self::Null
    }

    fn bool(bool: bool) -> Self {
        Self::Bool(bool)
    }

    fn int(int: i64) -> Self {
        Self::from(int)
    }

    fn unsigned(int: u64) -> Self {
        Self::from(int)
    }

    fn float(float: f64) -> Self {
        Self::from(float)
    }

    fn text(text: &str) -> Self {
        Self::from(text)
    }

    fn list(items: Vec<Self>) -> Self {
        Self::Array(items)
    }

    fn map(map: Self::Map) -> Self {
        Self::Object(map)
    }

    fn insert(map: &mut Self::Map, key: &str, value: Self) -> bool {
        map.insert(key.to_owned(), value).is_some()
    }
}
