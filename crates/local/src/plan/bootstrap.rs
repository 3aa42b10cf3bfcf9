//! What an Envoy starts with: who it is, where its control plane and its secrets are, and where it can be asked. Everything else
//! comes over xDS. Sockets are named relative to the folder that it runs in, because their paths may not be long.

use super::{Capture, GATEWAY, HTTP_PROXY_PORT, NAMESPACE, Plan, Workload};
use mizzen_envoy::local::{APP_ADDRESSES, LOCAL_ADDRESS};
use mizzen_identity::Spiffe;
use serde_json::{Map, Value, json};
use std::net::SocketAddr;

/// Istio's version that configuration is made for.
const ISTIO: &str = "1.31.0";

/// Without a workload, that of the gateway.
pub(crate) fn bootstrap(plan: &Plan, workload: Option<&Workload>) -> Value {
    let (kind, name, address, identity, labels) = match workload {
        Some(workload) => (
            "sidecar",
            workload.name.as_str(),
            workload.address.to_string(),
            &workload.identity,
            json!({ "app": workload.service, "version": workload.version }),
        ),
        None => (
            "router",
            GATEWAY,
            plan.gateway.inside.ip().to_string(),
            &plan.gateway.identity,
            json!({ "app": "istio-ingressgateway", "istio": "ingressgateway" }),
        ),
    };
    let mut metadata = metadata(name, &address, identity, &labels);
    match workload {
        Some(_) if plan.capture == Capture::Netns => {}
        Some(workload) => {
            let apps: Map<String, Value> = workload
                .ports
                .iter()
                .map(|port| (port.inbound.to_string(), port.app.to_string().into()))
                .collect();
            metadata["INTERCEPTION_MODE"] = "NONE".into();
            metadata["UNPRIVILEGED_POD"] = "true".into();
            metadata["HTTP_PROXY_PORT"] = HTTP_PROXY_PORT.to_string().into();
            metadata[LOCAL_ADDRESS] = workload.local.to_string().into();
            metadata[APP_ADDRESSES] = apps.into();
        }
        None => metadata[LOCAL_ADDRESS] = address.clone().into(),
    }
    let ads = json!({ "ads": {}, "initial_fetch_timeout": "0s", "resource_api_version": "V3" });
    json!({
        "node": {
            "id": format!("{kind}~{address}~{name}.{NAMESPACE}~{NAMESPACE}.svc.cluster.local"),
            "cluster": format!("{name}.{NAMESPACE}"),
            "metadata": metadata,
        },
        "admin": { "address": { "pipe": { "path": admin_socket(name), "mode": 0o600 } } },
        "dynamic_resources": {
            "cds_config": ads,
            "lds_config": ads,
            "ads_config": {
                "api_type": "DELTA_GRPC",
                "set_node_on_first_message_only": true,
                "transport_api_version": "V3",
                "grpc_services": [{ "envoy_grpc": { "cluster_name": "xds-grpc" } }],
            },
        },
        "static_resources": { "clusters": [
            cluster("xds-grpc", &socket(plan.control_plane.xds)),
            cluster("sds-grpc", &json!({ "pipe": { "path": secrets_socket(name) } })),
        ] },
        // Times are computed when statistics are flushed, and people look at them now.
        "stats_flush_interval": "1s",
        // Internal listeners may be named by what the control plane sends.
        "bootstrap_extensions": [{
            "name": "envoy.bootstrap.internal_listener",
            "typed_config": {
                "@type": "type.googleapis.com/envoy.extensions.bootstrap.internal_listener.v3.InternalListener",
            },
        }],
        // Nobody comes to a laptop's mesh in thousands.
        "overload_manager": { "resource_monitors": [{
            "name": "envoy.resource_monitors.global_downstream_max_connections",
            "typed_config": {
                "@type": "type.googleapis.com/envoy.extensions.resource_monitors.downstream_connections.v3.DownstreamConnectionsConfig",
                "max_active_downstream_connections": 10_000,
            },
        }] },
    })
}

pub(crate) fn admin_socket(name: &str) -> String {
    format!("{name}.admin.sock")
}

pub(crate) fn secrets_socket(name: &str) -> String {
    format!("{name}.secrets.sock")
}

fn metadata(name: &str, address: &str, identity: &Spiffe, labels: &Value) -> Value {
    json!({
        "NAME": name,
        "NAMESPACE": NAMESPACE,
        "SERVICE_ACCOUNT": identity.service_account,
        "CLUSTER_ID": "Kubernetes",
        "MESH_ID": identity.trust_domain,
        "INSTANCE_IPS": address,
        "ISTIO_VERSION": ISTIO,
        "LABELS": labels,
    })
}

fn socket(address: SocketAddr) -> Value {
    json!({ "socket_address": { "address": address.ip().to_string(), "port_value": address.port() } })
}

fn cluster(name: &str, address: &Value) -> Value {
    json!({
        "name": name,
        "type": "STATIC",
        "connect_timeout": "1s",
        "load_assignment": { "cluster_name": name, "endpoints": [{ "lb_endpoints": [
            { "endpoint": { "address": address } }] }] },
        "typed_extension_protocol_options": { "envoy.extensions.upstreams.http.v3.HttpProtocolOptions": {
            "@type": "type.googleapis.com/envoy.extensions.upstreams.http.v3.HttpProtocolOptions",
            "explicit_http_config": { "http2_protocol_options": {} },
        } },
    })
}
