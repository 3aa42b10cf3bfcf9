//! A service: one host name with its ports.

use super::{Labels, Protocol};
use crate::{Visibility, input::PortName};
use std::sync::Arc;

/// The cluster is not in it: services of one name in several clusters are one service; their endpoints say where they
/// are.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ServiceKey {
    pub host: Arc<str>,
    pub namespace: Arc<str>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Registry {
    Kubernetes,
    /// A ServiceEntry.
    External,
}

/// How a client finds the endpoints.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Resolution {
    /// The control plane sends them.
    Endpoints,
    /// The address that the client asked for (headless, and ServiceEntry's NONE).
    Passthrough,
    Dns,
    DnsRoundRobin,
    /// An ExternalName: another service's name.
    Alias,
    DynamicDns,
}

/// Which endpoints a service would rather have its clients use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum TrafficDistribution {
    #[default]
    Any,
    /// `PreferSameZone`, and its older name `PreferClose`.
    SameZone,
    SameNode,
}

impl TrafficDistribution {
    /// The words are Kubernetes'; another word is no wish.
    pub fn parse(text: &str) -> Option<Self> {
        let is = |word: &str| text.eq_ignore_ascii_case(word);
        if is("PreferClose") || is("PreferSameZone") {
            Some(Self::SameZone)
        } else if is("PreferSameNode") {
            Some(Self::SameNode)
        } else {
            None
        }
    }
}

/// One service of the mesh. An entry with several addresses is as many services with one key: each has its listener,
/// and the first one is the service of that name.
#[derive(Clone, Debug, PartialEq)]
pub struct Service {
    pub key: ServiceKey,
    /// What telemetry calls it: the name of a Kubernetes Service, the host of an entry.
    pub name: Arc<str>,
    /// The name of the object that it came from.
    pub object: Arc<str>,
    pub registry: Registry,
    /// In the order of the object.
    pub ports: Vec<Port>,
    /// The addresses that clients use; none for a headless service. With a prefix length in it is a range.
    pub addresses: Vec<Arc<str>>,
    /// An address that the control plane gave a ServiceEntry without one.
    pub allocated: Vec<Arc<str>>,
    pub resolution: Resolution,
    /// Outside of the mesh: no certificates of ours there.
    pub external: bool,
    pub visibility: Visibility,
    /// RFC 3339, or nothing. The older of two wins.
    pub created: Arc<str>,
    pub labels: Arc<Labels>,
    /// Which workloads it selects.
    pub selector: Arc<Labels>,
    /// Names that its certificates have besides the accounts of its endpoints.
    pub subject_alt_names: Vec<Arc<str>>,
    /// Of an alias.
    pub external_name: Arc<str>,
    pub publish_not_ready: bool,
    /// `ClientIP`
    pub session_affinity: bool,
    /// `internalTrafficPolicy: Local`: only endpoints on the client's node.
    pub node_local: bool,
    pub traffic_distribution: TrafficDistribution,
    /// Load balancer addresses and external IPs.
    pub external_addresses: Vec<Arc<str>>,
    pub headless: bool,
    /// The Kubernetes type (`ClusterIP`, `NodePort`, …), empty for entries.
    pub kind: Arc<str>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Port {
    pub name: Arc<str>,
    pub number: u32,
    pub protocol: Protocol,
    /// Where a workload listens for it, as the object says it.
    pub target: Option<PortName>,
}

impl Service {
    pub fn host(&self) -> &str {
        &self.key.host
    }

    pub fn namespace(&self) -> &str {
        &self.key.namespace
    }

    pub fn port(&self, number: u32) -> Option<&Port> {
        self.ports.iter().find(|port| port.number == number)
    }
}
