//! Each rule once broken, and once kept.

#![expect(clippy::needless_pass_by_value, reason = "json! is read more easily without a & before it")]

use super::super::tests::{accepted, refused, refused_with, warned};
use serde_json::{Value, json};

fn policy(field: &str, value: Value) -> Value {
    json!({"host": "a", "trafficPolicy": {field: value}})
}

/// `trafficPolicy.FIELD` is refused at these paths below it.
fn refused_below(field: &str, value: Value, below: &[&str]) {
    let at: Vec<_> = below.iter().map(|path| format!("spec.trafficPolicy.{field}{path}")).collect();
    refused("DestinationRule", policy(field, value), &at.iter().map(String::as_str).collect::<Vec<_>>());
}

#[test]
fn a_rule_has_a_host_and_subsets_with_names_of_their_own() {
    refused("DestinationRule", json!({}), &["spec.host"]);
    refused("DestinationRule", json!({"host": "a", "trafficPolicy": {}}), &["spec.trafficPolicy"]);
    refused(
        "DestinationRule",
        json!({"host": "a", "subsets": [{"name": "v1"}, {"name": "v1"}, {"name": "a.b", "labels": {"-": "x y"}}]}),
        &[
            "spec.subsets[1].name",
            "spec.subsets[2].name",
            "spec.subsets[2].labels.-",
            "spec.subsets[2].labels.-",
        ],
    );
    accepted(
        "DestinationRule",
        json!({"host": "*.a.b", "subsets": [{"name": "v1", "labels": {"app": "x"}}]}),
    );
}

#[test]
fn a_rule_for_some_workloads_stays_in_its_namespace() {
    let selector = json!({"matchLabels": {"app": "x"}});
    refused(
        "DestinationRule",
        json!({"host": "a", "exportTo": ["*"], "workloadSelector": selector}),
        &["spec.exportTo"],
    );
    accepted("DestinationRule", json!({"host": "a", "exportTo": ["."], "workloadSelector": selector}));
    warned("DestinationRule", json!({"host": "a", "workloadSelector": {}}), &["spec.workloadSelector"]);
}

#[test]
fn connections_are_not_negative_and_times_are_at_least_a_millisecond() {
    refused_below("connectionPool", json!({}), &[""]);
    refused_below(
        "connectionPool",
        json!({
            "http": {"maxRetries": -1, "idleTimeout": "0s", "h2UpgradePolicy": "UPGRADE", "useClientProtocol": true,
                "http2KeepAlive": {"interval": "1us"}},
            "tcp": {"maxConnections": -1, "connectTimeout": "1.0001s", "idleTimeout": "-5s", "tcpKeepalive": {"time": "0s"}},
        }),
        &[
            ".http.maxRetries",
            ".http.idleTimeout",
            ".http.useClientProtocol",
            ".http.http2KeepAlive.interval",
            ".http.http2KeepAlive.timeout",
            ".tcp.maxConnections",
            ".tcp.connectTimeout",
            ".tcp.idleTimeout",
            ".tcp.tcpKeepalive.time",
        ],
    );
    accepted(
        "DestinationRule",
        policy("connectionPool", json!({"tcp": {"idleTimeout": "0s", "connectTimeout": "1ms"}})),
    );
}

#[test]
fn outliers() {
    refused_below(
        "outlierDetection",
        json!({"interval": "0s", "maxEjectionPercent": 101, "minHealthPercent": -1, "consecutiveLocalOriginFailures": 1}),
        &[".interval", ".consecutiveLocalOriginFailures", ".maxEjectionPercent", ".minHealthPercent"],
    );
    accepted(
        "DestinationRule",
        policy(
            "outlierDetection",
            json!({"splitExternalLocalOriginErrors": true, "consecutiveLocalOriginFailures": 1}),
        ),
    );
    warned(
        "DestinationRule",
        policy("outlierDetection", json!({"consecutiveErrors": 1})),
        &["spec.trafficPolicy.outlierDetection.consecutiveErrors"],
    );
}

#[test]
fn only_the_rule_s_own_policy_is_warned_of() {
    let deprecated = json!({"outlierDetection": {"consecutiveErrors": 1}});
    accepted(
        "DestinationRule",
        json!({"host": "a", "subsets": [{"name": "v", "trafficPolicy": deprecated}]}),
    );
    let port = json!({"port": {"number": 1}, "outlierDetection": {"consecutiveErrors": 1}});
    accepted("DestinationRule", policy("portLevelSettings", json!([port])));
}

#[test]
fn balancing_by_a_hash() {
    let hash = |value: Value| json!({"consistentHash": value});
    refused_below(
        "loadBalancer",
        hash(json!({"httpCookie": {"ttl": "1s", "attributes": [{}, {"name": "a"}, {"name": "a"}]}})),
        &[
            ".consistentHash.httpCookie.name",
            ".consistentHash.httpCookie.attributes[0].name",
            ".consistentHash.httpCookie.attributes[2].name",
        ],
    );
    for size in [json!(0), json!(4), json!(5_000_011), json!("18446744073709551615")] {
        refused_below(
            "loadBalancer",
            hash(json!({"maglev": {"tableSize": size}})),
            &[".consistentHash.maglev.tableSize"],
        );
    }
    refused_below(
        "loadBalancer",
        hash(json!({"minimumRingSize": 1, "ringHash": {}})),
        &[".consistentHash.minimumRingSize"],
    );
    accepted("DestinationRule", policy("loadBalancer", hash(json!({"maglev": {"tableSize": 65_537}}))));
    warned(
        "DestinationRule",
        policy("loadBalancer", hash(json!({"minimumRingSize": 1}))),
        &["spec.trafficPolicy.loadBalancer.consistentHash.minimumRingSize"],
    );
}

