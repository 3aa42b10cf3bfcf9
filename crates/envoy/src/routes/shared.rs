//! Values by the inputs that they were built from, kept as long as somebody has them.
//!
//! Unlike [`crate::memo::Table`], which drops what was not asked for: a route configuration that did not change is not taken apart
//! again, so nobody asks for its virtual hosts, and they must be there when the next one shares them.

use std::{
    collections::HashMap,
    hash::Hash,
    sync::{Arc, Mutex, PoisonError},
};

pub(super) struct Shared<K, V>(Mutex<HashMap<K, Arc<V>>>);

impl<K, V> Default for Shared<K, V> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<K: Hash + Eq + Clone, V> Shared<K, V> {
    /// `build` sees the key and nothing else.
    pub(super) fn get(&self, key: &K, build: impl FnOnce(&K) -> V) -> Arc<V> {
        if let Some(value) = self.lock().get(key) {
            return Arc::clone(value);
        }
        // Built outside of the lock: two may build the same at once, the first one stays.
        let value = Arc::new(build(key));
        Arc::clone(self.lock().entry(key.clone()).or_insert(value))
    }

    /// Drops what nobody has any more.
    pub(super) fn sweep(&self) {
        self.lock().retain(|_, value| Arc::strong_count(value) > 1);
    }

    pub(super) fn len(&self) -> usize {
        self.lock().len()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<K, Arc<V>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::Shared;

    #[test]
    fn a_value_stays_while_somebody_has_it() {
        let shared: Shared<u32, String> = Shared::default();
        let kept = shared.get(&1, |_| "one".into());
        drop(shared.get(&2, |_| "two".into()));
        shared.sweep();
        assert_eq!(shared.len(), 1);
        assert!(std::sync::Arc::ptr_eq(&kept, &shared.get(&1, |_| unreachable!())));
        drop(kept);
        shared.sweep();
        assert_eq!(shared.len(), 0);
    }
}
