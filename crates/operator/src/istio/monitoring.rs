//! What watches the mesh from outside: scraping by a Prometheus operator, and a page that answers as long as the ingress gateway does.

use super::MESH;
use serde_json::{Value, json};

pub(super) const GROUP: &str = "monitoring.coreos.com";
pub(super) const KIND: &str = "ServiceMonitor";

/// Of a name and a namespace: whoever keeps the objects marks them.
pub(super) type Metadata<'m> = &'m dyn Fn(&str, &str) -> Value;

/// One for the control plane, one for the gateways. Sidecars are scraped by the annotations of their pods: a monitor of all Services would
/// scrape a pod once for each of them.
pub(super) fn monitors(metadata: Metadata<'_>) -> Vec<Value> {
    let monitor = |name: &str, selector: Value, endpoint: Value| {
        json!({
            "apiVersion": format!("{GROUP}/v1"), "kind": KIND,
            "metadata": metadata(name, MESH),
            "spec": {
                "jobLabel": "istio",
                "namespaceSelector": { "matchNames": [MESH] },
                "selector": selector,
                "endpoints": [endpoint],
            },
        })
    };
    let gateways = json!({ "key": "istio", "operator": "In", "values": ["ingressgateway", "egressgateway"] });
    // The agent's port is in no Service: the pod is found by a port that every gateway has.
    let at_the_agent = json!([
        { "action": "replace", "sourceLabels": ["__meta_kubernetes_pod_ip"], "regex": "([0-9.]+)", "replacement": "$1:15020", "targetLabel": "__address__" },
        { "action": "replace", "sourceLabels": ["__meta_kubernetes_pod_ip"], "regex": "(.*:.*)", "replacement": "[$1]:15020", "targetLabel": "__address__" },
    ]);
    vec![
        monitor(
            "istio-control-plane",
            json!({ "matchLabels": { "istio": "pilot" } }),
            json!({ "port": "http-monitoring", "path": "/metrics", "interval": "30s" }),
        ),
        monitor(
            "istio-gateways",
            json!({ "matchExpressions": [gateways] }),
            json!({ "port": "https", "scheme": "http", "path": "/stats/prometheus", "interval": "30s", "relabelings": at_the_agent }),
        ),
    ]
}

/// `healthz.DOMAIN/healthz/ready` is answered by the gateway itself.
pub(super) fn health(domain: &str, gateway: &str, metadata: Metadata<'_>) -> Value {
    json!({
        "apiVersion": "networking.istio.io/v1", "kind": "VirtualService",
        "metadata": metadata("istio-healthz", MESH),
        "spec": {
            "hosts": [format!("healthz.{domain}")],
            "gateways": [gateway],
            "http": [{
                "match": [{ "uri": { "exact": "/healthz/ready" } }],
                "route": [{ "destination": {
                    "host": format!("istio-ingressgateway.{MESH}.svc.cluster.local"), "port": { "number": 15021 },
                } }],
            }],
        },
    })
}
