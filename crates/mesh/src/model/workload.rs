//! What runs somewhere: a pod or a WorkloadEntry.

use super::{Labels, Locality, TlsMode};
use std::sync::Arc;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum WorkloadKind {
    Pod,
    /// A WorkloadEntry, or an endpoint that a ServiceEntry has in it.
    Entry,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Workload {
    pub kind: WorkloadKind,
    /// Of the object.
    pub name: Arc<str>,
    pub namespace: Arc<str>,
    /// What telemetry calls it: the deployment of a pod, the group of an entry.
    pub owner: Arc<str>,
    /// Of a pod: the first one is that of its endpoints.
    pub addresses: Vec<Arc<str>>,
    /// Those of the object, and where it runs: region, zone, subzone, network, cluster, node.
    pub labels: Arc<Labels>,
    /// `spiffe://…`, empty if unknown.
    pub service_account: Arc<str>,
    pub locality: Locality,
    pub network: Arc<str>,
    pub cluster: Arc<str>,
    pub node: Arc<str>,
    /// Its own name within `subdomain`; only with one.
    pub hostname: Arc<str>,
    pub subdomain: Arc<str>,
    /// Of the containers, for named target ports; of an entry, by the names of the service's ports.
    pub ports: Arc<[NamedPort]>,
    /// 0: not said.
    pub weight: u32,
    pub tls: TlsMode,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct NamedPort {
    pub name: Arc<str>,
    pub number: u32,
    pub udp: bool,
}

impl Workload {
    pub fn port(&self, name: &str, udp: bool) -> Option<u32> {
        self.ports.iter().find(|port| &*port.name == name && port.udp == udp).map(|port| port.number)
    }
}
