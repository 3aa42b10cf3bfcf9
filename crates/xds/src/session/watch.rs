//! One type of one stream.

use std::{
    collections::{BTreeSet, HashMap},
    sync::Arc,
    time::Instant,
};

use super::refusal::Retry;
use crate::{
    connections::{Refusal, Watched},
    difference::Difference,
    kind::Type,
    resource::Resource,
    set::ResourceSet,
    subscription::Subscription,
};

pub(super) struct Watch {
    pub(super) kind: Type,
    pub(super) subscription: Subscription,
    /// What the client has once it has taken all that was sent, besides `held`.
    pub(super) sent: Option<Arc<ResourceSet>>,
    /// The subscription and the generation that `sent` is of.
    pub(super) answered: Subscription,
    pub(super) generation: u64,
    /// The newest generation of which a response was accepted or refused.
    pub(super) settled: u64,
    /// The generation that was looked at while a response was on its way, and has something to send.
    pub(super) looked_at: u64,
    /// The generation that could not be built for this client: it is left out.
    pub(super) failed_at: u64,
    /// A response is owed even if there is nothing to say: to a first request.
    pub(super) due: bool,
    /// Everything, or these names, must be sent though the client was sent them before.
    pub(super) everything: bool,
    pub(super) again: BTreeSet<Arc<str>>,
    /// What a client that comes back says it has.
    pub(super) known: Option<HashMap<String, String>>,
    /// Clusters that are gone, while something that the client has may still refer to them.
    pub(super) held: Vec<Held>,
    pub(super) retry: Option<Box<Retry>>,
    pub(super) in_flight: Option<Box<InFlight>>,
    pub(super) nonce_sent: u64,
    pub(super) nonce_acked: u64,
    pub(super) refusal: Option<Arc<Refusal>>,
}

pub(super) struct Held {
    pub(super) name: Arc<str>,
    /// Not known for what a client brought along from another stream.
    pub(super) resource: Option<Arc<Resource>>,
    /// The generation that does not have it any more.
    pub(super) since: u64,
}

/// A response that was neither accepted nor refused yet.
pub(super) struct InFlight {
    pub(super) generation: u64,
    pub(super) since: Instant,
    pub(super) bytes: usize,
    /// Names that are new to the client.
    pub(super) adds: bool,
    /// What it carries; also keeps the encoded form for the other streams that go the same way.
    pub(super) carries: Arc<Difference>,
    /// The names that it tells as removed; `None`: those of `carries`.
    pub(super) removed: Option<Vec<Arc<str>>>,
    /// How often it may still be cut in halves if it is refused.
    pub(super) cuts: u32,
}

impl InFlight {
    pub(super) fn removed(&self) -> &[Arc<str>] {
        self.removed.as_deref().unwrap_or_else(|| self.carries.removed())
    }
}

impl Watch {
    pub(super) fn new(kind: Type, subscription: Subscription) -> Self {
        Self {
            kind,
            subscription,
            sent: None,
            answered: Subscription::default(),
            generation: 0,
            settled: 0,
            looked_at: 0,
            failed_at: 0,
            due: false,
            everything: false,
            again: BTreeSet::new(),
            known: None,
            held: Vec::new(),
            retry: None,
            in_flight: None,
            nonce_sent: 0,
            nonce_acked: 0,
            refusal: None,
        }
    }

    /// Whether there may be something to send.
    pub(super) fn is_behind(&self, newest: u64) -> bool {
        self.due
            || self.everything
            || !self.again.is_empty()
            || self.generation < newest
            || self.answered != self.subscription
    }

    /// The newest generation that the client has, or has refused.
    pub(super) fn settled(&self) -> u64 {
        if self.in_flight.is_some() { self.settled } else { self.generation }
    }

    pub(super) fn show(&self, nonce: impl Fn(u64) -> String) -> Watched {
        Watched {
            kind: self.kind.clone(),
            wildcard: self.subscription.is_wildcard(),
            names: self.subscription.names().clone(),
            resources: self.sent.as_ref().map_or(0, |sent| sent.resources().len()),
            nonce_sent: nonce(self.nonce_sent),
            nonce_acked: nonce(self.nonce_acked),
            generation_sent: self.generation,
            generation_acked: self.settled(),
            refusal: self.refusal.clone(),
        }
    }
}
