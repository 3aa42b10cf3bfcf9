//! The protocol of one stream, without the stream.
//!
//! In: requests, and sets of resources as the stream asked for them. Out: what to ask for next, and responses. No clock decides
//! anything and nothing waits here, so that every rule can be tested as a function; the loop around it is
//! in [`crate::stream`].
//!
//! For each type a [`Watch`] holds the subscription and the set that the client has once it has taken all that was sent;
//! there is at most one response of a type on its way, and when it is answered the newest generation is next.

mod answer;
mod delta;
#[cfg(test)]
mod harness;
mod order;
#[cfg(test)]
mod property;
mod refusal;
mod state;
#[cfg(test)]
mod tests;
mod watch;

use std::{
    sync::Arc,
    time::{Instant, SystemTime},
};

use bytes::Bytes;

use self::watch::Watch;
use crate::{
    connections::{Refusal, Watched},
    kind::Type,
    options::Options,
    request::Request,
    subscription::Subscription,
};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Protocol {
    Delta,
    StateOfTheWorld,
}

pub(crate) struct Session {
    protocol: Protocol,
    /// In the order of their types, which is the order of sending.
    watches: Vec<Watch>,
    /// Makes nonces differ between streams.
    stream: u64,
    nonces: u64,
    in_flight_bytes: usize,
    max_names: usize,
    max_types: usize,
    /// When the oldest generation was made of which something has been sent since the stream was last up to date.
    converging: Option<Instant>,
}

/// A set of resources that is wanted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Query {
    pub(crate) kind: Type,
    pub(crate) subscription: Subscription,
}

pub(crate) struct Response {
    pub(crate) kind: Type,
    pub(crate) chunks: Vec<Bytes>,
    pub(crate) bytes: usize,
    pub(crate) resources: usize,
    pub(crate) removals: usize,
}

pub(crate) enum Next {
    Ask(Query),
    Send(Response),
    Nothing,
}

/// The newest generation and what else responses say.
pub(crate) struct At<'a> {
    pub(crate) generation: u64,
    pub(crate) version: &'a str,
    pub(crate) made: Instant,
    pub(crate) control_plane: &'a str,
    pub(crate) now: Instant,
}

/// What a request turned out to be, for counters and the log.
#[derive(Debug, Default)]
pub(crate) struct Heard {
    pub(crate) refused: Option<Arc<Refusal>>,
    pub(crate) expired: bool,
    /// Of a subscription that it changed: so many were looked at.
    pub(crate) names: usize,
}

#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub(crate) enum Violation {
    #[error("a subscription to {0} resources is more than the {1} that are allowed")]
    TooManyNames(usize, usize),
    #[error("more than {0} types on one stream")]
    TooManyTypes(usize),
}

impl Session {
    pub(crate) fn new(protocol: Protocol, stream: u64, options: &Options) -> Self {
        Self {
            protocol,
            watches: Vec::new(),
            stream,
            nonces: 0,
            in_flight_bytes: options.in_flight_bytes,
            max_names: options.max_names,
            max_types: options.max_types,
            converging: None,
        }
    }

    pub(crate) fn protocol(&self) -> Protocol {
        self.protocol
    }

    pub(crate) fn request(&mut self, request: Request, now: SystemTime) -> Result<Heard, Violation> {
        let kind = Type::of_url(&request.url);
        let before = self.watch(&kind).map(|watch| watch.subscription.clone());
        let mut heard = match self.protocol {
            Protocol::Delta => self.delta_request(request, now),
            Protocol::StateOfTheWorld => self.state_request(request, now),
        }?;
        let after = self.watch(&kind).map(|watch| &watch.subscription);
        heard.names = after.filter(|after| before.as_ref() != Some(after)).map_or(0, |new| new.names().len());
        Ok(heard)
    }

    /// Since when the oldest response has been on its way.
    pub(crate) fn waiting_since(&self) -> Option<Instant> {
        self.watches.iter().filter_map(|watch| Some(watch.in_flight.as_ref()?.since)).min()
    }

    /// When the generation was made that the client has just come to have in full, once for each time.
    pub(crate) fn converged(&mut self) -> Option<Instant> {
        if self.waiting_since().is_some() {
            return None;
        }
        self.converging.take()
    }

    pub(crate) fn watched(&self) -> Vec<Watched> {
        self.watches.iter().map(|watch| watch.show(|nonce| self.nonce(nonce))).collect()
    }

    fn place(&self, kind: &Type) -> Option<usize> {
        self.watches.binary_search_by(|watch| watch.kind.cmp(kind)).ok()
    }

    fn watch(&self, kind: &Type) -> Option<&Watch> {
        self.place(kind).map(|place| &self.watches[place])
    }

    fn watch_mut(&mut self, kind: &Type) -> Option<&mut Watch> {
        self.place(kind).map(|place| &mut self.watches[place])
    }

    /// Starts anew with this type.
    fn start(&mut self, watch: Watch) -> Result<&mut Watch, Violation> {
        let place = match self.watches.binary_search_by(|known| known.kind.cmp(&watch.kind)) {
            Ok(place) => {
                self.watches[place] = watch;
                place
            }
            Err(_) if self.watches.len() >= self.max_types => {
                return Err(Violation::TooManyTypes(self.max_types));
            }
            Err(place) => {
                self.watches.insert(place, watch);
                place
            }
        };
        Ok(&mut self.watches[place])
    }

    fn checked(&self, subscription: Subscription) -> Result<Subscription, Violation> {
        match subscription.names().len() {
            many if many > self.max_names => Err(Violation::TooManyNames(many, self.max_names)),
            _ => Ok(subscription),
        }
    }

    fn nonce(&self, number: u64) -> String {
        match number {
            0 => String::new(),
            number => format!("{:x}.{number:x}", self.stream),
        }
    }
}
