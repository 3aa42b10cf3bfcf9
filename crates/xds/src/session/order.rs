//! What is sent next.
//!
//! Additions go CDS → EDS → LDS → RDS: before it is sent what refers to a cluster, the client has that cluster and was sent the
//! endpoints that it asked for. Clusters are removed last, when the listeners and routes of the generation that
//! has them no more were accepted or refused.

use super::{At, Next, Query, Session};
use crate::{kind::Type, set::ResourceSet};

impl Session {
    /// Called again and again until it is nothing.
    pub(crate) fn next(&mut self, at: &At<'_>) -> Next {
        // First: what is subscribed to nothing is settled without a word, and clusters may wait for just that.
        for place in 0..self.watches.len() {
            let watch = &self.watches[place];
            if watch.subscription.is_empty() && watch.in_flight.is_none() && watch.is_behind(at.generation) {
                self.clear(place, at.generation);
            }
        }
        let settled = self.referrers_settled();
        for place in 0..self.watches.len() {
            let watch = &self.watches[place];
            if watch.failed_at == at.generation {
                continue;
            }
            if watch.in_flight.is_some() {
                if self.may_look(place, at.generation) {
                    return Next::Ask(self.query(place));
                }
                continue;
            }
            if self.is_full() || (watch.kind.refers_to_clusters() && self.clusters_pending(at.generation)) {
                continue;
            }
            if watch.is_behind(at.generation) {
                return Next::Ask(self.query(place));
            }
            if watch.held.iter().any(|held| held.since <= settled)
                && let Some(response) = self.release(place, at)
            {
                return Next::Send(response);
            }
            if let Some(response) = self.try_again(place, at) {
                return Next::Send(response);
            }
        }
        Next::Nothing
    }

    /// The newest generation that everything which refers to clusters has come to.
    pub(super) fn referrers_settled(&self) -> u64 {
        let referrers = self.watches.iter().filter(|watch| watch.kind.refers_to_clusters());
        referrers.map(|watch| watch.settled()).min().unwrap_or(u64::MAX)
    }

    /// Clusters are looked at even while a response is on its way: mostly nothing is different, and then what refers to
    /// them need not wait.
    fn may_look(&self, place: usize, newest: u64) -> bool {
        let watch = &self.watches[place];
        watch.kind == Type::Cluster
            && watch.sent.is_some()
            && watch.generation.max(watch.looked_at) < newest
            && watch.answered == watch.subscription
            && watch.again.is_empty()
    }

    /// Whether what refers to clusters must wait for the clusters or their endpoints.
    fn clusters_pending(&self, newest: u64) -> bool {
        let clusters = self.watch(&Type::Cluster).and_then(|watch| Some((watch, watch.in_flight.as_ref()?)));
        if clusters.is_some_and(|(watch, in_flight)| in_flight.adds || watch.generation < newest) {
            return true;
        }
        // If none is on its way they have been sent by now, because they come first.
        let endpoints = self.watch(&Type::Endpoints).filter(|watch| watch.in_flight.is_some());
        endpoints.is_some_and(|watch| watch.answered != watch.subscription)
    }

    /// Whether enough is on its way. A single response may be larger.
    fn is_full(&self) -> bool {
        let bytes = self.watches.iter().filter_map(|watch| Some(watch.in_flight.as_ref()?.bytes));
        bytes.sum::<usize>() > self.in_flight_bytes
    }

    fn query(&self, place: usize) -> Query {
        let watch = &self.watches[place];
        Query { kind: watch.kind.clone(), subscription: watch.subscription.clone() }
    }

    /// A subscription to nothing needs no source.
    fn clear(&mut self, place: usize, generation: u64) {
        let watch = &mut self.watches[place];
        let empty = ResourceSet::new(watch.kind.clone(), watch.subscription.clone(), Vec::new());
        watch.sent = Some(empty.into());
        watch.answered = watch.subscription.clone();
        watch.generation = generation;
        watch.again.clear();
        watch.known = None;
        (watch.due, watch.everything) = (false, false);
    }
}
