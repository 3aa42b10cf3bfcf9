#![allow(clippy::needless_pass_by_value, reason = "json!(…) stands in the call")]

use crate::kinds::tests::{accepted, refused, warned};
use serde_json::{Value, json};

const KIND: &str = "Sidecar";

fn ingress(listener: Value) -> Value {
    json!({"ingress": [listener]})
}

fn egress(listener: Value) -> Value {
    json!({"egress": [listener]})
}

#[test]
fn it_must_say_something() {
    refused(KIND, json!({}), &["spec"]);
    refused(KIND, json!({"workloadSelector": {"labels": {"a": "b"}}}), &["spec"]);
    accepted(KIND, json!({"outboundTrafficPolicy": {}}));
    accepted(KIND, json!({"inboundConnectionPool": {"tcp": {}}}));
    refused(KIND, json!({"inboundConnectionPool": {}}), &["spec.inboundConnectionPool"]);
}

#[test]
fn workloads_are_selected_by_plain_labels() {
    warned(KIND, json!({"workloadSelector": {}, "outboundTrafficPolicy": {}}), &["spec.workloadSelector"]);
    refused(
        KIND,
        json!({"workloadSelector": {"labels": {"a": "*"}}, "outboundTrafficPolicy": {}}),
        &["spec.workloadSelector.labels.a"],
    );
}

#[test]
fn an_ingress_listener_has_a_port_and_perhaps_an_address() {
    let port = json!({"number": 80, "protocol": "HTTP", "name": "http"});
    accepted(KIND, ingress(json!({"port": port, "bind": "1.2.3.4", "defaultEndpoint": "127.0.0.1:80"})));
    for (listener, path) in [
        (json!({}), "port"),
        (json!({"port": {}}), "port.number"),
        (json!({"port": {"number": 80, "protocol": "x"}}), "port.protocol"),
        (json!({"port": {"number": 80, "name": "a_b"}}), "port.name"),
        (json!({"port": {"number": 80, "targetPort": 81}}), "port.targetPort"),
        (json!({"port": port, "bind": "unix:///a"}), "bind"),
        (json!({"port": port, "defaultEndpoint": "a:80"}), "defaultEndpoint"),
    ] {
        refused(KIND, ingress(listener), &[&format!("spec.ingress[0].{path}")]);
    }
    let twice = json!({"ingress": [{"port": port}, {"port": port, "bind": "1.2.3.4"}]});
    refused(KIND, twice, &["spec.ingress[1].port.number"]);
}

#[test]
fn an_ingress_listener_may_speak_tls_from_files() {
    let tls = |protocol: &str, tls: Value| {
        ingress(json!({"port": {"number": 443, "protocol": protocol}, "tls": tls}))
    };
    let files = json!({"mode": "SIMPLE", "serverCertificate": "a", "privateKey": "b"});
    accepted(KIND, tls("HTTPS", files.clone()));
    refused(KIND, tls("HTTP", files.clone()), &["spec.ingress[0].tls"]);
    for (field, value) in
        [("subjectAltNames", json!(["a"])), ("httpsRedirect", json!(true)), ("caCrl", json!("a"))]
    {
        let mut tls_settings = files.clone();
        tls_settings[field] = value;
        refused(KIND, tls("TLS", tls_settings), &[&format!("spec.ingress[0].tls.{field}")]);
    }
    refused(KIND, tls("TLS", json!({"mode": "ISTIO_MUTUAL"})), &["spec.ingress[0].tls.mode"]);
    refused(
        KIND,
        tls("TLS", json!({"mode": "SIMPLE", "credentialName": "a"})),
        &["spec.ingress[0].tls.credentialName"],
    );
}

#[test]
fn http_settings_are_of_no_use_to_other_protocols() {
    let pool = |protocol: &str| {
        ingress(json!({"port": {"number": 80, "protocol": protocol}, "connectionPool": {"http": {}}}))
    };
    accepted(KIND, pool("GRPC"));
    warned(KIND, pool("TCP"), &["spec.ingress[0].connectionPool.http"]);
}

