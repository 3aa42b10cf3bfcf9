//! What was accepted and what was refused, and finding out which resource it was.
//!
//! A client refuses a response as a whole. Envoy takes the good clusters and listeners out of a bad response, but of routes and
//! endpoints none behind the bad one, and it says only sometimes which one that was. Since later responses carry only what has
//! changed, the good ones would never arrive. So a refused response is sent once more in two halves, and a refused
//! half again, until what is refused is one resource; all others have arrived by then.

use std::{sync::Arc, time::SystemTime};

use super::{
    Heard, Protocol, Session,
    watch::{InFlight, Watch},
};
use crate::{connections::Refusal, kind::Type, request::ErrorDetail, resource::Resource, set::ResourceSet};

/// Parts that are still to be sent again.
pub(super) struct Retry {
    pub(super) parts: Vec<Part>,
    pub(super) cuts: u32,
}

/// How many responses a refusal may cause, should everything be bad.
pub(super) const CUTS: u32 = 64;

/// How many parts may wait, should new generations be refused faster than parts are sent.
const PARTS: usize = 64;

/// How many names of a refused response are kept.
const NAMES: usize = 16;

impl Session {
    pub(super) fn acknowledge(
        &mut self,
        kind: &Type,
        nonce: &str,
        error: Option<ErrorDetail>,
        now: SystemTime,
    ) -> Heard {
        let Some(place) = self.place(kind) else { return Heard::default() };
        let last = self.watches[place].nonce_sent;
        if nonce.is_empty() && error.is_none() {
            return Heard::default();
        }
        if !nonce.is_empty() && nonce != self.nonce(last) {
            return Heard { expired: true, ..Heard::default() };
        }
        let (protocol, nonce) = (self.protocol, self.nonce(last));
        let watch = &mut self.watches[place];
        let in_flight = watch.in_flight.take();
        if let Some(in_flight) = &in_flight {
            watch.settled = in_flight.generation;
        }
        let Some(error) = error else {
            watch.nonce_acked = last;
            if in_flight.is_some_and(|in_flight| watch.is_made_good(&in_flight)) {
                watch.refusal = None;
            }
            return Heard::default();
        };
        let names = in_flight.as_ref().map(|in_flight| {
            in_flight.carries.changed().iter().take(NAMES).map(|resource| resource.name().clone()).collect()
        });
        let refusal = Arc::new(Refusal {
            code: error.code,
            text: error.text,
            at: now,
            nonce,
            resources: names.unwrap_or_default(),
            of: in_flight.as_ref().map_or(0, |in_flight| in_flight.carries.changed().len()),
        });
        watch.refusal = Some(refusal.clone());
        // State of the world has all clusters, or all listeners, in every response: there are no halves.
        let parts = protocol == Protocol::Delta || !kind.is_wildcard();
        if let Some(in_flight) = in_flight.filter(|_| parts) {
            halve(&mut watch.retry, &in_flight);
        }
        Heard { refused: Some(refusal), ..Heard::default() }
    }
}

impl Watch {
    /// Whether this response, which was accepted, makes up for the last refusal. An accepted half does not, nor does a
    /// response about something else while the one resource that was refused is what it was.
    fn is_made_good(&self, accepted: &InFlight) -> bool {
        let Some(refusal) = &self.refusal else { return true };
        if self.retry.is_some() || accepted.cuts < CUTS {
            return false;
        }
        match &*refusal.resources {
            [culprit] if refusal.of == 1 => {
                accepted.carries.changed().iter().any(|resource| resource.name() == culprit)
                    || self.sent.as_ref().is_none_or(|sent| sent.get(culprit).is_none())
            }
            _ => true,
        }
    }
}

/// One response more.
pub(super) struct Part {
    pub(super) changed: Vec<Arc<Resource>>,
    pub(super) removed: Vec<Arc<str>>,
}

fn halve(retry: &mut Option<Box<Retry>>, refused: &InFlight) {
    let all = refused.carries.changed();
    if all.is_empty() || refused.cuts == 0 {
        return;
    }
    let retry = retry.get_or_insert_with(|| Box::new(Retry { parts: Vec::new(), cuts: refused.cuts }));
    if retry.parts.len() >= PARTS {
        return;
    }
    if all.len() > 1 {
        let (one, two) = all.split_at(all.len() / 2);
        retry.parts.push(Part { changed: two.to_vec(), removed: Vec::new() });
        retry.parts.push(Part { changed: one.to_vec(), removed: Vec::new() });
    }
    if !refused.removed().is_empty() {
        retry.parts.push(Part { changed: Vec::new(), removed: refused.removed().to_vec() });
    }
}

impl Retry {
    /// The next part, as far as it is still what the client should hear.
    pub(super) fn next(&mut self, sent: &ResourceSet) -> Option<Part> {
        let wanted = sent.subscription();
        while let Some(mut part) = self.parts.pop() {
            let current = |resource: &Resource| {
                sent.get(resource.name()).is_some_and(|now| now.version() == resource.version())
            };
            part.changed.retain(|resource| current(resource));
            part.removed.retain(|name| wanted.contains(name) && sent.get(name).is_none());
            if self.cuts > 0 && !(part.changed.is_empty() && part.removed.is_empty()) {
                self.cuts -= 1;
                return Some(part);
            }
        }
        None
    }
}
