//! The virtual hosts of one port for one kind of proxy: a plan with the proxy's answers.

use super::{
    Built,
    environment::Environment,
    host::{self, Form, Host, Outbound, Subject, small},
    listing::Listing,
    plan::Plan,
    wanted::{settle, wanted},
};
use mizzen_mesh::ByPointer;
use std::{
    collections::{HashMap, HashSet},
    hash::{BuildHasherDefault, Hasher},
    sync::{Arc, OnceLock},
};

/// Everything that a port's virtual hosts are built from.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) struct Inputs {
    pub(super) listing: ByPointer<Listing>,
    pub(super) port: u32,
    /// Of the proxy; nothing if no route asks.
    pub(super) namespace: Option<Arc<str>>,
    pub(super) environment: ByPointer<Environment>,
    /// Made of the former.
    pub(super) elsewhere: ByPointer<Environment>,
    /// To the plan's questions.
    pub(super) answers: Vec<bool>,
}

impl Inputs {
    /// What shapes the virtual host of this subject.
    pub(super) fn environment_of(&self, subject: &Subject) -> ByPointer<Environment> {
        let is_home = match (subject, &self.environment.place) {
            (Subject::Service(service, aliases), Some(place)) => {
                let aliases = aliases.iter().map(|alias| &*alias.host);
                std::iter::once(&*small(service.host())).chain(aliases).any(|host| place.is_home_of(host))
            }
            _ => false,
        };
        if is_home { self.environment.clone() } else { self.elsewhere.clone() }
    }
}

/// A port's virtual hosts, by name.
pub(super) struct Assembly {
    hosts: Vec<(host::Inputs, ByPointer<Host>)>,
    /// By the fingerprints of domains; made when a service's listener asks.
    by_domain: OnceLock<HashMap<u64, usize>>,
}

impl Assembly {
    pub(super) fn new(built: &Built, plan: &Plan, inputs: &Inputs) -> Self {
        let mut hosts = Self::alone(built, wanted(built, plan, inputs), inputs.port).unwrap_or_else(|| {
            let settled = settle(wanted(built, plan, inputs), inputs.port == 0);
            settled.into_iter().map(|outbound| make(built, outbound)).collect()
        });
        hosts.sort_by(|(_, one), (_, other)| (one.order, &one.name).cmp(&(other.order, &other.name)));
        Self { hosts, by_domain: OnceLock::new() }
    }

    /// What is right for nearly all: every name is one host's. Nothing if two want the same.
    fn alone(
        built: &Built,
        wanted: Vec<Outbound>,
        port: u32,
    ) -> Option<Vec<(host::Inputs, ByPointer<Host>)>> {
        if port == 0 {
            return None;
        }
        let mut taken: HashSet<u64, BuildHasherDefault<Given>> =
            HashSet::with_capacity_and_hasher(wanted.len() * 8, BuildHasherDefault::default());
        let mut hosts = Vec::with_capacity(wanted.len());
        for outbound in wanted {
            let host = make(built, outbound);
            if !host.1.fingerprints.iter().all(|fingerprint| taken.insert(*fingerprint)) {
                return None;
            }
            hosts.push(host);
        }
        Some(hosts)
    }

    pub(super) fn whole(&self, built: &Built, inputs: &Inputs) -> Vec<ByPointer<Host>> {
        let mut hosts = Vec::with_capacity(self.hosts.len() + 1);
        hosts.extend(self.hosts.iter().map(|(_, host)| host.clone()));
        // Envoy refuses two hosts for everything. Validation refuses an object that wants to be one.
        let is_rest = |inputs: &host::Inputs| match inputs {
            host::Inputs::Outbound(outbound) => {
                matches!(&outbound.subject, Subject::Host(name) if **name == *"*")
            }
            host::Inputs::Rest(_) | host::Inputs::Router(_) => false,
        };
        if !self.hosts.iter().any(|(inputs, _)| is_rest(inputs)) {
            hosts.push(rest(built, &inputs.environment));
        }
        hosts
    }

    /// The host of a listener for one service: whatever is asked for there is meant for it.
    pub(super) fn of_service(&self, built: &Built, domain: &str) -> Option<ByPointer<Host>> {
        let outbound = self.with_domain(domain)?;
        Some(make(built, Outbound { form: Form::Any, ..outbound.clone() }).1)
    }

    /// The virtual host that has the domain.
    fn with_domain(&self, domain: &str) -> Option<&Outbound> {
        let by_domain = self.by_domain.get_or_init(|| {
            let all = self.hosts.iter().enumerate();
            all.flat_map(|(place, (_, host))| host.fingerprints.iter().map(move |print| (*print, place)))
                .collect()
        });
        let place = by_domain.get(&host::fingerprint(domain, false))?;
        let (host::Inputs::Outbound(outbound), _) = &self.hosts[*place] else { return None };
        let has = match &outbound.form {
            Form::Only(domains) => domains.iter().any(|one| one == domain),
            Form::All | Form::Any => outbound.domains().iter().any(|one| one.text == domain),
        };
        has.then_some(outbound)
    }
}

fn make(built: &Built, outbound: Outbound) -> (host::Inputs, ByPointer<Host>) {
    let inputs = host::Inputs::Outbound(outbound);
    let host = built.host(&inputs);
    (inputs, ByPointer(host))
}

/// For requests that no host takes.
pub(super) fn rest(built: &Built, environment: &ByPointer<Environment>) -> ByPointer<Host> {
    ByPointer(built.host(&host::Inputs::Rest(environment.clone())))
}

/// Fingerprints are spread well already.
#[derive(Default)]
struct Given(u64);

impl Hasher for Given {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(*byte);
        }
    }

    fn write_u64(&mut self, value: u64) {
        self.0 = value;
    }
}
