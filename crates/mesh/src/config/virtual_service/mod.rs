//! VirtualServices: whose routes hold for whom.
//!
//! In: the objects. Out: [`VirtualServices`], which proxies ask by the gateway that they stand for (`mesh`: sidecars) and their
//! namespace. HTTP routes and the rest (TLS, TCP) are apart, because listeners are made of the latter only: a change of the
//! one leaves the other the same `Arc`.

mod bindings;
mod delegate;
mod prepare;
mod routed;
mod state;

pub use bindings::Bindings;
pub use routed::Routed;
pub(super) use state::State;

use crate::{Key, Visibility};
use mizzen_api::proto::istio::networking::v1alpha3;
use std::sync::Arc;

/// A VirtualService ready for use: short names made whole, delegates merged in.
#[derive(Debug, PartialEq)]
pub struct VirtualService {
    pub key: Key,
    pub created: Arc<str>,
    pub visibility: Visibility,
    /// `mesh` or `namespace/name`; never empty.
    pub gateways: Vec<String>,
    /// Without its TLS and TCP routes: those are in `l4`.
    pub spec: v1alpha3::VirtualService,
    pub l4: Option<Arc<L4Routes>>,
}

/// What of a VirtualService a listener is made of. Only of those that have such routes.
#[derive(Debug, PartialEq)]
pub struct L4Routes {
    pub key: Key,
    pub created: Arc<str>,
    pub visibility: Visibility,
    pub gateways: Vec<String>,
    pub hosts: Vec<String>,
    pub tls: Vec<v1alpha3::TlsRoute>,
    pub tcp: Vec<v1alpha3::TcpRoute>,
}

/// All of them, each list in Istio's order: those of the own namespace alone, those that others made visible to it, the
/// public ones; among each the older first, then by name and namespace.
#[derive(Debug, Default)]
pub struct VirtualServices {
    /// All, for routes.
    pub http: Arc<Bindings<VirtualService>>,
    /// Those with TLS or TCP routes, for listeners.
    pub l4: Arc<Bindings<L4Routes>>,
}

impl VirtualServices {
    /// Those that are bound to the gateway `namespace/name` (or `mesh`) and visible in `namespace`, which is the proxy's.
    pub fn for_gateway(&self, gateway: &str, namespace: &str) -> Vec<Arc<VirtualService>> {
        self.http.of(gateway, Some(namespace))
    }

    /// The same for TLS and TCP routes.
    pub fn l4_for_gateway(&self, gateway: &str, namespace: &str) -> Vec<Arc<L4Routes>> {
        self.l4.of(gateway, Some(namespace))
    }
}

/// What both have that are bound to gateways.
pub trait Bound {
    fn key(&self) -> &Key;
    fn visibility(&self) -> &Visibility;
    fn gateways(&self) -> &[String];
    fn hosts(&self) -> &[String];
}

impl Bound for VirtualService {
    fn key(&self) -> &Key {
        &self.key
    }

    fn visibility(&self) -> &Visibility {
        &self.visibility
    }

    fn gateways(&self) -> &[String] {
        &self.gateways
    }

    fn hosts(&self) -> &[String] {
        &self.spec.hosts
    }
}

impl Bound for L4Routes {
    fn key(&self) -> &Key {
        &self.key
    }

    fn visibility(&self) -> &Visibility {
        &self.visibility
    }

    fn gateways(&self) -> &[String] {
        &self.gateways
    }

    fn hosts(&self) -> &[String] {
        &self.hosts
    }
}
