//! What many views of one snapshot have in common, built once: the part of a proxy's clusters that does not depend on
//! its own workload, say.
//!
//! Kept like a view, with the answers that were given while it was built and the parts of the snapshot that were looked at.
//! Whoever uses it has asked and seen the same.

use crate::Context;
use mizzen_mesh::{Parts, Reads, Snapshot};
use std::sync::{
    Arc, Mutex, PoisonError,
    atomic::{AtomicU32, Ordering},
};

/// Something that nobody asked for during so many generations is dropped: it holds an old mesh alive.
const IDLE: u32 = 16;

#[derive(Debug)]
pub(crate) struct Common<T>(Mutex<Vec<Arc<Known<T>>>>);

#[derive(Debug)]
struct Known<T> {
    reads: Reads,
    seen: Parts,
    value: Arc<T>,
    idle: AtomicU32,
}

impl<T> Default for Common<T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<T> Common<T> {
    pub(crate) fn get(&self, context: &Context<'_>, build: impl FnOnce(&Context<'_>) -> T) -> Arc<T> {
        let (proxy, snapshot) = (context.proxy, context.snapshot);
        let known = self.list().iter().find(|known| proxy.agrees(&known.reads)).cloned();
        if let Some(known) = known {
            known.idle.store(0, Ordering::Relaxed);
            proxy.note_reads(known.reads.clone());
            snapshot.note_seen(known.seen);
            return Arc::clone(&known.value);
        }
        // Recorded apart from what was asked before. Two may build the same at once; either will do.
        let (before, seen_before) = (proxy.take_reads(), snapshot.take_seen());
        let value = Arc::new(build(context));
        let (reads, seen) = (proxy.take_reads(), snapshot.take_seen());
        proxy.note_reads(before.and(reads.clone()));
        snapshot.note_seen(seen_before.and(seen));
        let known = Known { reads, seen, value: Arc::clone(&value), idle: AtomicU32::new(0) };
        self.list().push(Arc::new(known));
        value
    }

    /// What still holds in the next snapshot.
    pub(crate) fn next(&self, last: &Snapshot, next: &Snapshot) -> Self {
        let mut known = self.list().clone();
        known.retain(|known| {
            next.agrees(last, known.seen) && known.idle.fetch_add(1, Ordering::Relaxed) < IDLE
        });
        Self(Mutex::new(known))
    }

    fn list(&self) -> std::sync::MutexGuard<'_, Vec<Arc<Known<T>>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// All that is shared within a snapshot.
#[derive(Debug, Default)]
pub struct Shared {
    pub(crate) clusters: Common<mizzen_xds::ResourceSet>,
    pub(crate) listeners: Common<crate::listeners::Outbound>,
}

impl Shared {
    pub fn next(&self, last: &Snapshot, next: &Snapshot) -> Self {
        Self { clusters: self.clusters.next(last, next), listeners: self.listeners.next(last, next) }
    }
}
