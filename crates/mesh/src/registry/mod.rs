//! Services, endpoints and workloads, from Kubernetes and from ServiceEntry and WorkloadEntry.
//!
//! In: objects. Out: `Parts`, each the same `Arc` as before if it did not change, and so each service and the
//! endpoints of each service in them. An event marks what it may have changed; `State::update` converts that anew
//! and nothing else, from the inside out: workloads, then services, then endpoints.

mod endpoint;
mod entry;
mod facts;
mod kubernetes;
mod names;
mod networks;
mod selectors;
mod shards;
mod state;
mod update;
mod workloads;

pub use shards::Shards;
pub(crate) use state::State;
pub use workloads::Workloads;

use crate::{Problem, ServiceEndpoints, ServiceKey, Services};
use std::sync::Arc;

/// A service without an entry has none.
pub type Endpoints = Shards<ServiceKey, Arc<ServiceEndpoints>>;

pub(crate) struct Parts {
    pub(crate) services: Arc<Services>,
    pub(crate) endpoints: Arc<Endpoints>,
    pub(crate) workloads: Arc<Workloads>,
    pub(crate) problems: Arc<Vec<Problem>>,
}

/// Which object of a kind.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct ObjectKey {
    namespace: Arc<str>,
    name: Arc<str>,
}
