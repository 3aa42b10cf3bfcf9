//! Where the load balancer speaks the PROXY protocol, the ingress gateway has to understand it.

use super::{MESH, resources};
use serde_json::{Value, json};

pub(super) fn desired(version: &str) -> Value {
    let kind = "type.googleapis.com/envoy.extensions.filters.listener.proxy_protocol.v3.ProxyProtocol";
    json!({
        "apiVersion": "networking.istio.io/v1alpha3", "kind": "EnvoyFilter",
        "metadata": resources::metadata("proxy-protocol", MESH, version),
        "spec": {
            "workloadSelector": { "labels": { "istio": "ingressgateway" } },
            "configPatches": [{
                "applyTo": "LISTENER_FILTER",
                "patch": {
                    "operation": "INSERT_FIRST",
                    "value": {
                        "name": "proxy_protocol",
                        "typed_config": { "@type": kind },
                    },
                },
            }],
        },
    })
}