#[test]
fn an_egress_listener_is_at_an_address_or_a_socket() {
    let hosts = json!(["*/*"]);
    for listener in [
        json!({"hosts": hosts}),
        json!({"hosts": hosts, "port": {"number": 80, "protocol": "HTTP"}, "bind": "::1"}),
        json!({"hosts": hosts, "port": {}, "bind": "unix:///a", "captureMode": "NONE"}),
    ] {
        accepted(KIND, egress(listener));
    }
    for (listener, path) in [
        (json!({"hosts": hosts, "port": {}}), "bind"),
        (json!({"hosts": hosts, "port": {}, "bind": "unix://a"}), "bind"),
        (json!({"hosts": hosts, "port": {}, "bind": "unix:///a", "captureMode": "IPTABLES"}), "captureMode"),
        (json!({"hosts": hosts, "port": {"number": 80}, "bind": "a"}), "bind"),
        (json!({"hosts": hosts, "port": {"number": 80, "targetPort": 1}}), "port.targetPort"),
        (json!({"hosts": hosts, "port": {"number": 80, "protocol": "x"}}), "port.protocol"),
        (json!({"hosts": hosts, "port": {"number": 65536}}), "port.number"),
        (json!({}), "hosts"),
    ] {
        refused(KIND, egress(listener), &[&format!("spec.egress[0].{path}")]);
    }
}

#[test]
fn egress_listeners_do_not_get_into_each_other_s_way() {
    let of = |port: Value, bind: &str| json!({"hosts": ["*/*"], "port": port, "bind": bind});
    let rest = json!({"hosts": ["./*"]});
    accepted(KIND, json!({"egress": [of(json!({"number": 1}), ""), of(json!({"number": 2}), ""), rest]}));
    refused(
        KIND,
        json!({"egress": [of(json!({"number": 1}), ""), of(json!({"number": 1}), "")]}),
        &["spec.egress[1].port.number"],
    );
    refused(
        KIND,
        json!({"egress": [of(json!({}), "unix:///a"), of(json!({}), "unix:///a")]}),
        &["spec.egress[1].bind"],
    );
    refused(KIND, json!({"egress": [rest, of(json!({"number": 1}), "")]}), &["spec.egress[0].port"]);
}

#[test]
fn hosts_have_a_namespace_and_a_full_name() {
    let hosts = |hosts: &[&str]| egress(json!({"hosts": hosts}));
    accepted(KIND, hosts(&["./*", "a/*.example.com", "*/b.example.com", "~c/*"]));
    for host in ["a.example.com", "a/b", "a/", "/b.c", "a_b/*", "a/*-b.c"] {
        refused(KIND, hosts(&[host]), &["spec.egress[0].hosts[0]"]);
    }
    for (pair, at) in [
        (["a/*", "a/b.c"], "spec.egress[0].hosts[1]"),
        (["a/b.c", "a/*"], "spec.egress[0].hosts[1]"),
        (["./b.c", "space/b.c"], "spec.egress[0].hosts[1]"),
        (["*/*", "a/b.c"], "spec.egress[0].hosts"),
    ] {
        warned(KIND, hosts(&pair), &[at]);
    }
    accepted(KIND, hosts(&["~a/*", "~a/*", "*/*"]));
}

#[test]
fn a_proxy_to_the_outside_is_a_service_of_the_mesh() {
    let outbound =
        |mode: &str, proxy: Value| json!({"outboundTrafficPolicy": {"mode": mode, "egressProxy": proxy}});
    let at = |field: &str| format!("spec.outboundTrafficPolicy.egressProxy{field}");
    let good = json!({"host": "a.b", "port": {"number": 80}});
    accepted(KIND, outbound("ALLOW_ANY", good.clone()));
    refused(KIND, outbound("REGISTRY_ONLY", good), &[&at("")]);
    refused(KIND, outbound("ALLOW_ANY", json!({"host": "a.b"})), &[&at(".port")]);
    for (proxy, field) in [
        (json!({"host": "*", "port": {"number": 80}}), ".host"),
        (json!({"host": "*.b", "port": {"number": 80}}), ".host"),
        (json!({"host": "", "port": {"number": 80}}), ".host"),
        (json!({"host": "a.b", "port": {}}), ".port.number"),
        (json!({"host": "a.b", "port": {"number": 80}, "subset": "a_b"}), ".subset"),
    ] {
        refused(KIND, outbound("ALLOW_ANY", proxy), &[&at(field)]);
    }
}
