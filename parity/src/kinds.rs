//! The kinds that scenarios are made of, and where the API server keeps them.

use anyhow::{Context as _, Result};
use serde_json::Value;

pub struct Kind {
    pub kind: &'static str,
    /// With its version: the one under which objects are read back.
    pub api: &'static str,
    pub plural: &'static str,
    pub namespaced: bool,
}

const fn kind(kind: &'static str, api: &'static str, plural: &'static str) -> Kind {
    Kind { kind, api, plural, namespaced: true }
}

/// In the order in which they are written down.
pub const KINDS: &[Kind] = &[
    Kind { kind: "Namespace", api: "v1", plural: "namespaces", namespaced: false },
    Kind { kind: "Node", api: "v1", plural: "nodes", namespaced: false },
    kind("Service", "v1", "services"),
    kind("EndpointSlice", "discovery.k8s.io/v1", "endpointslices"),
    kind("Pod", "v1", "pods"),
    kind("ServiceEntry", "networking.istio.io/v1", "serviceentries"),
    kind("WorkloadEntry", "networking.istio.io/v1", "workloadentries"),
    kind("WorkloadGroup", "networking.istio.io/v1", "workloadgroups"),
    kind("Gateway", "networking.istio.io/v1", "gateways"),
    kind("VirtualService", "networking.istio.io/v1", "virtualservices"),
    kind("DestinationRule", "networking.istio.io/v1", "destinationrules"),
    kind("Sidecar", "networking.istio.io/v1", "sidecars"),
    kind("ProxyConfig", "networking.istio.io/v1beta1", "proxyconfigs"),
    kind("EnvoyFilter", "networking.istio.io/v1alpha3", "envoyfilters"),
    kind("PeerAuthentication", "security.istio.io/v1", "peerauthentications"),
    kind("RequestAuthentication", "security.istio.io/v1", "requestauthentications"),
    kind("AuthorizationPolicy", "security.istio.io/v1", "authorizationpolicies"),
    kind("Telemetry", "telemetry.istio.io/v1", "telemetries"),
];

impl Kind {
    /// By an object's `apiVersion` and `kind`; any version of the group will do.
    pub fn of(object: &Value) -> Result<&'static Self> {
        let (api, name) = (text(object, "apiVersion"), text(object, "kind"));
        let group = |api: &str| api.rsplit_once('/').map_or(String::new(), |(group, _)| group.to_owned());
        let found = KINDS.iter().find(|kind| kind.kind == name && group(kind.api) == group(api));
        found.with_context(|| format!("a scenario cannot have objects of kind {api} {name}"))
    }

    /// The collection of an object of this kind.
    pub fn path(&self, api: &str, namespace: Option<&str>) -> String {
        let root = if api.contains('/') { "apis" } else { "api" };
        match namespace.filter(|_| self.namespaced) {
            Some(namespace) => format!("/{root}/{api}/namespaces/{namespace}/{}", self.plural),
            None => format!("/{root}/{api}/{}", self.plural),
        }
    }
}

pub(crate) fn text<'v>(object: &'v Value, key: &str) -> &'v str {
    object[key].as_str().unwrap_or_default()
}

/// `default` if nothing is said, as kubectl has it.
pub(crate) fn namespace(object: &Value) -> &str {
    object["metadata"]["namespace"].as_str().unwrap_or("default")
}

pub(crate) fn name(object: &Value) -> &str {
    text(&object["metadata"], "name")
}
