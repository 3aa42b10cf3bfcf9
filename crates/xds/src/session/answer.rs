//! From a set of resources to a response.

use std::{collections::BTreeSet, mem, sync::Arc};

use super::{
    At, Protocol, Query, Response, Session,
    refusal::CUTS,
    watch::{Held, InFlight, Watch},
};
use crate::{
    difference::Difference,
    kind::Type,
    set::ResourceSet,
    wire::{self, Head},
};

/// What a response consists of.
struct Content {
    carries: Arc<Difference>,
    /// Names that are told as removed; `None`: those of `carries`.
    removed: Option<Vec<Arc<str>>>,
    adds: bool,
    cuts: u32,
}

impl Session {
    /// The set that was asked for by [`super::Next::Ask`] has come.
    pub(crate) fn answer(&mut self, query: &Query, set: Arc<ResourceSet>, at: &At<'_>) -> Option<Response> {
        let place = self.place(&query.kind)?;
        let settled = self.referrers_settled();
        let watch = &mut self.watches[place];
        let known = watch.known.take();
        let way = match (&watch.sent, &known) {
            (None, Some(known)) => Arc::new(Difference::from_versions(known, &set)),
            (old, _) => set.difference(old.as_ref()),
        };
        if watch.in_flight.is_some() {
            watch.looked_at = at.generation;
            if way.is_empty() {
                watch.sent = Some(set);
                watch.generation = at.generation;
            }
            return None;
        }
        let old = watch.sent.replace(set.clone());
        watch.answered = query.subscription.clone();
        let pushed = !watch.due && watch.generation > 0 && watch.generation < at.generation;
        watch.generation = at.generation;
        let due = mem::take(&mut watch.due);
        let adds = way.adds();
        let (again, everything) = (mem::take(&mut watch.again), mem::take(&mut watch.everything));
        let carries = way_again(&way, &set, &again, everything);
        let removed = match watch.kind {
            Type::Cluster => watch.hold(&carries, old.as_deref(), &set, at.generation, settled),
            _ => None,
        };
        let removals = removed.as_ref().map_or(carries.removed().len(), Vec::len);
        if !due && carries.changed().is_empty() && removals == 0 {
            return None;
        }
        self.warm(&way, old.is_none() && known.is_none());
        if pushed {
            self.converging.get_or_insert(at.made);
        }
        self.compose(place, Content { carries, removed, adds, cuts: CUTS }, at)
    }

    /// The set that was asked for cannot be had. What the client has stays, until the next generation.
    pub(crate) fn failed(&mut self, query: &Query, generation: u64) {
        if let Some(watch) = self.watch_mut(&query.kind) {
            watch.failed_at = generation;
        }
    }

    /// The removal of clusters that nothing refers to any more.
    pub(super) fn release(&mut self, place: usize, at: &At<'_>) -> Option<Response> {
        let settled = self.referrers_settled();
        let watch = &mut self.watches[place];
        let removed = watch.take_held(settled);
        if removed.is_empty() {
            return None;
        }
        let nothing = Arc::new(Difference::new(watch.kind.clone(), Vec::new(), Vec::new(), false));
        self.compose(place, Content { carries: nothing, removed: Some(removed), adds: false, cuts: CUTS }, at)
    }

    /// A part of what was refused.
    pub(super) fn try_again(&mut self, place: usize, at: &At<'_>) -> Option<Response> {
        let watch = &mut self.watches[place];
        let mut retry = watch.retry.take()?;
        let part = retry.next(watch.sent.as_deref()?)?;
        let carries = Arc::new(Difference::new(watch.kind.clone(), part.changed, part.removed, false));
        let cuts = retry.cuts;
        watch.retry = Some(retry);
        self.warm(&carries, false);
        self.compose(place, Content { carries, removed: None, adds: false, cuts }, at)
    }

    /// A cluster that is replaced waits for its endpoints, and the client does not ask for what it was sent before.
    fn warm(&mut self, clusters: &Difference, all: bool) {
        if *clusters.kind() != Type::Cluster {
            return;
        }
        let Some(endpoints) = self.watch_mut(&Type::Endpoints).filter(|watch| watch.sent.is_some()) else {
            return;
        };
        if all && !clusters.changed().is_empty() {
            endpoints.everything = true;
            return;
        }
        let names = clusters.changed().iter().map(|resource| resource.name());
        let asked: Vec<_> = names.filter(|name| endpoints.answered.contains(name)).cloned().collect();
        endpoints.again.extend(asked);
    }

