//! Where a service's requests can go.

use super::Labels;
use std::{collections::BTreeSet, sync::Arc};

#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Locality {
    pub region: Arc<str>,
    pub zone: Arc<str>,
    pub subzone: Arc<str>,
}

impl Locality {
    /// `region/zone/subzone`, or less of it; what comes after is not counted.
    pub fn parse(text: &str) -> Self {
        let mut parts = text.split('/').map(Arc::from);
        Self {
            region: parts.next().unwrap_or_default(),
            zone: parts.next().unwrap_or_default(),
            subzone: parts.next().unwrap_or_default(),
        }
    }

    /// From a label, where a slash is not allowed and a dot stands for it.
    pub fn parse_label(text: &str) -> Self {
        if text.contains('/') { Self::parse(text) } else { Self::parse(&text.replace('.', "/")) }
    }

    pub fn is_empty(&self) -> bool {
        self.region.is_empty() && self.zone.is_empty() && self.subzone.is_empty()
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Health {
    #[default]
    Healthy,
    /// Nobody looks: an address in a ServiceEntry, a WorkloadEntry without health checks.
    Unknown,
    Unhealthy,
    /// Finishes what it has, takes nothing new unless it must.
    Draining,
    Terminating,
}

/// What the workload behind an endpoint can speak.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum TlsMode {
    #[default]
    Disabled,
    /// It has a sidecar: mutual TLS with the mesh's certificates.
    Istio,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Endpoint {
    /// An address, a name to resolve, or `unix://…`. More than one with several families.
    pub addresses: Vec<Arc<str>>,
    /// The number there.
    pub port: u32,
    /// Which port of the service it serves, by name.
    pub port_name: Arc<str>,
    /// The same by number, for endpoints of entries; 0 for those of Kubernetes.
    pub service_port: u32,
    pub labels: Arc<Labels>,
    /// `spiffe://…`, empty if unknown.
    pub service_account: Arc<str>,
    pub locality: Locality,
    /// 0: not said.
    pub weight: u32,
    pub network: Arc<str>,
    pub cluster: Arc<str>,
    pub workload: Arc<str>,
    pub namespace: Arc<str>,
    pub hostname: Arc<str>,
    pub subdomain: Arc<str>,
    pub node: Arc<str>,
    pub tls: TlsMode,
    pub health: Health,
}

/// The accounts that a service's endpoints run as, besides those that its object names. Apart from the endpoints, because clusters depend
/// on these alone.
pub type Accounts = BTreeSet<Arc<str>>;

/// All endpoints of a service, over its ports.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ServiceEndpoints {
    /// In the order of Istio: by registry and object.
    pub endpoints: Vec<Arc<Endpoint>>,
    /// The same `Arc` as before if the endpoints changed but not their accounts.
    pub accounts: Arc<Accounts>,
}
