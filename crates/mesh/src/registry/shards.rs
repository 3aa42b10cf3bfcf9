//! A map that is cheap to copy and change: only the part with the changed key is copied.

use std::{
    collections::HashMap,
    hash::{BuildHasher, BuildHasherDefault, DefaultHasher, Hash},
    sync::Arc,
};

const SHARDS: usize = 128;

#[derive(Clone, Debug, PartialEq)]
pub struct Shards<K: Hash + Eq, V>(Vec<Arc<HashMap<K, V>>>);

impl<K: Hash + Eq, V> Default for Shards<K, V> {
    fn default() -> Self {
        Self(vec![Arc::default(); SHARDS])
    }
}

impl<K: Hash + Eq + Clone, V: Clone> Shards<K, V> {
    pub fn get(&self, key: &K) -> Option<&V> {
        self.0[Self::index(key)].get(key)
    }

    /// In no order.
    pub fn iter(&self) -> impl Iterator<Item = (&K, &V)> {
        self.0.iter().flat_map(|shard| shard.iter())
    }

    pub fn len(&self) -> usize {
        self.0.iter().map(|shard| shard.len()).sum()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The keys whose value is not `same` in both, or that only one has. Costs as much as there are changes.
    pub fn changed<'a>(&'a self, other: &'a Self, same: impl Fn(&V, &V) -> bool) -> Vec<&'a K> {
        let mut changed = Vec::new();
        for (mine, theirs) in self.0.iter().zip(&other.0).filter(|(mine, theirs)| !Arc::ptr_eq(mine, theirs))
        {
            let other = |(key, value): &(&K, &V)| theirs.get(*key).is_none_or(|known| !same(value, known));
            changed.extend(mine.iter().filter(other).map(|(key, _)| key));
            changed.extend(theirs.keys().filter(|key| !mine.contains_key(*key)));
        }
        changed
    }

    pub(super) fn set(&mut self, key: K, value: V) {
        Arc::make_mut(&mut self.0[Self::index(&key)]).insert(key, value);
    }

    pub(super) fn remove(&mut self, key: &K) {
        let shard = &mut self.0[Self::index(key)];
        if shard.contains_key(key) {
            Arc::make_mut(shard).remove(key);
        }
    }

    /// The same for equal keys, always: two maps with the same content are equal shard by shard.
    fn index(key: &K) -> usize {
        let hash = BuildHasherDefault::<DefaultHasher>::default().hash_one(key);
        // The remainder is below the number of shards.
        usize::try_from(hash % SHARDS as u64).unwrap_or_default()
    }
}

impl<K: Hash + Eq + Clone, V: Clone> Shards<K, Vec<V>> {
    pub(super) fn change(&mut self, key: &K, change: impl FnOnce(&mut Vec<V>)) {
        let mut values = self.get(key).cloned().unwrap_or_default();
        change(&mut values);
        if values.is_empty() {
            self.remove(key);
        } else {
            self.set(key.clone(), values);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_shares_what_did_not_change() {
        let mut map: Shards<u32, Vec<u32>> = Shards::default();
        for key in 0..1000 {
            map.set(key, vec![key]);
        }
        let before = map.clone();
        map.change(&7, |values| values.push(8));
        map.change(&9, Vec::clear);
        assert_eq!((map.get(&7), before.get(&7)), (Some(&vec![7, 8]), Some(&vec![7])));
        assert_eq!((map.get(&9), before.get(&9)), (None, Some(&vec![9])));
        let moved = map.0.iter().zip(&before.0).filter(|(new, old)| !Arc::ptr_eq(new, old)).count();
        assert!((1..=2).contains(&moved), "{moved}");
        let mut changed = map.changed(&before, |new, old| new == old);
        changed.sort();
        assert_eq!(changed, [&7, &9]);
        assert_eq!((map.len(), map.iter().count(), before.len()), (999, 999, 1000));
    }
}
