//! One answer, for whom it holds, and who has it.

use mizzen_mesh::{Attributes, Parts, Reads, Subject};
use mizzen_xds::ResourceSet;
use std::sync::{
    Arc,
    atomic::{AtomicU32, AtomicUsize, Ordering},
};

/// A view that nobody has is kept for so many generations while it holds: proxies that were cut off come back.
const IDLE: u32 = 64;

#[derive(Debug)]
pub(super) struct View {
    /// It holds for every proxy that answers these questions alike.
    pub(super) reads: Reads,
    /// It holds while these parts are the same.
    pub(super) seen: Parts,
    pub(super) set: Arc<ResourceSet>,
    /// The one that it was built for, to build it again for.
    pub(super) of: Arc<Subject>,
    /// The same for the views that follow it in later generations.
    line: Arc<Line>,
}

/// A view through the generations.
#[derive(Debug, Default)]
struct Line {
    /// Clients that had it last.
    clients: AtomicUsize,
    /// Generations since there was one.
    idle: AtomicU32,
}

/// A client's place on a line of views, until it is dropped.
#[derive(Debug)]
pub(super) struct Seat(Arc<Line>);

impl Drop for Seat {
    fn drop(&mut self) {
        self.0.clients.fetch_sub(1, Ordering::Relaxed);
    }
}

impl View {
    pub(super) fn new(reads: Reads, seen: Parts, set: Arc<ResourceSet>, of: Arc<Subject>) -> Self {
        Self { reads, seen, set, of, line: Arc::default() }
    }

    pub(super) fn holds_for(&self, proxy: &Attributes) -> bool {
        proxy.agrees(&self.reads)
    }

    pub(super) fn sit(&self) -> Seat {
        self.line.clients.fetch_add(1, Ordering::Relaxed);
        Seat(Arc::clone(&self.line))
    }

    pub(super) fn seats(&self, seat: Option<&Seat>) -> bool {
        seat.is_some_and(|seat| Arc::ptr_eq(&seat.0, &self.line))
    }

    pub(super) fn is_used(&self) -> bool {
        self.line.clients.load(Ordering::Relaxed) > 0
    }

    /// A generation older. True if nobody has had it for long.
    pub(super) fn is_forgotten(&self) -> bool {
        if self.is_used() {
            self.line.idle.store(0, Ordering::Relaxed);
            return false;
        }
        self.line.idle.fetch_add(1, Ordering::Relaxed) > IDLE
    }

    /// In the place of an old one.
    pub(super) fn following(self, old: &Self) -> Self {
        Self { line: Arc::clone(&old.line), ..self }
    }
}
