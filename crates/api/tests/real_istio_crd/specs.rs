//! Good and bad specs: at each place values that it takes and values that it does not.

use serde_json::{Value, json};

pub(crate) struct Spec {
    /// Place and value, for people.
    pub(crate) name: String,
    pub(crate) spec: Value,
    pub(crate) good: bool,
}

pub(crate) fn all() -> Vec<Spec> {
    let mut all = Vec::new();
    for (place, good, bad) in places() {
        for (values, good) in [(good, true), (bad, false)] {
            for value in values.as_array().unwrap() {
                all.push(Spec { name: format!("{place} = {value}"), spec: at(&place, value), good });
            }
        }
    }
    all
}

/// The spec that has this value at this place, and nothing else.
fn at(place: &str, value: &Value) -> Value {
    place
        .rsplit('.')
        .filter(|name| !name.is_empty())
        .fold(value.clone(), |inner, name| json!({ name: inner }))
}

/// Place, what it takes, what it does not.
fn places() -> Vec<(String, Value, Value)> {
    let mut rows = vec![
        ("", json!([{}]), json!([[], "x", 1])),
        ("compatibilityMode", json!([true, false]), json!(["true", 1, {}])),
        ("networkPoliciesEnabled", json!([true, false]), json!(["", 0])),
        ("experimental", json!([{}]), json!([true, []])),
        ("experimental.enableAmbient", json!([true]), json!(["yes"])),
        ("experimental.pilot.enableAlphaGatewayAPI", json!([true]), json!([1])),
        ("experimental.pilot.enableMultiNetworkDiscoverGatewayAPI", json!([false]), json!(["false"])),
        ("config", json!([{}]), json!([[], ""])),
        (
            "config.numTrustedProxies",
            json!([0, 1, 2, 4_294_967_295_u64]),
            json!([-1, 4_294_967_296_u64, "1", 1.5, true]),
        ),
        (
            "config.forwardClientCertDetails",
            json!(["APPEND_FORWARD", "SANITIZE_SET", "SANITIZE", "ALWAYS_FORWARD_ONLY", "FORWARD_ONLY"]),
            json!(["", "sanitize", "FORWARD", 1]),
        ),
        ("config.gatewayExternalTrafficPolicy", json!(["Local", "Cluster"]), json!(["local", "", true])),
        ("config.telemetry.metrics.prometheusMerge", json!([true, false]), json!(["true"])),
        (
            "config.trustDomain",
            json!(["cluster.local", "a", "my-domain.example.com", "a_b.c", "1.2.3", "."]),
            json!(["", "Upper.case", "with space", "slash/es", "ü", 1, "a".repeat(256)]),
        ),
        ("config.enableDNSProxying", json!([true, false]), json!(["on", 1])),
        (
            "config.proxyStatsMatcher.inclusionRegexps",
            json!([[], [".*"], ["(", "[a"]]),
            json!(["x", [1], {}]),
        ),
        (
            "config.authorizers",
            json!([
                [],
                [{ "name": "a", "port": 80 }],
                [{ "name": "a", "port": 80 }, { "name": "a", "port": 81 }],
                [{ "name": "", "port": -1 }],
                [{ "name": "a", "port": 2_147_483_647 }],
                [{ "name": "a", "service": "ns/host", "port": 1, "pathPrefix": "/p", "timeout": "2s" }],
                [{ "name": "a", "port": 1, "timeout": "soon" }],
            ]),
            json!([
                {},
                [{}],
                [{ "name": "a" }],
                [{ "port": 1 }],
                [{ "name": 1, "port": 1 }],
                [{ "name": "a", "port": "80" }],
                [{ "name": "a", "port": 80.5 }],
                [{ "name": "a", "port": 4_294_967_295_u64 }],
                [{ "name": "a", "port": 1, "timeout": 2 }],
                [{ "name": "a", "port": 1, "headers": [] }],
                [{ "name": "a", "port": 1, "unknown": 1 }],
            ]),
        ),
        (
            "components.cni",
            json!([{ "k8s": {} }]),
            json!([{}, { "k8s": { "hpaSpec": {} } }, { "enabled": true, "k8s": {} }]),
        ),
        ("components.proxy", json!([{ "k8s": {} }]), json!([{}, { "k8s": { "affinity": {} } }])),
        ("components.pilot", json!([{ "k8s": {} }]), json!([{}, [], { "enabled": true, "k8s": {} }])),
        ("components.ingressGateway", json!([{ "k8s": {} }]), json!([{}, { "enabled": true, "k8s": {} }])),
        (
            "components.egressGateway",
            json!([{}, { "k8s": {} }, { "enabled": true }]),
            json!([{ "enabled": "true" }, true]),
        ),
        ("components", json!([{}]), json!([{ "ztunnel": {} }, { "ingressGateways": [] }])),
        ("unknown", json!([]), json!([1, {}])),
        ("config.unknown", json!([]), json!([true])),
        ("config.telemetry.unknown", json!([]), json!([true])),
    ];
    let headers = [
        ("inCheck.include", json!([["x"], []]), json!(["x", [1]])),
        ("inCheck.add", json!([{ "x": "y" }]), json!([{ "x": 1 }, ["x"]])),
        ("toUpstream.onAllow", json!([["x"]]), json!([{}])),
        ("toUpstream.onDeny", json!([]), json!([["x"]])),
        ("toDownstream.onAllow", json!([["x"]]), json!([[true]])),
        ("toDownstream.onDeny", json!([["x"]]), json!(["x"])),
    ];
    for (place, good, bad) in headers {
        let wrapped = |values: &Value| -> Value {
            let one = |value: &Value| json!([{ "name": "a", "port": 1, "headers": at(place, value) }]);
            values.as_array().unwrap().iter().map(one).collect()
        };
        rows.push(("config.authorizers", wrapped(&good), wrapped(&bad)));
    }
    let mut rows: Vec<(String, Value, Value)> =
        rows.into_iter().map(|(place, good, bad)| (place.to_owned(), good, bad)).collect();
    for component in ["pilot", "ingressGateway", "egressGateway"] {
        for (place, good, bad) in settings() {
            rows.push((format!("components.{component}.k8s.{place}"), good, bad));
        }
    }
    for component in ["pilot", "ingressGateway", "egressGateway", "cni", "proxy"] {
        for (place, good, bad) in quantities() {
            rows.push((format!("components.{component}.k8s.resources.{place}"), good, bad));
        }
    }
    rows.extend(affinities());
    rows
}

