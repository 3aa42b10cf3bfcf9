//! What the mesh knows, whatever it came from: services, their endpoints, workloads.

mod endpoint;
pub(crate) mod place;
mod protocol;
mod service;
mod workload;

pub use endpoint::{Accounts, Endpoint, Health, Locality, ServiceEndpoints, TlsMode};
pub use protocol::Protocol;
pub use service::{Port, Registry, Resolution, Service, ServiceKey, TrafficDistribution};
pub use workload::{NamedPort, Workload, WorkloadKind};

use std::{collections::BTreeMap, sync::Arc};

/// Shared: endpoints of one pod have the same labels, and so have the many services that select it.
pub type Labels = BTreeMap<Arc<str>, Arc<str>>;
