//! One answer, and for whom it holds.

use mizzen_mesh::{Attributes, Parts, Proxy, Reads};
use mizzen_xds::ResourceSet;
use std::sync::{
    Arc,
    atomic::{AtomicU32, AtomicU64, Ordering},
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
    /// The same for the views that follow it in later generations.
    pub(super) line: u64,
    idle: AtomicU32,
}

/// Lines of views; 0 is none.
static LINES: AtomicU64 = AtomicU64::new(1);

impl View {
    pub(super) fn new(reads: Reads, seen: Parts, set: Arc<ResourceSet>, of: Arc<Proxy>) -> Self {
        let line = LINES.fetch_add(1, Ordering::Relaxed);
        Self { reads, seen, set, of, line, idle: AtomicU32::new(0) }
    }

    pub(super) fn holds_for(&self, proxy: &Attributes) -> bool {
        let holds = proxy.agrees(&self.reads);
        if holds {
            self.idle.store(0, Ordering::Relaxed);
        }
        holds
    }

    /// A generation older.
    pub(super) fn age(&self) -> u32 {
        self.idle.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// In the place of an old one.
    pub(super) fn following(self, old: &Self) -> Self {
        Self { line: old.line, idle: AtomicU32::new(old.idle.load(Ordering::Relaxed)), ..self }
    }

    pub(super) fn is_forgotten(&self) -> bool {
        self.age() > IDLE
    }
}
