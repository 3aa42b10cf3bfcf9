//! Network policies around the parts of the mesh, where somebody wants them: each part may do what it is there for, and no more.

use super::{DISCLAIMED, DISCLAIMER, MESH, MODULE, NAMESPACE};
use serde_json::{Value, json};

/// `api` is the port behind the Service of the API server, `version` that of the operator.
pub(super) fn desired(api: u16, version: &str) -> Vec<Value> {
    let dns = json!({ "ports": [{ "protocol": "UDP", "port": 53 }, { "protocol": "TCP", "port": 53 }] });
    let server = json!({ "ports": tcp(&[api]) });
    let scraped = |ports: &[u16]| json!({ "from": scrapers(), "ports": tcp(ports) });
    let policy = |namespace: &str, name: &str, selects: Value, rules: Value| {
        let mut spec = json!({ "podSelector": { "matchLabels": selects }, "policyTypes": [] });
        for (field, kind) in [("egress", "Egress"), ("ingress", "Ingress")] {
            if let Some(rules) = rules.get(field) {
                spec[field] = rules.clone();
                if let Some(kinds) = spec["policyTypes"].as_array_mut() {
                    kinds.push(kind.into());
                }
            }
        }
        json!({
            "apiVersion": "networking.k8s.io/v1", "kind": "NetworkPolicy",
            "metadata": {
                "name": format!("kyma-project.io--{name}"), "namespace": namespace,
                "labels": { MODULE: "istio", "kyma-project.io/managed-by": "kyma", "app.kubernetes.io/version": version },
                "annotations": { DISCLAIMER: DISCLAIMED },
            },
            "spec": spec,
        })
    };
    let (pilot, ingress, egress) = (
        json!({ "istio": "pilot" }),
        json!({ "istio": "ingressgateway" }),
        json!({ "istio": "egressgateway" }),
    );
    let beside = |labels: &Value| json!({ "podSelector": { "matchLabels": labels } });
    let operator = json!({ MODULE: "istio", "app.kubernetes.io/name": "istio-operator" });
    vec![
        policy(NAMESPACE, "allow-istio-controller-manager", operator, json!({ "egress": [dns, server] })),
        policy(
            MESH,
            "istio-cni-node",
            json!({ "k8s-app": "istio-cni-node" }),
            json!({ "egress": [dns, server] }),
        ),
        policy(
            MESH,
            "istio-pilot",
            pilot.clone(),
            json!({
                "egress": [dns, server],
                "ingress": [
                    { "from": [anywhere(&json!({ "security.istio.io/tlsMode": "istio" })), beside(&ingress), beside(&egress)],
                      "ports": tcp(&[15012]) },
                    scraped(&[15014]),
                    { "ports": tcp(&[15017]) },
                ],
            }),
        ),
        policy(MESH, "istio-pilot-jwks", pilot.clone(), json!({ "egress": [{ "ports": tcp(&[80, 443]) }] })),
        policy(
            MESH,
            "istio-ingressgateway",
            ingress.clone(),
            json!({
                "egress": [{ "to": [beside(&pilot)], "ports": tcp(&[15012]) }, dns],
                "ingress": [{ "ports": tcp(&[8080, 8443]) }, scraped(&[15020, 15021, 15090])],
            }),
        ),
        policy(
            MESH,
            "istio-ingressgateway-egress",
            ingress,
            json!({
                "egress": [{ "to": [anywhere(&json!({ "networking.kyma-project.io/from-ingressgateway": "allowed" }))] }],
            }),
        ),
        policy(
            MESH,
            "istio-egressgateway",
            egress,
            json!({
                "egress": [{}],
                "ingress": [
                    { "from": [anywhere(&json!({ "networking.kyma-project.io/to-egressgateway": "allowed" }))] },
                    scraped(&[15020, 15021, 15090]),
                ],
            }),
        ),
    ]
}

/// The port behind the Service `default/kubernetes`.
pub(super) fn api_port(service: Option<&Value>) -> u16 {
    let ports = service.and_then(|service| service.pointer("/spec/ports")?.as_array());
    let https = ports.into_iter().flatten().find(|port| port["name"] == "https");
    https.and_then(|port| u16::try_from(port["targetPort"].as_u64()?).ok()).unwrap_or(443)
}

fn tcp(ports: &[u16]) -> Value {
    ports.iter().map(|port| json!({ "protocol": "TCP", "port": port })).collect()
}

/// Pods of any namespace: without the second selector it would be those of the policy's.
fn anywhere(labels: &Value) -> Value {
    json!({ "podSelector": { "matchLabels": labels }, "namespaceSelector": {} })
}

/// Whoever collects metrics.
fn scrapers() -> Value {
    json!([
        { "podSelector": { "matchExpressions": [{ "key": MODULE, "operator": "Exists" }] }, "namespaceSelector": {} },
        anywhere(&json!({ "networking.kyma-project.io/istio-metrics": "allowed" })),
        anywhere(&json!({ "networking.kyma-project.io/metrics-scraping": "allowed" })),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;
    use mizzen_testkit::compared_with;
    use mizzen_text::{
        Source,
        yaml::{self, Options},
    };
    use std::fs;

    #[test]
    fn the_seven_are_those_of_the_module() {
        let folder = compared_with!("kyma-istio/networkpolicies");
        let ours = desired(6443, "1");
        let mut count = 0;
        for entry in fs::read_dir(folder).unwrap() {
            let text =
                fs::read_to_string(entry.unwrap().path()).unwrap().replace("__API_SERVER_PORT__", "6443");
            let theirs: Value =
                yaml::load_first(&Source::new("policy", text), &Options::KUBERNETES).unwrap().unwrap();
            let name = &theirs["metadata"]["name"];
            let ours = ours.iter().find(|policy| policy["metadata"]["name"] == *name);
            let ours = ours.unwrap_or_else(|| panic!("there is no {name}"));
            assert_eq!(ours["spec"], theirs["spec"], "{name}");
            assert_eq!(ours["metadata"]["namespace"], theirs["metadata"]["namespace"], "{name}");
            for (key, value) in theirs["metadata"]["labels"].as_object().unwrap() {
                assert_eq!(&ours["metadata"]["labels"][key], value, "{name} {key}");
            }
            count += 1;
        }
        assert_eq!((count, ours.len()), (7, 7));
    }

    #[test]
    fn the_port_of_the_api_server_is_the_one_behind_its_service() {
        let service = |target: Value| json!({ "spec": { "ports": [{ "name": "other", "targetPort": 1 }, { "name": "https", "targetPort": target }] } });
        assert_eq!(api_port(Some(&service(json!(6443)))), 6443);
        for odd in [json!("https"), json!(70_000), json!(null)] {
            assert_eq!(api_port(Some(&service(odd))), 443);
        }
        assert_eq!(api_port(None), 443);
    }
}
