//! One snapshot and the views of it.

use super::{
    build::Slot,
    view::{Seat, View},
};
use crate::{Memo, Options, Shared};
use mizzen_mesh::{Proxy, Snapshot, Subject};
use mizzen_xds::{ResourceSet, Subscription, Type};
use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Instant,
};

/// What outlives generations.
#[derive(Debug, Default)]
pub struct Factory {
    pub options: Options,
    pub memo: Memo,
}

pub struct Generation {
    pub(super) factory: Arc<Factory>,
    pub(super) snapshot: Arc<Snapshot>,
    pub(super) shared: Shared,
    version: String,
    made: Instant,
    views: Mutex<Views>,
}

#[derive(Default)]
struct Views {
    by_slot: HashMap<Slot, Vec<Arc<View>>>,
    /// How many were built since the last time that those which nobody has were dropped.
    built: usize,
}

/// So many may be built in between.
const UNTIDY: usize = 16;
/// So many that nobody has are kept: proxies that were cut off come back.
const SPARE: usize = 128;

impl Views {
    /// One that is for some names is worth nothing without who asked for them.
    fn tidy(&mut self) {
        let mut spare = SPARE;
        self.built = 0;
        self.by_slot.retain(|slot, views| {
            views.retain(|view| {
                if view.is_used() {
                    return true;
                }
                let kept = slot.subscription.is_wildcard() && spare > 0;
                spare -= usize::from(kept);
                kept
            });
            !views.is_empty()
        });
    }
}

impl Generation {
    /// `made` is when the change that it shows was seen.
    pub fn first(factory: Arc<Factory>, snapshot: Arc<Snapshot>, made: Instant) -> Self {
        let version = snapshot.number.to_string();
        Self { factory, version, snapshot, shared: Shared::default(), made, views: Mutex::default() }
    }

    /// The one after this, with every view that is in use: as it was where nothing changed, and built again where
    /// something did.
    pub fn next(&self, snapshot: Arc<Snapshot>, made: Instant) -> Self {
        let mut next = Self::first(Arc::clone(&self.factory), snapshot, made);
        next.shared = self.shared.next(&self.snapshot, &next.snapshot);
        let mut views = Views::default();
        for (slot, old) in &lock(&self.views).by_slot {
            let mut kept: Vec<Arc<View>> = Vec::with_capacity(old.len());
            for view in old {
                kept.extend(next.follow(slot, &self.snapshot, view, &kept));
            }
            if !kept.is_empty() {
                views.by_slot.insert(slot.clone(), kept);
            }
        }
        views.tidy();
        *lock(&next.views) = views;
        next.factory.memo.sweep();
        next
    }

    /// The view that takes the place of an old one, if none of the others does and somebody wants it.
    fn follow(
        &self,
        slot: &Slot,
        last: &Snapshot,
        old: &Arc<View>,
        others: &[Arc<View>],
    ) -> Option<Arc<View>> {
        let attributes = old.of.attributes(&self.snapshot);
        if self.snapshot.agrees(last, old.seen) && old.holds_for(&attributes) {
            return Some(Arc::clone(old));
        }
        if !old.is_used() {
            return None;
        }
        let view = match slot.patch(self, last, old) {
            Some(view) => view,
            None => {
                if others.iter().any(|other| other.holds_for(&attributes)) {
                    return None;
                }
                slot.build(self, &old.of)
            }
        };
        Some(Arc::new(view.following(old)))
    }

    pub fn snapshot(&self) -> &Arc<Snapshot> {
        &self.snapshot
    }

    pub fn number(&self) -> u64 {
        self.snapshot.number
    }

    pub fn version(&self) -> &str {
        &self.version
    }

    pub fn made(&self) -> Instant {
        self.made
    }

    /// How many views there are, over all types.
    pub fn views(&self) -> usize {
        lock(&self.views).by_slot.values().map(Vec::len).sum()
    }