fn settings() -> Vec<(&'static str, Value, Value)> {
    vec![
        ("hpaSpec.minReplicas", json!([0, 1, 2_147_483_647]), json!([-1, 2_147_483_648_u64, "1"])),
        ("hpaSpec.maxReplicas", json!([0, 2_147_483_647]), json!([-1, 2_147_483_648_u64, 1.5])),
        ("strategy", json!([{ "rollingUpdate": {} }]), json!([{}, { "type": "Recreate" }])),
        (
            "strategy.rollingUpdate.maxSurge",
            json!([0, 1, 2_147_483_647, "1", "100%", "250%"]),
            json!([-1, 2_147_483_648_u64, "", "%", "-1", "1.5%", "x", 1.5, true]),
        ),
        (
            "strategy.rollingUpdate.maxUnavailable",
            json!([0, 2_147_483_647, "1", "0%", "99%", "100%"]),
            json!([-1, 2_147_483_648_u64, "", "101%", "-1%", {}]),
        ),
    ]
}

fn quantities() -> Vec<(&'static str, Value, Value)> {
    vec![
        ("limits.cpu", json!(["1", "500m", "0.5", "1.125"]), json!(["", "0.5m", "1.1234", "10.5", "x", 1])),
        ("requests.cpu", json!(["10m"]), json!(["10 m"])),
        (
            "limits.memory",
            json!(["1", "1Gi", "1.5G", "128Mi", "1e3", "100m"]),
            json!(["", "1gi", "1.Gi", "-1", "1e3Gi", 1]),
        ),
        ("requests.memory", json!(["192Mi"]), json!(["192MB"])),
        ("limits", json!([{}]), json!([{ "gpu": "1" }, []])),
    ]
}

fn affinities() -> Vec<(String, Value, Value)> {
    let preferred = "preferredDuringSchedulingIgnoredDuringExecution";
    let needed = "requiredDuringSchedulingIgnoredDuringExecution";
    let term = json!({ "topologyKey": "zone", "labelSelector": { "matchLabels": { "a": "b" } } });
    let mut rows = vec![
        (
            format!("nodeAffinity.{preferred}"),
            json!([[], [{ "weight": 1, "preference": { "matchExpressions": [{ "key": "k", "operator": "In", "values": ["v"] }] } }]]),
            json!([[{ "weight": 1 }], [{ "preference": {} }], [{ "weight": "1", "preference": {} }]]),
        ),
        (
            format!("nodeAffinity.{needed}"),
            json!([{ "nodeSelectorTerms": [{ "matchFields": [{ "key": "k", "operator": "Exists" }] }] }]),
            json!([{}, { "nodeSelectorTerms": [{ "matchFields": [{ "key": "k" }] }] }]),
        ),
    ];
    for kind in ["podAffinity", "podAntiAffinity"] {
        rows.push((
            format!("{kind}.{preferred}"),
            json!([[{ "weight": 100, "podAffinityTerm": term }]]),
            json!([[{ "weight": 100 }], [{ "weight": 100, "podAffinityTerm": {} }]]),
        ));
        rows.push((
            format!("{kind}.{needed}"),
            json!([[term, { "topologyKey": "t", "namespaces": ["n"], "matchLabelKeys": ["k"], "mismatchLabelKeys": [], "namespaceSelector": {} }]]),
            json!([[{}], [{ "topologyKey": 1 }], [{ "topologyKey": "t", "labelSelector": { "matchExpressions": [{ "operator": "In" }] } }]]),
        ));
    }
    let place = |(place, good, bad): (String, Value, Value)| {
        (format!("components.cni.k8s.affinity.{place}"), good, bad)
    };
    rows.into_iter().map(place).collect()
}
