//! What a proxy in a namespace sees: services with their rules, and the routes that hold for it. (A Sidecar object will narrow it.)
//!
//! Each part is the same `Arc` for all namespaces that see the same, and the same as in the last snapshot if it did not change.

mod keep;
mod made;
mod seen;
mod selection;
mod table;

pub use seen::{Seen, Visible};
pub(crate) use table::Scopes;

use crate::{
    ServiceKey,
    config::{L4Routes, Routed, VirtualService},
};
use std::sync::Arc;

#[derive(Debug)]
pub struct Scope {
    pub seen: Arc<Seen>,
    /// For sidecars (gateway `mesh`). A router asks [`crate::VirtualServices`] by the names of its gateways.
    pub http: Arc<Routed<VirtualService>>,
    /// Those with TLS and TCP routes. The same `Arc` as before if only HTTP routes changed.
    pub l4: Arc<Routed<L4Routes>>,
}

impl Scope {
    /// One for each host: what clusters are made for.
    pub fn services(&self) -> &[Visible] {
        self.seen.services()
    }

    /// What listeners and routes are made for: the same, but services with one host in one namespace are not merged, and none is here only
    /// because a route leads to it.
    pub fn offered(&self) -> &[Visible] {
        self.seen.offered()
    }

    pub fn service(&self, host: &str) -> Option<&Visible> {
        self.seen.service(host)
    }

    pub fn has(&self, key: &ServiceKey) -> bool {
        self.service(&key.host).is_some_and(|visible| visible.service.key.namespace == key.namespace)
    }
}