    /// What the proxy is to have, if some proxy like it has asked before.
    pub fn ready(
        &self,
        client: &Client,
        kind: &Type,
        subscription: &Subscription,
    ) -> Option<Arc<ResourceSet>> {
        let slot = Slot { kind: kind.clone(), subscription: subscription.clone() };
        let known: Vec<Arc<View>> = lock(&self.views).by_slot.get(&slot)?.clone();
        self.among(&known, client, kind)
    }

    /// The one that it had last, or one that follows it, is the likeliest; only a proxy that has changed, or is new,
    /// looks at all.
    fn among(&self, known: &[Arc<View>], client: &Client, kind: &Type) -> Option<Arc<ResourceSet>> {
        let attributes = client.subject.attributes(&self.snapshot);
        let mut seat = client.seat(kind);
        let likeliest = known.iter().find(|view| seat.as_ref().is_some_and(|seat| seat.is_on(view)));
        if let (Some(view), Some(seat)) = (likeliest, &*seat)
            && seat.has(view, &attributes)
        {
            return Some(Arc::clone(&view.set));
        }
        let view = likeliest.into_iter().chain(known).find(|view| view.holds_for(&attributes))?;
        match &mut *seat {
            Some(seat) if seat.is_on(view) => seat.hold(view, &attributes),
            seat => *seat = Some(view.sit(&attributes)),
        }
        Some(Arc::clone(&view.set))
    }

    pub fn build(&self, client: &Client, kind: &Type, subscription: &Subscription) -> Arc<ResourceSet> {
        if let Some(set) = self.ready(client, kind, subscription) {
            return set;
        }
        let slot = Slot { kind: kind.clone(), subscription: subscription.clone() };
        let view = Arc::new(slot.build(self, &client.subject));
        let mut views = lock(&self.views);
        let known = views.by_slot.entry(slot).or_default();
        // Somebody else may have built the same meanwhile: what is shared should be one.
        if let Some(set) = self.among(known, client, kind) {
            return set;
        }
        *client.seat(kind) = Some(view.sit(&client.subject.attributes(&self.snapshot)));
        let set = Arc::clone(&view.set);
        known.push(view);
        views.built += 1;
        if views.built >= UNTIDY {
            views.tidy();
        }
        set
    }

    /// The same for this proxy alone, with nothing that was built before: what sharing must not change.
    pub fn alone(&self, proxy: &Arc<Proxy>, kind: &Type, subscription: &Subscription) -> Arc<ResourceSet> {
        let factory = Factory { options: self.factory.options.clone(), memo: Memo::default() };
        let alone = Self::first(Arc::new(factory), Arc::clone(&self.snapshot), self.made);
        let slot = Slot { kind: kind.clone(), subscription: subscription.clone() };
        Arc::clone(&slot.build(&alone, &Arc::new(Subject::new(Arc::clone(proxy)))).set)
    }
}

/// A connected proxy.
#[derive(Debug)]
pub struct Client {
    subject: Arc<Subject>,
    /// Where it had its clusters, endpoints, listeners and routes from last.
    seats: [Mutex<Option<Seat>>; 4],
}

impl Client {
    pub fn new(proxy: Arc<Proxy>) -> Self {
        Self { subject: Arc::new(Subject::new(proxy)), seats: Default::default() }
    }

    pub fn proxy(&self) -> &Arc<Proxy> {
        self.subject.proxy()
    }

    fn seat(&self, kind: &Type) -> MutexGuard<'_, Option<Seat>> {
        lock(
            &self.seats[match kind {
                Type::Cluster => 0,
                Type::Endpoints => 1,
                Type::Listener => 2,
                _ => 3,
            }],
        )
    }
}

impl mizzen_xds::Generation<Client> for Generation {
    fn number(&self) -> u64 {
        self.number()
    }

    fn version(&self) -> &str {
        self.version()
    }

    fn made(&self) -> Instant {
        self.made()
    }

    fn ready(&self, client: &Client, kind: &Type, subscription: &Subscription) -> Option<Arc<ResourceSet>> {
        self.ready(client, kind, subscription)
    }

    fn build(&self, client: &Client, kind: &Type, subscription: &Subscription) -> Arc<ResourceSet> {
        self.build(client, kind, subscription)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