#[test]
fn a_warm_up_takes_its_time() {
    refused_below(
        "loadBalancer",
        json!({"warmup": {"minimumPercent": 101, "aggression": 0}}),
        &[".warmup.duration", ".warmup.minimumPercent", ".warmup.aggression"],
    );
    accepted(
        "DestinationRule",
        policy("loadBalancer", json!({"warmup": {"duration": "1s", "aggression": 0.5}})),
    );
}

#[test]
fn places_share_a_hundred_percent_and_do_not_overlap() {
    let locality = |value: Value| json!({"localityLbSetting": value});
    refused_below(
        "loadBalancer",
        locality(json!({"distribute": [
            {"from": "a/*", "to": {"b": 60, "b/c": 41}},
            {"from": "a/b", "to": {"c": 0, "d": 100}},
        ]})),
        &[
            ".localityLbSetting.distribute[0].to",
            ".localityLbSetting.distribute[0].to[\"b/c\"]",
            ".localityLbSetting.distribute[1].to.c",
            ".localityLbSetting.distribute[1].from",
        ],
    );
    refused_below(
        "loadBalancer",
        locality(json!({
            "distribute": [{"from": "x", "to": {"y": 100}}],
            "failover": [{"from": "a", "to": "a"}, {"from": "a/b", "to": "*"}],
            "failoverPriority": ["topology.kubernetes.io/zone"],
        })),
        &[
            ".localityLbSetting",
            ".localityLbSetting.failoverPriority[0]",
            ".localityLbSetting.failover[0].to",
            ".localityLbSetting.failover[1].from",
            ".localityLbSetting.failover[1].to",
        ],
    );
    refused_below(
        "loadBalancer",
        json!({"localityLbSetting": {}, "zoneAwareLbSetting": {"failoverPriority": ["topology.istio.io/subzone"]}}),
        &["", ".zoneAwareLbSetting.failoverPriority[0]"],
    );
    warned(
        "DestinationRule",
        policy("loadBalancer", locality(json!({"failover": [{"from": "a", "to": "b"}]}))),
        &["spec.trafficPolicy.loadBalancer.localityLbSetting"],
    );
    accepted(
        "DestinationRule",
        policy("loadBalancer", locality(json!({"distribute": [{"from": "a", "to": {"b": 60, "c": 40}}]}))),
    );
}

#[test]
fn certificates_of_a_client() {
    refused_below("tls", json!({"mode": "MUTUAL"}), &[".clientCertificate", ".privateKey"]);
    refused_below(
        "tls",
        json!({"mode": "SIMPLE", "credentialName": "c", "caCertificates": "a", "caCrl": "b"}),
        &[".caCertificates", ".caCrl"],
    );
    refused_below(
        "tls",
        json!({"mode": "SIMPLE", "insecureSkipVerify": true, "credentialName": "c", "subjectAltNames": ["d"]}),
        &[".credentialName", ".subjectAltNames"],
    );
    for name in ["configmap://x", "configmap:///x", "configmap://elsewhere/x"] {
        refused_below("tls", json!({"mode": "SIMPLE", "credentialName": name}), &[".credentialName"]);
    }
    accepted(
        "DestinationRule",
        policy("tls", json!({"mode": "SIMPLE", "credentialName": "configmap://space/x"})),
    );
    accepted(
        "DestinationRule",
        policy("tls", json!({"mode": "MUTUAL", "clientCertificate": "a", "privateKey": "b"})),
    );
    refused_with(
        "DestinationRule",
        &json!({"namespace": ""}),
        policy("tls", json!({"mode": "SIMPLE", "credentialName": "configmap://space/x"})),
        &["spec.trafficPolicy.tls.credentialName"],
    );
}

#[test]
fn tunnels_and_ports() {
    refused_below(
        "tunnel",
        json!({"protocol": "GET", "targetHost": "*.a", "targetPort": 0}),
        &[".protocol", ".targetHost", ".targetPort"],
    );
    refused(
        "DestinationRule",
        json!({"host": "a", "trafficPolicy": {"tunnel": {"targetHost": "::1", "targetPort": 1}, "proxyProtocol": {}}}),
        &["spec.trafficPolicy"],
    );
    refused_below("portLevelSettings", json!([{}]), &["[0].port", "[0]"]);
    accepted("DestinationRule", policy("tunnel", json!({"targetHost": "1.2.3.4", "targetPort": 1})));
    accepted("DestinationRule", policy("portLevelSettings", json!([{"port": {"number": 1}, "tls": {}}])));
}
