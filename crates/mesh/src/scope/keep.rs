//! Parts by who sees them, kept over snapshots.

use std::{collections::HashMap, hash::Hash, sync::Arc};

/// How many snapshots something may go unasked for until it is forgotten: it holds old services alive.
const IDLE: u8 = 16;

#[derive(Debug)]
pub(super) struct Kept<K, V> {
    now: HashMap<K, Arc<V>>,
    /// Of an older snapshot. May be another by now, but what is still equal is used again.
    before: HashMap<K, (Arc<V>, u8)>,
}

impl<K, V> Default for Kept<K, V> {
    fn default() -> Self {
        Self { now: HashMap::new(), before: HashMap::new() }
    }
}

impl<K: Hash + Eq + Clone, V> Kept<K, V> {
    /// `build` gets what there was before, and tells whether it made the very same.
    pub(super) fn get(&mut self, key: &K, build: impl FnOnce(Option<&Arc<V>>) -> Arc<V>) -> Arc<V> {
        if let Some(value) = self.now.get(key) {
            return Arc::clone(value);
        }
        let value = build(self.before.get(key).map(|(value, _)| value));
        self.before.remove(key);
        self.now.insert(key.clone(), Arc::clone(&value));
        value
    }

    /// For the next snapshot; `moved`: something that these are made of is another there.
    pub(super) fn next(&self, moved: bool) -> Self {
        if !moved {
            return Self { now: self.now.clone(), before: self.before.clone() };
        }
        let older = self.before.iter().filter(|(_, (_, idle))| *idle < IDLE);
        let mut before: HashMap<K, (Arc<V>, u8)> =
            older.map(|(key, (value, idle))| (key.clone(), (Arc::clone(value), idle + 1))).collect();
        before.extend(self.now.iter().map(|(key, value)| (key.clone(), (Arc::clone(value), 0))));
        Self { now: HashMap::new(), before }
    }
}
