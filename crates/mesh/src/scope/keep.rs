//! Parts by who sees them, kept over snapshots.

use std::{
    collections::HashMap,
    hash::Hash,
    sync::{Arc, Mutex, PoisonError},
};

/// How many snapshots something may go unasked for until it is forgotten: it holds old services alive.
const IDLE: u8 = 16;

/// Shared by all snapshots in which what these are made of is the same.
#[derive(Debug)]
pub(super) struct Kept<K, V>(Arc<Mutex<Tables<K, V>>>);

#[derive(Debug)]
struct Tables<K, V> {
    now: HashMap<K, Arc<V>>,
    /// Of an older snapshot. May be another by now, but what is still equal is used again.
    before: HashMap<K, (Arc<V>, u8)>,
}

impl<K, V> Default for Kept<K, V> {
    fn default() -> Self {
        Self::new(HashMap::new())
    }
}

impl<K, V> Kept<K, V> {
    fn new(before: HashMap<K, (Arc<V>, u8)>) -> Self {
        Self(Arc::new(Mutex::new(Tables { now: HashMap::new(), before })))
    }
}

impl<K: Hash + Eq + Clone, V> Kept<K, V> {
    /// `build` gets what there was before, and gives that back if it made the very same.
    pub(super) fn get(&self, key: &K, build: impl FnOnce(Option<&Arc<V>>) -> Arc<V>) -> Arc<V> {
        // Held while it is built: others would build the same.
        let mut tables = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(value) = tables.now.get(key) {
            return Arc::clone(value);
        }
        let value = build(tables.before.get(key).map(|(value, _)| value));
        tables.before.remove(key);
        tables.now.insert(key.clone(), Arc::clone(&value));
        value
    }

    /// For the next snapshot; `moved`: something that these are made of is another there.
    pub(super) fn next(&self, moved: bool) -> Self {
        if !moved {
            return Self(Arc::clone(&self.0));
        }
        let tables = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let older = tables.before.iter().filter(|(_, (_, idle))| *idle < IDLE);
        let mut before: HashMap<K, (Arc<V>, u8)> =
            older.map(|(key, (value, idle))| (key.clone(), (Arc::clone(value), idle + 1))).collect();
        before.extend(tables.now.iter().map(|(key, value)| (key.clone(), (Arc::clone(value), 0))));
        Self::new(before)
    }
}
