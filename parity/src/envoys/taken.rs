//! What a proxy was sent beside what a real Envoy makes of it: functions of values, without any server.
//!
//! In: the ledger of a simulated proxy, and the dump and the statistics of an Envoy of the same identity. Out: a [`Fault`] for
//! everything that was sent and is not in use, is in use and was not sent, is another one, waits, or was refused.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
};

use anyhow::Result;
use mizzen_testkit::{
    envoy::Stats,
    proxy::{Kind, Ledger, to_json},
};
use serde_json::Value;

/// By name what tells one resource from another of that name: its version, and of endpoints, for which Envoy tells none,
/// how many there are.
pub type Marks = BTreeMap<Kind, BTreeMap<String, String>>;

/// What a control plane has sent to a proxy.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sent(pub Marks);

/// What an Envoy has.
#[derive(Clone, Debug, Default)]
pub struct Taken {
    /// In use.
    active: Marks,
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
    /// In use is not the one that was sent.
    Other {
        kind: Kind,
        name: String,
        sent: String,
        taken: String,
    },
    Waiting(String),
    Refused(String),
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing(kind, name) => write!(f, "{}: {name} was sent and is not in use", kind.word()),
            Self::Extra(kind, name) => write!(f, "{}: {name} is in use and was not sent", kind.word()),
            Self::Other { kind, name, sent, taken } => {
                write!(f, "{}: {name} in use is {taken}, sent was {sent}", kind.word())
            }
            Self::Waiting(what) => write!(f, "waiting: {what}"),
            Self::Refused(what) => write!(f, "refused: {what}"),
        }
    }
}

impl Sent {
    pub fn new(ledger: &Ledger) -> Result<Self> {
        let mut marks = Marks::new();
        for kind in Kind::ALL {
            let slot = marks.entry(kind).or_default();
            for (name, held) in ledger.resources(kind) {
                let mark = match kind {
                    Kind::Endpoints => count(&to_json(kind.message(), &held.body)?, "lbEndpoints"),
                    _ => held.version.clone(),
                };
                slot.insert(name.clone(), mark);
            }
        }
        Ok(Self(marks))
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
                taken.use_one(Kind::Clusters, name(&cluster["cluster"]), version(cluster));
            }
            for cluster in list(section, "dynamic_warming_clusters") {
                taken.waiting.push(format!("cluster {}", name(&cluster["cluster"])));
            }
            list(section, "dynamic_listeners").for_each(|listener| taken.listener(listener));
            for routes in list(section, "dynamic_route_configs") {
                taken.use_one(Kind::Routes, name(&routes["route_config"]), version(routes));
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
            for (name, mark) in sent {
                match active.get(name) {
                    None => faults.push(Fault::Missing(kind, name.clone())),
                    Some(taken) if taken != mark => {
                        let (name, sent, taken) = (name.clone(), mark.clone(), taken.clone());
                        faults.push(Fault::Other { kind, name, sent, taken });
                    }
                    Some(_) => {}
                }
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
            self.use_one(Kind::Listeners, name, version(&listener["active_state"]));
        }
    }

    fn use_one(&mut self, kind: Kind, name: &str, mark: String) {
        if self.active.entry(kind).or_default().insert(name.to_owned(), mark).is_some() {
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

fn count(assignment: &Value, field: &str) -> String {
    let groups = list(assignment, "endpoints");
    let endpoints: usize = groups.map(|group| list(group, field).count()).sum();
    format!("{endpoints} endpoints")
}

fn list<'v>(value: &'v Value, key: &str) -> impl Iterator<Item = &'v Value> {
    value[key].as_array().into_iter().flatten()
}

fn name(value: &Value) -> &str {
    value["name"].as_str().unwrap_or_default()
}

fn version(value: &Value) -> String {
    value["version_info"].as_str().unwrap_or_default().to_owned()
}
