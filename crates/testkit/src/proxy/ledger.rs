//! What a simulated proxy has been given, and what it still waits for.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::{Duration, Instant},
};

use bytes::Bytes;

use super::{ask::Ask, kind::Kind, mentions::mentions};

pub struct Ledger {
    tables: [Table; 4],
    refuse: Vec<Kind>,
    refusals: Vec<Refusal>,
    responses: u64,
    bytes: u64,
    last: Instant,
    ended: Option<String>,
}

#[derive(Default)]
struct Table {
    /// `None` until it was asked for.
    names: Option<BTreeSet<String>>,
    /// Asked for and not answered yet.
    waiting: BTreeSet<String>,
    /// A kind of which all are wanted was answered at least once.
    answered: bool,
    held: BTreeMap<String, Held>,
}

/// A resource as it came.
#[derive(Clone, Debug)]
pub struct Held {
    pub body: Bytes,
    pub version: String,
    mentions: Vec<String>,
}

/// A response that was not taken.
#[derive(Clone, Debug)]
pub struct Refusal {
    pub kind: Kind,
    pub nonce: String,
}

/// A response of either protocol.
pub(super) struct Response {
    pub(super) kind: Kind,
    pub(super) nonce: String,
    pub(super) resources: Vec<(String, String, Bytes)>,
    pub(super) removed: Vec<String>,
    /// What is not in it is gone.
    pub(super) whole: bool,
}

impl Ledger {
    pub(super) fn new(refuse: Vec<Kind>) -> Self {
        Self {
            tables: Default::default(),
            refuse,
            refusals: Vec::new(),
            responses: 0,
            bytes: 0,
            last: Instant::now(),
            ended: None,
        }
    }

    pub fn resources(&self, kind: Kind) -> &BTreeMap<String, Held> {
        &self.table(kind).held
    }

    /// Names that were asked for; none for a kind of which all are wanted.
    pub fn names(&self, kind: Kind) -> impl Iterator<Item = &str> {
        self.table(kind).names.iter().flatten().map(String::as_str)
    }

    pub fn refusals(&self) -> &[Refusal] {
        &self.refusals
    }

    /// How many responses have come, and how many bytes of resources were in them.
    pub fn traffic(&self) -> (u64, u64) {
        (self.responses, self.bytes)
    }

    /// Why the stream ended, if it did.
    pub fn ended(&self) -> Option<&str> {
        self.ended.as_deref()
    }

    pub fn quiet_for(&self) -> Duration {
        self.last.elapsed()
    }

    /// Something that was asked for and has not come, in words.
    pub fn open(&self) -> Option<String> {
        Kind::ALL.into_iter().find_map(|kind| {
            let table = self.table(kind);
            // Without a listener that names routes nobody asks for any.
            let unasked = table.names.is_none() && kind.wildcard();
            let unanswered = kind.wildcard() && !table.answered;
            let missing = table.waiting.first().map(|name| format!("no answer for {name}"));
            let word = kind.word();
            match (unasked, unanswered) {
                (true, _) => Some(format!("{word} not asked for yet")),
                (_, true) => Some(format!("no {word}")),
                _ => missing.map(|missing| format!("{word}: {missing}")),
            }
        })
    }

    pub(super) fn end(&mut self, reason: String) {
        self.ended = Some(reason);
    }

    /// Takes a response, or refuses it (`false`: the answer is a NACK), and what is asked for next: at once, so that nobody
    /// sees a cluster gone whose endpoints are still there.
    pub(super) fn take(&mut self, response: Response) -> (bool, Vec<Ask>) {
        (self.keep(response), self.asks())
    }

    fn keep(&mut self, response: Response) -> bool {
        let Response { kind, nonce, resources, removed, whole } = response;
        self.responses += 1;
        self.bytes += resources.iter().map(|(_, _, body)| body.len() as u64).sum::<u64>();
        self.last = Instant::now();
        if self.refuse.contains(&kind) {
            self.refusals.push(Refusal { kind, nonce });
            return false;
        }
        let table = &mut self.tables[kind.index()];
        table.answered = true;
        if whole && kind.wildcard() {
            table.held.clear();
        }
        for (name, version, body) in resources {
            // Sent before the server heard that nobody wants it any more: Envoy passes over it, too.
            if !kind.wildcard() && !table.names.as_ref().is_some_and(|names| names.contains(&name)) {
                continue;
            }
            table.waiting.remove(&name);
            let mentions = mentions(kind, &body);
            table.held.insert(name, Held { body, version, mentions });
        }
        for name in removed {
            table.waiting.remove(&name);
            table.held.remove(&name);
        }
        true
    }

    /// What a proxy that has this asks for next, in Envoy's order; asking is noted as done.
    pub(super) fn asks(&mut self) -> Vec<Ask> {
        let mut asks = Vec::new();
        asks.extend(self.ask_all(Kind::Clusters));
        if self.table(Kind::Clusters).answered {
            asks.extend(self.ask_mentioned(Kind::Clusters, Kind::Endpoints));
            if self.table(Kind::Endpoints).waiting.is_empty() {
                asks.extend(self.ask_all(Kind::Listeners));
            }
        }
        if self.table(Kind::Listeners).answered {
            asks.extend(self.ask_mentioned(Kind::Listeners, Kind::Routes));
        }
        asks
    }

    fn ask_all(&mut self, kind: Kind) -> Option<Ask> {
        let table = &mut self.tables[kind.index()];
        if table.names.is_some() {
            return None;
        }
        table.names = Some(BTreeSet::new());
        Some(Ask { kind, subscribe: Vec::new(), unsubscribe: Vec::new(), names: Vec::new() })
    }

    fn ask_mentioned(&mut self, by: Kind, kind: Kind) -> Option<Ask> {
        let held = self.table(by).held.values();
        let wanted: BTreeSet<String> = held.flat_map(|held| held.mentions.iter().cloned()).collect();
        let table = &mut self.tables[kind.index()];
        let known = table.names.take().unwrap_or_default();
        let subscribe: Vec<String> = wanted.difference(&known).cloned().collect();
        let unsubscribe: Vec<String> = known.difference(&wanted).cloned().collect();
        table.waiting.extend(subscribe.iter().cloned());
        for name in &unsubscribe {
            table.waiting.remove(name);
            table.held.remove(name);
        }
        let names = wanted.iter().cloned().collect();
        table.names = Some(wanted);
        let nothing = subscribe.is_empty() && unsubscribe.is_empty();
        (!nothing).then_some(Ask { kind, subscribe, unsubscribe, names })
    }

    fn table(&self, kind: Kind) -> &Table {
        &self.tables[kind.index()]
    }
}
