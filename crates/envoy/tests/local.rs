//! Proxies that share a machine's network, as under `mizzen up`.
#![allow(clippy::unwrap_used, reason = "a broken test may panic")]

mod support;

use mizzen_envoy::routes;
use serde_json::{Value, json};
use std::sync::Arc;
use support::{Mesh, mk_proxy};

const OBJECTS: &str = r#"
apiVersion: v1
kind: Service
metadata: {name: web, namespace: default}
spec: {clusterIP: 240.240.0.1, selector: {app: web}, ports: [{name: http, port: 80, targetPort: 10080}, {name: tcp, port: 7000}]}
---
apiVersion: v1
kind: Pod
metadata: {name: client, namespace: default, labels: {app: web, istio: ingressgateway}}
status: {phase: Running, podIP: 127.70.0.2, podIPs: [{ip: 127.70.0.2}]}
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: web, namespace: default, labels: {kubernetes.io/service-name: web}}
addressType: IPv4
ports: [{name: http, port: 10080}, {name: tcp, port: 7000}]
endpoints: [{addresses: [127.70.0.2], conditions: {ready: true}, targetRef: {kind: Pod, name: client, namespace: default}}]
---
apiVersion: networking.istio.io/v1
kind: Gateway
metadata: {name: g, namespace: default}
spec:
  selector: {istio: ingressgateway}
  servers: [{port: {number: 8080, name: http, protocol: HTTP}, hosts: ["*"]}]
"#;

fn local(more: &Value) -> Value {
    let mut metadata = json!({
        "INTERCEPTION_MODE": "NONE", "UNPRIVILEGED_POD": "true", "HTTP_PROXY_PORT": "15002",
        "MIZZEN_LOCAL_ADDRESS": "127.70.1.2",
        "MIZZEN_APP_ADDRESSES": {"10080": "127.0.0.1:20500", "7000": "127.0.0.1:20501"},
    });
    for (key, value) in more.as_object().into_iter().flatten() {
        metadata[key] = value.clone();
    }
    metadata
}

#[test]
fn a_sidecar_takes_calls_for_its_workload_at_one_address_and_its_calls_at_another() {
    let mut mesh = Mesh::new(OBJECTS);
    let proxy = mk_proxy("sidecar", "127.70.0.2", &local(&json!({})));
    let listeners = mesh.listeners(&proxy);
    let names: Vec<&str> = listeners.keys().map(String::as_str).collect();
    // Port 80 of the service is for root alone; it is reached through the HTTP proxy.
    assert_eq!(names, ["127.70.0.2_10080", "127.70.0.2_7000", "127.70.1.2_15002", "127.70.1.2_7000"]);
    for (name, direction) in
        [("127.70.0.2_10080", "INBOUND"), ("127.70.0.2_7000", "INBOUND"), ("127.70.1.2_15002", "OUTBOUND")]
    {
        let listener = &listeners[name];
        assert_eq!(listener["trafficDirection"], direction, "{name}");
        assert_eq!(listener["bindToPort"], Value::Null, "{name}");
        let (address, port) = name.split_once('_').unwrap();
        let socket = &listener["address"]["socketAddress"];
        assert_eq!(
            (socket["address"].as_str(), socket["portValue"].to_string()),
            (Some(address), port.to_owned())
        );
    }
    // Mutual TLS, and plain text as long as nobody forbids it.
    assert_eq!(listeners["127.70.0.2_10080"]["filterChains"].as_array().unwrap().len(), 2);

    let clusters = mesh.clusters(&proxy);
    for (name, port) in [("inbound|10080||", 20500), ("inbound|7000||", 20501)] {
        let cluster = &clusters[name];
        assert_eq!(cluster["type"], "STATIC", "{cluster}");
        let endpoint = &cluster["loadAssignment"]["endpoints"][0]["lbEndpoints"][0]["endpoint"];
        assert_eq!(
            endpoint["address"]["socketAddress"],
            json!({"address": "127.0.0.1", "portValue": port}),
            "{cluster}"
        );
    }
}

#[test]
fn its_http_proxy_finds_services_by_name_and_port() {
    let mut mesh = Mesh::new(OBJECTS);
    let mut ignores_port = |metadata: &Value| {
        let proxy: Arc<_> = mk_proxy("sidecar", "127.70.0.2", metadata);
        let (resource, _) = mesh.look(&proxy, |context| routes::build(context, "http_proxy"));
        let resource = resource.unwrap();
        let text = String::from_utf8_lossy(resource.body()).into_owned();
        assert!(text.contains("web:80"), "{text}");
        support::ignores_port(resource.body())
    };
    assert!(!ignores_port(&local(&json!({}))));
    assert!(
        ignores_port(&json!({"INTERCEPTION_MODE": "NONE", "HTTP_PROXY_PORT": "15002"})),
        "as Istio has it"
    );
}

#[test]
fn an_address_that_is_none_or_a_proxy_that_is_redirected_to_changes_nothing() {
    let mut mesh = Mesh::new(OBJECTS);
    for metadata in [
        json!({"INTERCEPTION_MODE": "NONE", "UNPRIVILEGED_POD": "true", "MIZZEN_LOCAL_ADDRESS": "nowhere"}),
        json!({"INTERCEPTION_MODE": "NONE", "UNPRIVILEGED_POD": "true"}),
    ] {
        let names: Vec<String> =
            mesh.listeners(&mk_proxy("sidecar", "127.70.0.2", &metadata)).into_keys().collect();
        assert_eq!(names, ["127.0.0.1_7000"], "{metadata}");
    }
    let redirected = local(&json!({"INTERCEPTION_MODE": "REDIRECT"}));
    let names: Vec<String> =
        mesh.listeners(&mk_proxy("sidecar", "127.70.0.2", &redirected)).into_keys().collect();
    assert!(
        names.contains(&"virtualInbound".to_owned()) && names.contains(&"127.0.0.1_15002".to_owned()),
        "{names:?}"
    );
    assert_eq!(
        mesh.clusters(&mk_proxy("sidecar", "127.70.0.2", &redirected))["inbound|7000||"]["type"],
        "ORIGINAL_DST"
    );
}

#[test]
fn a_gateway_listens_there_instead_of_everywhere() {
    let mut mesh = Mesh::new(OBJECTS);
    let labels = json!({"LABELS": {"istio": "ingressgateway"}, "MIZZEN_LOCAL_ADDRESS": "127.0.0.1"});
    let names: Vec<String> = mesh.listeners(&mk_proxy("router", "127.0.0.1", &labels)).into_keys().collect();
    assert_eq!(names, ["127.0.0.1_8080"]);
    let names: Vec<String> = mesh
        .listeners(&mk_proxy("router", "127.0.0.1", &json!({"LABELS": {"istio": "ingressgateway"}})))
        .into_keys()
        .collect();
    assert_eq!(names, ["0.0.0.0_8080"]);
}
