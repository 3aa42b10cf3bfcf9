//! Services, endpoints and workloads, from Kubernetes and from ServiceEntry and WorkloadEntry.
//!
//! In: objects. Out: [`Parts`], each the same `Arc` as before if it did not change, and so each service and the endpoints of each service in them.

mod state;
mod workloads;

pub(crate) use state::State;
pub use workloads::Workloads;

use crate::{ServiceEndpoints, ServiceKey, Services};
use std::{collections::HashMap, sync::Arc};

pub(crate) struct Parts {
    pub(crate) services: Arc<Services>,
    pub(crate) endpoints: Arc<HashMap<ServiceKey, Arc<ServiceEndpoints>>>,
    pub(crate) workloads: Arc<Workloads>,
}
