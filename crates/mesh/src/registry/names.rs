//! Equal texts and equal labels once. Many objects say the same: namespaces, accounts, nodes, the labels of a
//! deployment's pods.

use crate::{Labels, NamedPort};
use std::{
    borrow::Borrow,
    collections::{BTreeMap, HashSet},
    hash::Hash,
    sync::Arc,
};

#[derive(Default)]
pub(super) struct Names {
    texts: Pool<str>,
    labels: Pool<Labels>,
    ports: Pool<[NamedPort]>,
}

/// What nobody else holds is dropped when the pool has doubled since the last time.
struct Pool<T: ?Sized> {
    values: HashSet<Arc<T>>,
    sweep_at: usize,
}

impl<T: ?Sized> Default for Pool<T> {
    fn default() -> Self {
        Self { values: HashSet::new(), sweep_at: 1024 }
    }
}

impl<T: ?Sized + Hash + Eq> Pool<T> {
    fn sweep(&mut self) {
        if self.values.len() >= self.sweep_at {
            self.values.retain(|value| Arc::strong_count(value) > 1);
            self.sweep_at = (self.values.len() * 2).max(1024);
        }
    }

    fn get<Q: ?Sized + Hash + Eq>(&mut self, value: &Q, make: impl FnOnce() -> Arc<T>) -> Arc<T>
    where
        Arc<T>: Borrow<Q>,
    {
        if let Some(known) = self.values.get(value) {
            return Arc::clone(known);
        }
        let made = make();
        self.values.insert(Arc::clone(&made));
        made
    }
}

impl Names {
    pub(super) fn text(&mut self, text: &str) -> Arc<str> {
        self.texts.get(text, || Arc::from(text))
    }

    pub(super) fn labels(&mut self, labels: Labels) -> Arc<Labels> {
        if let Some(known) = self.labels.values.get(&labels) {
            return Arc::clone(known);
        }
        let made = Arc::new(labels);
        self.labels.values.insert(Arc::clone(&made));
        made
    }

    pub(super) fn map(&mut self, map: &BTreeMap<String, String>) -> Arc<Labels> {
        let labels = map.iter().map(|(key, value)| (self.text(key), self.text(value))).collect();
        self.labels(labels)
    }

    pub(super) fn ports(&mut self, ports: &[NamedPort]) -> Arc<[NamedPort]> {
        self.ports.get(ports, || Arc::from(ports))
    }

    pub(super) fn sweep(&mut self) {
        self.labels.sweep();
        self.ports.sweep();
        self.texts.sweep();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_texts_and_labels_are_one_and_what_nobody_holds_goes() {
        let mut names = Names::default();
        let map = BTreeMap::from([("app".to_owned(), "a".to_owned())]);
        let (first, second) = (names.map(&map), names.map(&map));
        assert!(Arc::ptr_eq(&first, &second));
        for number in 0..2000 {
            names.text(&number.to_string());
        }
        names.sweep();
        assert_eq!(names.texts.values.len(), 2, "the label's key and value are held by the labels");
        assert!(Arc::ptr_eq(&first, &names.map(&map)));
    }
}