    fn compose(&mut self, place: usize, content: Content, at: &At<'_>) -> Option<Response> {
        let Content { carries, removed, adds, cuts } = content;
        self.nonces += 1;
        let nonce = self.nonce(self.nonces);
        let (protocol, number) = (self.protocol, self.nonces);
        let watch = &mut self.watches[place];
        let kind = watch.kind.clone();
        let head = Head { version: at.version, kind: &kind, nonce: &nonce, control_plane: at.control_plane };
        let removals = removed.as_ref().map_or(carries.removed().len(), Vec::len);
        let (chunks, resources, carries) = match protocol {
            Protocol::Delta => {
                let gone = removed.as_deref().map_or_else(|| carries.removals(), wire::removed_resources);
                let mut parts = carries.delta();
                parts.push(gone);
                (wire::delta_message(&head, parts), carries.changed().len(), carries)
            }
            Protocol::StateOfTheWorld => {
                let carries = watch.state(carries);
                let held: Vec<_> = watch.held.iter().filter_map(|held| held.resource.clone()).collect();
                let mut parts = carries.state();
                parts.push(wire::state_resources(&kind, &held));
                (wire::state_message(&head, parts), carries.changed().len() + held.len(), carries)
            }
        };
        let chunks = chunks.or_else(|| {
            tracing::error!(%kind, resources, "a response larger than gRPC can carry is not sent");
            None
        })?;
        let bytes = chunks.iter().map(bytes::Bytes::len).sum();
        watch.nonce_sent = number;
        watch.in_flight = Some(Box::new(InFlight {
            generation: watch.generation,
            since: at.now,
            bytes,
            adds,
            carries,
            removed,
            cuts,
        }));
        Some(Response { kind, chunks, bytes, resources, removals })
    }
}

impl Watch {
    /// Puts aside clusters that are gone and returns those whose time has come.
    fn hold(
        &mut self,
        way: &Difference,
        old: Option<&ResourceSet>,
        new: &ResourceSet,
        generation: u64,
        settled: u64,
    ) -> Option<Vec<Arc<str>>> {
        if self.held.is_empty() && (way.removed().is_empty() || generation <= settled) {
            return None;
        }
        self.held.retain(|held| new.get(&held.name).is_none() && self.subscription.contains(&held.name));
        let mut told = Vec::new();
        for name in way.removed() {
            let resource = old.and_then(|old| old.get(name)).cloned();
            if old.is_some() && resource.is_none() {
                // Asked for and never there: nothing can refer to it.
                told.push(name.clone());
            } else if !self.held.iter().any(|held| held.name == *name) {
                self.held.push(Held { name: name.clone(), resource, since: generation });
            }
        }
        told.extend(self.take_held(settled));
        Some(told)
    }

    fn take_held(&mut self, settled: u64) -> Vec<Arc<str>> {
        let (go, stay) = mem::take(&mut self.held).into_iter().partition(|held| held.since <= settled);
        self.held = stay;
        let go: Vec<Held> = go;
        go.into_iter().map(|held| held.name).collect()
    }

    /// State of the world: all of a type that the client sees as a whole; of the others what has changed suffices, because
    /// it keeps what is not mentioned.
    fn state(&self, carries: Arc<Difference>) -> Arc<Difference> {
        match &self.sent {
            Some(sent) if self.kind.is_wildcard() => sent.difference(None),
            _ => carries,
        }
    }
}

/// The way, with more on it.
fn way_again(
    way: &Arc<Difference>,
    set: &ResourceSet,
    again: &BTreeSet<Arc<str>>,
    everything: bool,
) -> Arc<Difference> {
    if everything && way.removed().is_empty() {
        return set.difference(None);
    }
    if !everything && again.is_empty() {
        return way.clone();
    }
    let (mut changed, mut removed) = (way.changed().to_vec(), way.removed().to_vec());
    if everything {
        changed = set.resources().to_vec();
    }
    for name in again.iter().filter(|name| set.subscription().contains(name)) {
        match set.get(name) {
            Some(resource) => changed.push(resource.clone()),
            None => removed.push(name.clone()),
        }
    }
    changed.sort_by(|one, two| one.name().cmp(two.name()));
    changed.dedup_by(|one, two| one.name() == two.name());
    removed.sort();
    removed.dedup();
    Arc::new(Difference::new(way.kind().clone(), changed, removed, way.adds()))
}
