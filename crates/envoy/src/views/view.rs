//! One answer, for whom it holds, and who has it.

use mizzen_mesh::{Attributes, Facts, Parts, Reads, Subject};
use mizzen_xds::ResourceSet;
use std::{
    ptr,
    sync::{
        Arc, Weak,
        atomic::{AtomicUsize, Ordering},
    },
};

#[derive(Debug)]
pub(super) struct View {
    /// It holds for every proxy that answers these questions alike.
    pub(super) reads: Reads,
    /// It holds while these parts are the same.
    pub(super) seen: Parts,
    pub(super) set: Arc<ResourceSet>,
    /// The one that it was built for, to build it again for.
    pub(super) of: Arc<Subject>,
    /// What was known of that one.
    facts: Arc<Facts>,
    /// The same for the views that follow it in later generations.
    line: Arc<Line>,
}

/// A view through the generations.
#[derive(Debug, Default)]
struct Line {
    /// Clients that had it last.
    clients: AtomicUsize,
}

/// A client's place on a line of views, until it is dropped.
#[derive(Debug)]
pub(super) struct Seat {
    line: Arc<Line>,
    /// With what was known of it then, this view held for it.
    held: (Weak<View>, Arc<Facts>),
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.line.clients.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Seat {
    pub(super) fn is_on(&self, view: &View) -> bool {
        Arc::ptr_eq(&self.line, &view.line)
    }

    /// Whether it is known already that this view holds.
    pub(super) fn has(&self, view: &Arc<View>, proxy: &Attributes) -> bool {
        let (held, facts) = &self.held;
        ptr::eq(held.as_ptr(), Arc::as_ptr(view)) && Arc::ptr_eq(facts, proxy.facts())
    }

    pub(super) fn hold(&mut self, view: &Arc<View>, proxy: &Attributes) {
        self.held = (Arc::downgrade(view), Arc::clone(proxy.facts()));
    }
}

impl View {
    pub(super) fn new(proxy: &Attributes, seen: Parts, set: Arc<ResourceSet>, of: Arc<Subject>) -> Self {
        let facts = Arc::clone(proxy.facts());
        Self { reads: proxy.take_reads(), seen, set, of, facts, line: Arc::default() }
    }

    pub(super) fn holds_for(&self, proxy: &Attributes) -> bool {
        Arc::ptr_eq(&self.facts, proxy.facts()) || proxy.agrees(&self.reads)
    }

    pub(super) fn sit(self: &Arc<Self>, proxy: &Attributes) -> Seat {
        self.line.clients.fetch_add(1, Ordering::Relaxed);
        let held = (Arc::downgrade(self), Arc::clone(proxy.facts()));
        Seat { line: Arc::clone(&self.line), held }
    }

    pub(super) fn is_used(&self) -> bool {
        self.line.clients.load(Ordering::Relaxed) > 0
    }

    /// In the place of an old one.
    pub(super) fn following(self, old: &Self) -> Self {
        Self { line: Arc::clone(&old.line), ..self }
    }
}
