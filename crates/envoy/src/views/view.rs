//! One answer, and for whom it holds.

use mizzen_mesh::{Attributes, Parts, Proxy, Reads};
use mizzen_xds::ResourceSet;
use std::sync::{
    Arc,
    atomic::{AtomicU32, Ordering},
};

/// A view that nobody asked for during so many generations is dropped. Streams may lag behind by some.
const IDLE: u32 = 64;

#[derive(Debug)]
pub(super) struct View {
    /// It holds for every proxy that answers these questions alike.
    pub(super) reads: Reads,
    /// It holds while these parts are the same.
    pub(super) seen: Parts,
    pub(super) set: Arc<ResourceSet>,
    /// The one that it was built for, to build it again for.
    pub(super) of: Arc<Proxy>,
    idle: AtomicU32,
}

impl View {
    pub(super) fn new(reads: Reads, seen: Parts, set: Arc<ResourceSet>, of: Arc<Proxy>) -> Self {
        Self { reads, seen, set, of, idle: AtomicU32::new(0) }
    }

    /// The set, if it holds for this proxy.
    pub(super) fn for_proxy(&self, proxy: &Attributes) -> Option<Arc<ResourceSet>> {
        proxy.agrees(&self.reads).then(|| {
            self.idle.store(0, Ordering::Relaxed);
            Arc::clone(&self.set)
        })
    }

    /// A generation older.
    pub(super) fn age(&self) -> u32 {
        self.idle.fetch_add(1, Ordering::Relaxed) + 1
    }

    pub(super) fn inherit(&self, old: &Self) {
        self.idle.store(old.idle.load(Ordering::Relaxed), Ordering::Relaxed);
    }

    pub(super) fn is_forgotten(&self) -> bool {
        self.age() > IDLE
    }
}
