//! What was built already, by its inputs.

use crate::{clusters, endpoints, listeners, routes};
use std::{
    collections::HashMap,
    hash::Hash,
    sync::{Mutex, PoisonError},
};

/// Values by the inputs that they were built from. A key holds its inputs alive ([`mizzen_mesh::ByPointer`]), so what
/// was not asked for since the last sweep is dropped.
#[derive(Debug)]
pub struct Table<K, V> {
    table: Mutex<HashMap<K, (V, bool)>>,
    /// How many were left by the last sweep.
    kept: Mutex<usize>,
}

/// A table of this size is not worth a sweep.
const SMALL: usize = 1_024;

impl<K, V> Default for Table<K, V> {
    fn default() -> Self {
        Self { table: Mutex::default(), kept: Mutex::default() }
    }
}

impl<K: Hash + Eq + Clone, V: Clone> Table<K, V> {
    /// `build` sees the key and nothing else; it must not use this table.
    pub fn get(&self, key: &K, build: impl FnOnce(&K) -> V) -> V {
        let mut table = self.table.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((value, used)) = table.get_mut(key) {
            *used = true;
            return value.clone();
        }
        drop(table);
        // Built outside of the lock: two may build the same at once, the first one stays.
        let value = build(key);
        let mut table = self.table.lock().unwrap_or_else(PoisonError::into_inner);
        table.entry(key.clone()).or_insert((value, true)).0.clone()
    }

    /// Drops what nobody asked for since the last time, once the table has grown to twice of what was left then: views
    /// that go on as they are ask for nothing, and what they are made of should be at hand when they do.
    pub fn sweep(&self) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let mut table = self.table.lock().unwrap_or_else(PoisonError::into_inner);
        if table.len() > 2 * *kept + SMALL {
            table.retain(|_, (_, used)| std::mem::take(used));
            *kept = table.len();
        }
    }

    pub fn len(&self) -> usize {
        self.table.lock().unwrap_or_else(PoisonError::into_inner).len()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// One table for each kind of building block.
#[derive(Debug, Default)]
pub struct Memo {
    pub clusters: clusters::Built,
    pub endpoints: endpoints::Built,
    pub listeners: listeners::Built,
    pub routes: routes::Built,
}

impl Memo {
    pub fn sweep(&self) {
        self.clusters.sweep();
        self.endpoints.sweep();
        self.listeners.sweep();
        self.routes.sweep();
    }
}
