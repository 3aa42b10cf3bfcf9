//! Objects of Istio's kinds, good and bad, one for each sort of limit, group and rule.
#![allow(dead_code, reason = "each test file uses its part")]

use serde_json::{Value, json};

pub(crate) struct Case {
    pub(crate) kind: &'static str,
    pub(crate) group: &'static str,
    pub(crate) spec: Value,
    pub(crate) good: bool,
    /// Whether only the rule itself can say it: JSON Schema has no word for it.
    pub(crate) by_rule_only: bool,
}

impl Case {
    pub(crate) fn object(&self) -> Value {
        json!({
            "apiVersion": format!("{}/v1", self.group),
            "kind": self.kind,
            "metadata": {"name": "one", "namespace": "default"},
            "spec": self.spec,
        })
    }
}

pub(crate) fn all() -> Vec<Case> {
    let networking = "networking.istio.io";
    let security = "security.istio.io";
    let rule = |policy: Value| json!({"host": "a", "trafficPolicy": policy});
    let entry = |more: Value| {
        let mut spec = json!({"hosts": ["a.example.com"], "ports": [{"number": 80, "name": "http"}]});
        spec.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        spec
    };
    let rows = vec![
        // Types, words, ranges.
        (
            true,
            "DestinationRule",
            networking,
            json!({"host": "a", "subsets": [{"name": "v1", "labels": {"version": "v1"}}]}),
        ),
        (false, "DestinationRule", networking, json!({})),
        (false, "DestinationRule", networking, json!({"host": 1})),
        (false, "DestinationRule", networking, json!({"host": "a", "subsets": [{}]})),
        (true, "DestinationRule", networking, rule(json!({"loadBalancer": {"simple": "ROUND_ROBIN"}}))),
        (false, "DestinationRule", networking, rule(json!({"loadBalancer": {"simple": "ROUND"}}))),
        (
            false,
            "DestinationRule",
            networking,
            rule(json!({"outlierDetection": {"consecutive5xxErrors": -1}})),
        ),
        // Groups of which one may be given.
        (
            true,
            "DestinationRule",
            networking,
            rule(json!({"loadBalancer": {"consistentHash": {"useSourceIp": true, "maglev": {}}}})),
        ),
        (
            false,
            "DestinationRule",
            networking,
            rule(json!({"loadBalancer": {"simple": "RANDOM", "consistentHash": {"useSourceIp": true}}})),
        ),
        (
            false,
            "DestinationRule",
            networking,
            rule(json!({"loadBalancer": {"consistentHash": {"useSourceIp": true, "httpHeaderName": "x"}}})),
        ),
        (
            false,
            "VirtualService",
            networking,
            json!({"hosts": ["a"], "http": [{"match": [{"uri": {"exact": "/a", "prefix": "/"}}], "route": [{"destination": {"host": "a"}}]}]}),
        ),
        (
            true,
            "VirtualService",
            networking,
            json!({"hosts": ["a"], "http": [{"match": [{"uri": {"prefix": "/"}}], "route": [{"destination": {"host": "a", "port": {"number": 80}}}]}]}),
        ),
        // Rules.
        (true, "DestinationRule", networking, rule(json!({"outlierDetection": {"interval": "1m30s"}}))),
        (true, "DestinationRule", networking, rule(json!({"outlierDetection": {"interval": "1ms"}}))),
        (
            true,
            "DestinationRule",
            networking,
            json!({"host": "a", "workloadSelector": {"matchLabels": {"app": "a"}}}),
        ),
        (
            false,
            "DestinationRule",
            networking,
            json!({"host": "a", "workloadSelector": {"matchLabels": {"app*": "a"}}}),
        ),
        (
            false,
            "DestinationRule",
            networking,
            json!({"host": "a", "workloadSelector": {"matchLabels": {"app": "a*"}}}),
        ),
        (
            true,
            "ServiceEntry",
            networking,
            entry(
                json!({"resolution": "STATIC", "endpoints": [{"address": "10.0.0.1", "ports": {"http": 80}}]}),
            ),
        ),
        (false, "ServiceEntry", networking, json!({"hosts": ["*"]})),
        (
            false,
            "ServiceEntry",
            networking,
            entry(json!({"resolution": "NONE", "endpoints": [{"address": "10.0.0.1"}]})),
        ),
        (
            false,
            "ServiceEntry",
            networking,
            entry(json!({"resolution": "STATIC", "endpoints": [{"labels": {"a": "b"}}]})),
        ),
        (
            false,
            "ServiceEntry",
            networking,
            entry(
                json!({"resolution": "STATIC", "workloadSelector": {}, "endpoints": [{"address": "10.0.0.1"}]}),
            ),
        ),
        (
            true,
            "AuthorizationPolicy",
            security,
            json!({"selector": {"matchLabels": {"app": "a"}}, "rules": [{"from": [{"source": {"namespaces": ["a"]}}]}]}),
        ),
        (
            false,
            "AuthorizationPolicy",
            security,
            json!({"selector": {}, "targetRefs": [{"kind": "Service", "name": "a"}]}),
        ),
        (
            false,
            "AuthorizationPolicy",
            security,
            json!({"rules": [{"from": [{"source": {"serviceAccounts": ["a"], "namespaces": ["a"]}}]}]}),
        ),
        (
            true,
            "PeerAuthentication",
            security,
            json!({"selector": {"matchLabels": {"app": "a"}}, "portLevelMtls": {"80": {"mode": "DISABLE"}}}),
        ),
    ];
    let only = vec![
        (false, "DestinationRule", networking, rule(json!({"outlierDetection": {"interval": "0.1ms"}}))),
        (false, "DestinationRule", networking, rule(json!({"outlierDetection": {"interval": "soon"}}))),
        (false, "ServiceEntry", networking, entry(json!({"addresses": ["10.0.0.0/8"], "resolution": "DNS"}))),
        (
            false,
            "ServiceEntry",
            networking,
            json!({"hosts": ["a"], "ports": [{"number": 80, "name": "a"}, {"number": 80, "name": "b"}]}),
        ),
        (false, "PeerAuthentication", security, json!({"portLevelMtls": {"80": {"mode": "DISABLE"}}})),
        (
            false,
            "PeerAuthentication",
            security,
            json!({"selector": {"matchLabels": {"app": "a"}}, "portLevelMtls": {"x": {"mode": "DISABLE"}}}),
        ),
    ];
    let case = |by_rule_only| move |(good, kind, group, spec)| Case { kind, group, spec, good, by_rule_only };
    rows.into_iter().map(case(false)).chain(only.into_iter().map(case(true))).collect()
}
