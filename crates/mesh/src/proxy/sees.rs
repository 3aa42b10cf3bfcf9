//! What a proxy sees of services and routes, recorded by identity: proxies of two namespaces that see the very same may
//! share what is built of it.

use super::{Attributes, Question};
use crate::{
    Seen, ServiceKey, Visible,
    config::{L4Routes, Routed, VirtualService},
};
use std::sync::Arc;

/// A [`crate::Scope`] through a proxy's recorded attributes.
#[derive(Clone, Copy)]
pub struct Sees<'a>(&'a Attributes);

impl Attributes {
    pub fn scope(&self) -> Sees<'_> {
        Sees(self)
    }
}

impl<'a> Sees<'a> {
    /// All of it: the very same for all who see the same.
    pub fn seen(self) -> &'a Arc<Seen> {
        self.0.ask(Question::Seen);
        &self.0.facts.scope.seen
    }

    /// One for each host: what clusters are made for.
    pub fn services(self) -> &'a [Visible] {
        self.seen().services()
    }

    /// What listeners and routes are made for: the same, but services with one host in one namespace are not merged, and
    /// none is here only because a route leads to it.
    pub fn offered(self) -> &'a [Visible] {
        self.seen().offered()
    }

    pub fn service(self, host: &str) -> Option<&'a Visible> {
        self.seen().service(host)
    }

    pub fn has(self, key: &ServiceKey) -> bool {
        self.service(&key.host).is_some_and(|visible| visible.service.key.namespace == key.namespace)
    }

    /// For sidecars (gateway `mesh`). A router asks [`crate::VirtualServices`] by the names of its gateways.
    pub fn http(self) -> &'a Arc<Routed<VirtualService>> {
        self.0.ask(Question::HttpRoutes);
        &self.0.facts.scope.http
    }

    /// Those with TLS and TCP routes.
    pub fn l4(self) -> &'a Arc<Routed<L4Routes>> {
        self.0.ask(Question::L4Routes);
        &self.0.facts.scope.l4
    }
}
