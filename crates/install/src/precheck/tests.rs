//! Findings from facts that are written down; beside the real istioctl they are compared where the verb is tested.

use serde_json::json;

use super::{Denied, Facts, Finding, Since};

fn told(facts: &Facts) -> Vec<String> {
    facts.findings().iter().map(ToString::to_string).collect()
}

#[test]
fn kubernetes_has_to_be_new_enough() {
    for (version, old) in
        [("v1.31.9", true), ("v1.32.0", false), ("v1.36.1+k3s1", false), ("v2.0.0", false), ("", false)]
    {
        let told = told(&Facts { version: version.to_owned(), ..Facts::default() });
        let wanted = format!(
            "Error [IST0142] (Cluster) The Kubernetes Version {version:?} is lower than the minimum version: 1.32"
        );
        assert_eq!(told, if old { vec![wanted] } else { vec![] });
    }
}

#[test]
fn definitions_of_the_gateway_api_have_to_be_new_enough_where_they_are() {
    let definition = |kind: &str, versions: &[&str]| {
        let versions: Vec<_> = versions.iter().map(|name| json!({ "name": name, "served": true })).collect();
        json!({ "metadata": { "name": format!("{kind}.x") }, "spec": { "names": { "kind": kind }, "versions": versions } })
    };
    let mut unserved = definition("HTTPRoute", &["v1"]);
    unserved["spec"]["versions"][0]["served"] = json!(false);
    let definitions = vec![
        definition("Gateway", &["v1beta1", "v1"]),
        definition("GRPCRoute", &["v1beta1", "v1alpha2"]),
        definition("ReferenceGrant", &["v1"]),
        definition("TCPRoute", &["v1alpha2"]),
        unserved,
    ];
    assert_eq!(
        told(&Facts { definitions, ..Facts::default() }),
        [
            "Error [IST0156] (CustomResourceDefinition HTTPRoute.x) The Gateway API CRD version none is lower than the minimum version: v1beta1",
            "Error [IST0156] (CustomResourceDefinition ReferenceGrant.x) The Gateway API CRD version v1 is lower than the minimum version: v1beta1",
            "Warning [IST0172] (CustomResourceDefinition GRPCRoute.x) The Gateway API CRD version v1alpha2,v1beta1 is lower than the minimum version: v1",
            "Warning [IST0172] (CustomResourceDefinition HTTPRoute.x) The Gateway API CRD version none is lower than the minimum version: v1",
        ]
    );
}

#[test]
fn what_concerns_the_whole_cluster_comes_last_and_nothing_twice() {
    let denied = Denied { verb: "create", resource: "roles".into(), reason: "permission denied".into() };
    let namespace = json!({ "kind": "Namespace", "metadata": { "name": "shop", "annotations": { "sidecar.istio.io/proxyCPU": "1" } } });
    let facts =
        Facts { denied: vec![denied.clone(), denied], annotated: vec![namespace], ..Facts::default() };
    let codes: Vec<&str> = facts.findings().iter().map(|finding: &Finding| finding.code).collect();
    assert_eq!(codes, ["IST0136", "IST0141"]);
}

#[test]
fn annotations_that_a_control_plane_writes_are_no_news() {
    let names = |annotations: serde_json::Value, init: &str| {
        let pod = json!({ "kind": "Pod", "metadata": { "name": "p", "namespace": "n", "annotations": annotations },
            "spec": { "initContainers": [{ "name": init }] } });
        let facts = Facts { annotated: vec![pod], ..Facts::default() };
        facts.findings().len()
    };
    let redirected =
        json!({ "sidecar.istio.io/interceptionMode": "REDIRECT", "sidecar.istio.io/status": "{}" });
    assert_eq!(names(redirected.clone(), "istio-init"), 1);
    assert_eq!(names(redirected, "istio-validation"), 0);
    assert_eq!(names(json!({ "example.com/proxyCPU": "1" }), "istio-init"), 0);
    let quiet =
        json!({ "sidecar.istio.io/proxyCPU": "1", "galley.istio.io/analyze-suppress": "IST0001,IST0136" });
    assert_eq!(names(quiet, "istio-init"), 0);
}

#[test]
fn a_release_is_read_or_refused_with_a_sentence() {
    assert!(Since::read("1.21").unwrap().had_tracing());
    assert!(!Since::read("1.22").unwrap().had_tracing());
    for (text, wanted) in [
        ("foo", "invalid version foo, expected format like '1.0'"),
        ("2.0", "expected major version 1, got 2.0"),
        ("1.x", "minor version is not a number: x"),
    ] {
        assert_eq!(Since::read(text).unwrap_err().to_string(), wanted);
    }
}
