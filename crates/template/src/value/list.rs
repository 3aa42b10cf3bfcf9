//! A list. Nothing changes one in place, so it is shared; the maps in it are shared by reference all the same.

use std::{fmt, ops::Deref, rc::Rc};

use super::{Elements, Value, map};

#[derive(Clone)]
pub struct List(Rc<Items>);

struct Items {
    items: Vec<Value>,
    elements: Elements,
    /// Go's nil slice: an empty list that JSON has as `null`.
    nil: bool,
}

impl List {
    /// `[]interface {}`
    pub fn new(items: Vec<Value>) -> Self {
        Self::of(Elements::Any, items)
    }

    /// `[]string`
    pub fn texts(items: impl IntoIterator<Item = impl Into<Rc<str>>>) -> Self {
        Self::of(Elements::Text, items.into_iter().map(Value::text).collect())
    }

    /// A list whose type says what is in it; the items are of that type.
    pub fn of(elements: Elements, items: Vec<Value>) -> Self {
        Self(Rc::new(Items { items, elements, nil: false }))
    }

    /// Go's nil slice.
    pub fn nil(elements: Elements) -> Self {
        Self(Rc::new(Items { items: Vec::new(), elements, nil: true }))
    }

    pub fn is_nil(&self) -> bool {
        self.0.nil
    }

    /// A part of it, of the same type. The bounds are the caller's to check.
    pub(crate) fn slice(&self, from: usize, to: usize) -> Self {
        let items = self.get(from..to).unwrap_or_default().to_vec();
        Self::of(self.elements(), items)
    }

    /// Nobody else holds this list, nor any map or list in it.
    pub(crate) fn is_alone(&self) -> bool {
        Rc::strong_count(&self.0) == 1 && self.iter().all(Value::is_alone)
    }

    pub fn elements(&self) -> Elements {
        self.0.elements
    }
}

impl Deref for List {
    type Target = [Value];

    fn deref(&self) -> &[Value] {
        &self.0.items
    }
}

impl fmt::Debug for List {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "List({} items)", self.len())
    }
}

impl Drop for Items {
    fn drop(&mut self) {
        map::shallow(std::mem::take(&mut self.items), map::take_apart);
    }
}

impl List {
    /// The items, if nobody else has the list.
    pub(super) fn into_items(self) -> Vec<Value> {
        Rc::try_unwrap(self.0).map(|mut items| std::mem::take(&mut items.items)).unwrap_or_default()
    }
}
