//! What a proxy was sent beside what a real Envoy makes of it: functions of values, without any server.
//!
//! In: the ledger of a simulated proxy, and the dump and the statistics of an Envoy of the same identity. Out: a [`Fault`] for
//! everything that was sent and is not in use, is in use and was not sent, is another one, waits, or was refused.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
};

use mizzen_testkit::{
    envoy::Stats,
    proxy::{Kind, Ledger},
};
use serde_json::Value;

use super::content;

/// By kind and name what is compared: the message, and of endpoints, which Envoy shows with what it knows of them besides, how
/// many there are.
pub type Messages = BTreeMap<Kind, BTreeMap<String, Value>>;

/// What a control plane has sent to a proxy.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sent(pub Messages);

/// What an Envoy has.
#[derive(Clone, Debug, Default)]
pub struct Taken {
    /// In use.
    active: Messages,
    /// Taken note of and not in use yet, in words.
    waiting: Vec<String>,
    /// Not taken, in words.
    refused: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Sent, and not in use.
    Missing(Kind, String),
    /// In use, and not sent.
    Extra(Kind, String),
    /// In use is not the one that was sent; and where it differs.
    Other {
        kind: Kind,
        name: String,
        what: String,
    },
    Waiting(String),
    Refused(String),
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing(kind, name) => write!(f, "{}: {name} was sent and is not in use", kind.word()),
            Self::Extra(kind, name) => write!(f, "{}: {name} is in use and was not sent", kind.word()),
            Self::Other { kind, name, what } => {
                write!(f, "{}: {name} in use is another: {what}", kind.word())
            }
            Self::Waiting(what) => write!(f, "waiting: {what}"),
            Self::Refused(what) => write!(f, "refused: {what}"),
        }
    }
}

impl Sent {
    pub fn new(ledger: &Ledger) -> Self {
        let kinds = Kind::ALL.into_iter().map(|kind| {
            let held = ledger.resources(kind).iter();
            let messages = held.map(|(name, held)| {
                let message = content::decoded(kind, &held.body);
                let counted = (kind == Kind::Endpoints).then(|| count(&message, "lbEndpoints"));
                (name.clone(), counted.unwrap_or(message))
            });
            (kind, messages.collect())
        });
        Self(kinds.collect())
    }

    pub fn count(&self, kind: Kind) -> usize {
        self.0.get(&kind).map_or(0, BTreeMap::len)
    }
}

impl Taken {
    /// From Envoy's `/config_dump?include_eds` and `/stats`.
    pub fn new(dump: &Value, stats: &Stats) -> Self {
        let mut taken = Self::default();
        let asked: BTreeSet<&str> = list(dump, "configs").flat_map(asked).collect();
        for section in list(dump, "configs") {
            for cluster in list(section, "dynamic_active_clusters") {
                taken.use_message(Kind::Clusters, &cluster["cluster"]);
            }
            for cluster in list(section, "dynamic_warming_clusters") {
                taken.waiting.push(format!("cluster {}", name(&cluster["cluster"])));
            }
            list(section, "dynamic_listeners").for_each(|listener| taken.listener(listener));
            for routes in list(section, "dynamic_route_configs") {
                taken.use_message(Kind::Routes, &routes["route_config"]);
            }
            for endpoints in list(section, "dynamic_endpoint_configs") {
                let config = &endpoints["endpoint_config"];
                let name = config["cluster_name"].as_str().unwrap_or_default();
                // Envoy shows endpoints of every cluster here, also those that came with it.
                if !asked.contains(name) {
                    continue;
                }
                taken.use_one(Kind::Endpoints, name, count(config, "lb_endpoints"));
            }
            for secret in list(section, "dynamic_warming_secrets") {
                taken.waiting.push(format!("secret {}", name(secret)));
            }
        }
        for (stat, value) in stats.iter().filter(|(_, value)| *value > 0) {
            if REFUSING.iter().any(|end| stat.ends_with(end)) {
                taken.refused.push(format!("{stat} is {value}"));
            } else if WARMING.contains(&stat) {
                taken.waiting.push(format!("{stat} is {value}"));
            }
        }
        taken
    }

    pub fn count(&self, kind: Kind) -> usize {
        self.active.get(&kind).map_or(0, BTreeMap::len)
    }

    /// Everything that is not as it was sent; nothing if all is in use.
    pub fn faults(&self, sent: &Sent) -> Vec<Fault> {
        let mut faults: Vec<Fault> = self.refused.iter().cloned().map(Fault::Refused).collect();
        faults.extend(self.waiting.iter().cloned().map(Fault::Waiting));
        let none = BTreeMap::new();
        for kind in Kind::ALL {
            let sent = sent.0.get(&kind).unwrap_or(&none);
            let active = self.active.get(&kind).unwrap_or(&none);
            for (name, message) in sent {
                let Some(taken) = active.get(name) else {
                    faults.push(Fault::Missing(kind, name.clone()));
                    continue;
                };
                let other = content::difference(message, taken);
                faults.extend(other.map(|what| Fault::Other { kind, name: name.clone(), what }));
            }
            let extra = active.keys().filter(|name| !sent.contains_key(*name));
            faults.extend(extra.map(|name| Fault::Extra(kind, name.clone())));
        }
        faults
    }

    fn listener(&mut self, listener: &Value) {
        let name = name(listener);
        if let Some(reason) = listener["error_state"]["details"].as_str() {
            self.refused.push(format!("listener {name}: {reason}"));
        }
        if !listener["warming_state"].is_null() {
            self.waiting.push(format!("listener {name}"));
        }
        // One that was replaced or removed is still there while it lets its connections go.
        if !listener["active_state"].is_null() {
            self.use_message(Kind::Listeners, &listener["active_state"]["listener"]);
        }
    }

    fn use_message(&mut self, kind: Kind, shown: &Value) {
        self.use_one(kind, name(shown), content::shown(kind, shown));
    }

    fn use_one(&mut self, kind: Kind, name: &str, message: Value) {
        if self.active.entry(kind).or_default().insert(name.to_owned(), message).is_some() {
            self.refused.push(format!("{}: {name} is there twice", kind.word()));
        }
    }
}

/// The names under which the clusters of a section ask for endpoints.
fn asked(section: &Value) -> impl Iterator<Item = &str> {
    let clusters = list(section, "dynamic_active_clusters").map(|entry| &entry["cluster"]);
    clusters.filter(|cluster| cluster["type"] == "EDS").map(|cluster| {
        cluster["eds_cluster_config"]["service_name"].as_str().unwrap_or_else(|| name(cluster))
    })
}

/// Counters of every subscription, and of listeners that were accepted and then could not be made.
const REFUSING: [&str; 3] =
    [".update_rejected", "listener_manager.listener_create_failure", "listener_manager.lds.update_failure"];
/// What is warming shows only here while the first answer of a subscription is waited for.
const WARMING: [&str; 2] = ["cluster_manager.warming_clusters", "listener_manager.total_listeners_warming"];

fn count(assignment: &Value, field: &str) -> Value {
    let groups = list(assignment, "endpoints");
    groups.map(|group| list(group, field).count()).sum::<usize>().into()
}

fn list<'v>(value: &'v Value, key: &str) -> impl Iterator<Item = &'v Value> {
    value[key].as_array().into_iter().flatten()
}

fn name(value: &Value) -> &str {
    value["name"].as_str().unwrap_or_default()
}
