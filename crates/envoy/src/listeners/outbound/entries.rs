//! The listeners of a walk as they come together, and what does not fit beside what is there already.

use crate::listeners::{
    address,
    chain::{Chain, Identity},
};
use mizzen_mesh::Protocol;
use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};

/// Where a listener listens.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(in crate::listeners) enum Binds {
    /// Everywhere.
    Wildcards,
    /// Only for the workload beside the proxy, which connects to it as it is: nothing is redirected.
    Localhosts,
    At(Arc<str>),
    /// The first names it.
    AtAll(Vec<Arc<str>>),
}

/// What comes out of a walk.
#[derive(Debug)]
pub(crate) struct Walked {
    pub(super) entries: Vec<Entry>,
    pub(super) conflicts: Vec<Conflict>,
}

/// One listener.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) binds: Binds,
    pub(super) port: u32,
    pub(super) chains: Arc<[Chain]>,
}

/// One that chains are still added to.
struct Growing {
    binds: Binds,
    port: u32,
    chains: Vec<Chain>,
    /// Found out from the first bytes as soon as there are both, HTTP and other chains.
    protocol: Protocol,
    /// Of the service that came first.
    first: Protocol,
    /// Which matches there are; only looked at when there are several.
    seen: HashSet<Identity>,
}

/// A service's port that an older one's listener leaves no room for.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Conflict {
    /// The listener's name.
    pub listener: String,
    pub accepted: Protocol,
    pub rejected: Protocol,
    /// Of the service that lost.
    pub host: Arc<str>,
}

#[derive(Default)]
pub(super) struct Entries<'a> {
    entries: Vec<Growing>,
    index: HashMap<(&'a str, u32), usize>,
    conflicts: Vec<Conflict>,
}

/// What is added: the chains of one port of one service.
pub(super) struct Added<'a> {
    /// The address that names the listener.
    pub(super) bind: &'a str,
    pub(super) port: u32,
    pub(super) protocol: Protocol,
    pub(super) host: &'a Arc<str>,
}

impl<'a> Entries<'a> {
    /// HTTP services of a port share its listener.
    pub(super) fn add_http(&mut self, added: &Added<'a>, binds: &Binds, chain: impl FnOnce() -> Chain) {
        match self.find(added) {
            Some(index) if !self.entries[index].protocol.is_tcp() => {}
            found => self.add(found, added, || (binds.clone(), vec![chain()])),
        }
    }

    /// `chains` says where to listen and what for.
    pub(super) fn add_tcp(&mut self, added: &Added<'a>, chains: impl FnOnce() -> (Binds, Vec<Chain>)) {
        self.add(self.find(added), added, chains);
    }

    /// A port whose protocol is found out takes the place of one that is HTTP only, and adds to one that is TCP.
    pub(super) fn add_sniffed(&mut self, added: &Added<'a>, chains: impl FnOnce() -> (Binds, Vec<Chain>)) {
        match self.find(added) {
            Some(index) if self.entries[index].protocol.is_http() => {
                let (binds, chains) = chains();
                self.entries[index] = Growing::new(added, binds, chains);
            }
            Some(index) if !self.entries[index].protocol.is_tcp() => {}
            found => self.add(found, added, chains),
        }
    }

    pub(super) fn finish(self) -> Walked {
        let entry = |Growing { binds, port, chains, .. }| Entry { binds, port, chains: chains.into() };
        Walked { entries: self.entries.into_iter().map(entry).collect(), conflicts: self.conflicts }
    }

    fn find(&self, added: &Added<'a>) -> Option<usize> {
        self.index.get(&(added.bind, added.port)).copied()
    }

    fn add(&mut self, found: Option<usize>, added: &Added<'a>, chains: impl FnOnce() -> (Binds, Vec<Chain>)) {
        let Some(index) = found else {
            let (binds, chains) = chains();
            self.index.insert((added.bind, added.port), self.entries.len());
            self.entries.push(Growing::new(added, binds, chains));
            return;
        };
        let entry = &mut self.entries[index];
        // A protocol whose server speaks first cannot be found out: it stays alone on its port.
        let first = |protocol| matches!(protocol, Protocol::Mongo | Protocol::Mysql);
        if (first(added.protocol) || first(entry.protocol)) && added.protocol != entry.protocol {
            let conflict = added.lost_to(entry.protocol);
            self.conflicts.push(conflict);
            return;
        }
        let mut lost = false;
        for chain in chains().1 {
            lost |= !entry.push(chain);
        }
        let mixed = added.protocol.is_tcp() != entry.protocol.is_tcp();
        if mixed && !entry.protocol.is_unknown() {
            entry.protocol = Protocol::Unsupported;
        }
        if lost {
            let conflict = added.lost_to(entry.first);
            self.conflicts.push(conflict);
        }
    }
}

impl Added<'_> {
    fn lost_to(&self, accepted: Protocol) -> Conflict {
        Conflict {
            listener: address::name(self.bind, self.port),
            accepted,
            rejected: self.protocol,
            host: Arc::clone(self.host),
        }
    }
}

impl Growing {
    fn new(added: &Added<'_>, binds: Binds, chains: Vec<Chain>) -> Self {
        // HTTP that stands beside a way for everything else is one of the protocols that are told apart.
        let protocol = match chains.iter().any(|chain| chain.when.http) {
            true => Protocol::Unsupported,
            false => added.protocol,
        };
        let mut entry = Self {
            binds,
            port: added.port,
            chains: Vec::new(),
            protocol,
            first: added.protocol,
            seen: HashSet::new(),
        };
        match chains.len() {
            0 | 1 => entry.chains = chains,
            // Envoy takes no two of one match, whoever wrote them.
            _ => chains.into_iter().for_each(|chain| _ = entry.push(chain)),
        }
        entry
    }

    /// False if there is one of the same match.
    fn push(&mut self, chain: Chain) -> bool {
        if self.seen.is_empty() {
            self.seen = self.chains.iter().map(|chain| chain.when.identity()).collect();
        }
        let new = self.seen.insert(chain.when.identity());
        if new {
            self.chains.push(chain);
        }
        new
    }
}
