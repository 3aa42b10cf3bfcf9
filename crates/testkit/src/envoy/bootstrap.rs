//! Envoy's bootstrap, as a test writes it.
//!
//! In: who the proxy is, where its control plane and its secrets are, what is static. Out: JSON. The node is named
//! and described as Istio's control plane wants it; everything else is left as Envoy has it, statistics above all:
//! Istio's own bootstrap hides most of them, a test wants to count.

use std::{fmt, net::SocketAddr, path::Path};

use serde_json::{Value, json};

#[derive(Clone, Debug)]
pub struct Bootstrap {
    value: Value,
}

impl Bootstrap {
    /// No identity, no control plane: only what is added.
    pub fn plain() -> Self {
        Self { value: json!({ "node": { "id": "test", "cluster": "test" } }) }
    }

    /// The sidecar of a pod.
    pub fn sidecar(address: impl fmt::Display, pod: &str, namespace: &str) -> Self {
        Self::node("sidecar", address, pod, namespace)
    }

    /// A gateway.
    pub fn router(address: impl fmt::Display, pod: &str, namespace: &str) -> Self {
        Self::node("router", address, pod, namespace)
    }

    fn node(role: &str, address: impl fmt::Display, pod: &str, namespace: &str) -> Self {
        let address = address.to_string();
        let value = json!({
            "node": {
                "id": format!("{role}~{address}~{pod}.{namespace}~{namespace}.svc.cluster.local"),
                "cluster": format!("{pod}.{namespace}"),
                "metadata": {
                    "NAME": pod,
                    "NAMESPACE": namespace,
                    "SERVICE_ACCOUNT": "default",
                    "CLUSTER_ID": "Kubernetes",
                    "MESH_ID": "cluster.local",
                    "INSTANCE_IPS": address,
                    "INTERCEPTION_MODE": "REDIRECT",
                    "ISTIO_VERSION": "1.31.0",
                },
            },
            // Part of every Istio bootstrap: its configuration may name internal listeners.
            "bootstrap_extensions": [{
                "name": "envoy.bootstrap.internal_listener",
                "typed_config": {
                    "@type": "type.googleapis.com/envoy.extensions.bootstrap.internal_listener.v3.InternalListener",
                },
            }],
        });
        Self { value }
    }

    /// A word of node metadata, such as `ISTIO_REVISION`. Booleans are strings there.
    #[must_use]
    pub fn metadata(mut self, key: &str, value: impl Into<Value>) -> Self {
        self.value["node"]["metadata"][key] = value.into();
        self
    }

    #[must_use]
    pub fn service_account(self, name: &str) -> Self {
        self.metadata("SERVICE_ACCOUNT", name)
    }

    /// The pod's labels, by which configuration selects the proxy.
    #[must_use]
    pub fn labels<const N: usize>(self, labels: [(&str, &str); N]) -> Self {
        let labels: serde_json::Map<_, _> =
            labels.into_iter().map(|(key, value)| (key.to_owned(), value.into())).collect();
        self.metadata("LABELS", labels)
    }

    /// Takes clusters and listeners from a control plane that speaks incremental ADS without TLS.
    #[must_use]
    pub fn control_plane(self, address: SocketAddr) -> Self {
        self.control_plane_speaking("DELTA_GRPC", address)
    }

    /// The same with the whole state in every response.
    #[must_use]
    pub fn control_plane_state_of_the_world(self, address: SocketAddr) -> Self {
        self.control_plane_speaking("GRPC", address)
    }

    /// The first again, by a name and a port that Envoy looks up itself, as in a pod.
    #[must_use]
    pub fn control_plane_named(self, host: &str, port: u16) -> Self {
        let address = socket_address(host, port);
        self.control_plane_in("DELTA_GRPC", grpc_cluster("xds-grpc", "STRICT_DNS", &address))
    }

    fn control_plane_speaking(self, api_type: &str, address: SocketAddr) -> Self {
        let address = socket_address(&address.ip().to_string(), address.port());
        self.control_plane_in(api_type, grpc_cluster("xds-grpc", "STATIC", &address))
    }

    fn control_plane_in(mut self, api_type: &str, cluster: Value) -> Self {
        // Without a limit for the first answer, as in Istio's bootstrap: otherwise Envoy goes on without it.
        let source = json!({ "ads": {}, "initial_fetch_timeout": "0s", "resource_api_version": "V3" });
        self.value["dynamic_resources"] = json!({
            "cds_config": source,
            "lds_config": source,
            "ads_config": {
                "api_type": api_type,
                "set_node_on_first_message_only": true,
                "transport_api_version": "V3",
                "grpc_services": [{ "envoy_grpc": { "cluster_name": cluster["name"] } }],
            },
        });
        self.cluster(cluster)
    }

    /// Where secrets are served: the socket of an identity of [`crate::secrets::Secrets`].
    #[must_use]
    pub fn secrets(self, socket: &Path) -> Self {
        self.cluster(grpc_cluster("sds-grpc", "STATIC", &json!({ "pipe": { "path": socket } })))
    }

    /// A static cluster.
    #[must_use]
    pub fn cluster(mut self, cluster: Value) -> Self {
        push(&mut self.value["static_resources"]["clusters"], cluster);
        self
    }

    /// A static listener.
    #[must_use]
    pub fn listener(mut self, listener: Value) -> Self {
        push(&mut self.value["static_resources"]["listeners"], listener);
        self
    }

    /// Anything else.
    #[must_use]
    pub fn change(mut self, change: impl FnOnce(&mut Value)) -> Self {
        change(&mut self.value);
        self
    }

    /// Envoy's own pages, at a port of every address.
    #[must_use]
    pub fn admin_port(self, port: u16) -> Self {
        self.change(|value| value["admin"] = json!({ "address": socket_address("0.0.0.0", port) }))
    }

    pub(super) fn with_admin(self, socket: &Path) -> Self {
        self.change(|value| value["admin"] = json!({ "address": { "pipe": { "path": socket } } }))
    }
}

impl From<Value> for Bootstrap {
    fn from(value: Value) -> Self {
        Self { value }
    }
}

impl fmt::Display for Bootstrap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#}", self.value)
    }
}

fn push(list: &mut Value, item: Value) {
    match list.as_array_mut() {
        Some(list) => list.push(item),
        None => *list = Value::Array(vec![item]),
    }
}

fn socket_address(host: &str, port: u16) -> Value {
    json!({ "socket_address": { "address": host, "port_value": port } })
}

fn grpc_cluster(name: &str, kind: &str, address: &Value) -> Value {
    json!({
        "name": name,
        "type": kind,
        "connect_timeout": "1s",
        "load_assignment": { "cluster_name": name, "endpoints": [{ "lb_endpoints": [
            { "endpoint": { "address": address } }] }] },
        "typed_extension_protocol_options": { "envoy.extensions.upstreams.http.v3.HttpProtocolOptions": {
            "@type": "type.googleapis.com/envoy.extensions.upstreams.http.v3.HttpProtocolOptions",
            "explicit_http_config": { "http2_protocol_options": {} },
        } },
    })
}
