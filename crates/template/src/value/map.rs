//! A map, shared by reference: who sets a key sets it for everybody who holds the map.

use std::{
    cell::{Cell, RefCell},
    collections::BTreeMap,
    fmt,
    rc::Rc,
};

use super::Value;

/// What a map or list holds by its type. A key that a `map[string]string` does not have is an empty string, one that a
/// `map[string]interface {}` does not have is nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Elements {
    Any,
    Text,
    /// Of `until`.
    Int,
    /// Of `chunk`.
    Lists,
}

impl Elements {
    pub fn type_name(self) -> &'static str {
        match self {
            Self::Any => "interface {}",
            Self::Text => "string",
            Self::Int => "int",
            Self::Lists => "[]interface {}",
        }
    }
}

thread_local! {
    static CHANGES: Cell<u64> = const { Cell::new(0) };
}

/// How often any map of this thread was changed. As long as it stays the same, so do all maps.
pub(crate) fn changes() -> u64 {
    CHANGES.get()
}

fn changed() {
    CHANGES.set(CHANGES.get().wrapping_add(1));
}

#[derive(Clone)]
pub struct Map(Rc<Entries>);

struct Entries {
    entries: RefCell<BTreeMap<Rc<str>, Value>>,
    elements: Elements,
    /// Go's nil map: an empty one that JSON has as `null`. Functions refuse to write to it.
    nil: bool,
}

impl Map {
    /// `map[string]interface {}`
    pub fn new() -> Self {
        Self::of(Elements::Any, BTreeMap::new())
    }

    /// `map[string]string`
    pub fn texts() -> Self {
        Self::of(Elements::Text, BTreeMap::new())
    }

    /// Go's nil map.
    pub fn nil(elements: Elements) -> Self {
        Self(Rc::new(Entries { entries: RefCell::default(), elements, nil: true }))
    }

    pub fn is_nil(&self) -> bool {
        self.0.nil
    }

    fn of(elements: Elements, entries: BTreeMap<Rc<str>, Value>) -> Self {
        Self(Rc::new(Entries { entries: RefCell::new(entries), elements, nil: false }))
    }

    pub fn elements(&self) -> Elements {
        self.0.elements
    }

    pub fn get(&self, key: &str) -> Option<Value> {
        self.0.entries.borrow().get(key).cloned()
    }

    pub fn contains_key(&self, key: &str) -> bool {
        self.0.entries.borrow().contains_key(key)
    }

    /// For everybody who holds the map.
    pub fn insert(&self, key: impl Into<Rc<str>>, value: impl Into<Value>) {
        changed();
        let old = self.0.entries.borrow_mut().insert(key.into(), value.into());
        drop(old);
    }

    pub fn remove(&self, key: &str) -> Option<Value> {
        changed();
        self.0.entries.borrow_mut().remove(key)
    }

    pub fn len(&self) -> usize {
        self.0.entries.borrow().len()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Sorted, as `range` has them.
    pub fn keys(&self) -> Vec<Rc<str>> {
        self.0.entries.borrow().keys().cloned().collect()
    }

    /// A copy of the entries, sorted by key: whoever walks them may change the map.
    pub fn entries(&self) -> Vec<(Rc<str>, Value)> {
        self.0.entries.borrow().iter().map(|(key, value)| (Rc::clone(key), value.clone())).collect()
    }

    /// The entries themselves, without a copy; meanwhile nobody may change the map.
    pub(crate) fn lend<R>(&self, read: impl FnOnce(&BTreeMap<Rc<str>, Value>) -> R) -> R {
        read(&self.0.entries.borrow())
    }

    /// Nobody else holds this map, nor any map or list in it.
    pub(crate) fn is_alone(&self) -> bool {
        Rc::strong_count(&self.0) == 1 && self.lend(|entries| entries.values().all(Value::is_alone))
    }

    /// Whether both are the very same map.
    pub fn is(&self, other: &Self) -> bool {
        Rc::ptr_eq(&self.0, &other.0)
    }
}

impl Default for Map {
    fn default() -> Self {
        Self::new()
    }
}

impl From<BTreeMap<Rc<str>, Value>> for Map {
    fn from(entries: BTreeMap<Rc<str>, Value>) -> Self {
        Self::of(Elements::Any, entries)
    }
}

impl<K: Into<Rc<str>>> FromIterator<(K, Value)> for Map {
    fn from_iter<I: IntoIterator<Item = (K, Value)>>(entries: I) -> Self {
        Self::of(Elements::Any, entries.into_iter().map(|(key, value)| (key.into(), value)).collect())
    }
}

impl fmt::Debug for Map {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Not the values: a map may hold itself.
        f.debug_set().entries(self.keys()).finish()
    }
}

impl Drop for Entries {
    fn drop(&mut self) {
        let entries = std::mem::take(self.entries.get_mut());
        shallow(entries, |entries| take_apart(entries.into_values().collect()));
    }
}

/// How deep values nest that are dropped by recursion, which is quicker than taking them apart.
const SHALLOW: u32 = 64;

/// Drops by recursion near the top, and by `apart` below.
pub(super) fn shallow<T>(values: T, apart: impl FnOnce(T)) {
    thread_local! {
        static DEPTH: Cell<u32> = const { Cell::new(0) };
    }
    let depth = DEPTH.get();
    if depth < SHALLOW {
        DEPTH.set(depth + 1);
        drop(values);
        DEPTH.set(depth);
    } else {
        apart(values);
    }
}

/// Drops values without recursion: a template can nest them deeper than any stack.
pub(super) fn take_apart(mut values: Vec<Value>) {
    while let Some(value) = values.pop() {
        match value {
            Value::Map(map) => {
                if let Some(entries) = Rc::into_inner(map.0) {
                    let mut entries = entries;
                    values.extend(std::mem::take(entries.entries.get_mut()).into_values());
                }
            }
            Value::List(list) => values.extend(list.into_items()),
            _ => {}
        }
    }
}
