//! The objects of the operator itself, as `operator init` applies and `operator dump` prints them.

use crate::{definition, named, rights};
use serde_json::{Value, json};

/// How it is deployed.
#[derive(Clone, Debug)]
pub struct Deployed {
    pub namespace: String,
    /// Empty for none.
    pub revision: String,
    pub hub: String,
    pub tag: String,
    pub pull_secrets: Vec<String>,
    /// Empty for all namespaces.
    pub watched: Vec<String>,
    /// What the roles of the charts grant, as `granted` has it.
    pub granted: Vec<Value>,
}

const NAME: &str = "istio-operator";
const PORT: u16 = 8383;

/// In the order in which they are applied.
pub fn objects(deployed: &Deployed) -> Vec<Value> {
    let Deployed { namespace, revision, granted, .. } = deployed;
    let name = named(NAME, revision);
    let labels =
        json!({ "app": NAME, "istio.io/rev": if revision.is_empty() { "default" } else { revision } });
    let metadata = json!({ "name": name, "namespace": namespace, "labels": labels });
    let global = json!({ "name": name, "labels": labels });
    let rbac = "rbac.authorization.k8s.io";
    let subjects = json!([{ "kind": "ServiceAccount", "name": name, "namespace": namespace }]);
    let role_of = |kind: &str| json!({ "apiGroup": rbac, "kind": kind, "name": name });
    let mut rules = rights::own();
    rules.extend(granted.iter().cloned());
    let secrets: Vec<Value> = deployed.pull_secrets.iter().map(|name| json!({ "name": name })).collect();
    let mut account = json!({ "apiVersion": "v1", "kind": "ServiceAccount", "metadata": metadata });
    if !secrets.is_empty() {
        account["imagePullSecrets"] = secrets.into();
    }
    vec![
        definition(),
        json!({ "apiVersion": "v1", "kind": "Namespace",
                "metadata": { "name": namespace, "labels": { "istio-operator-managed": "Reconcile", "istio-injection": "disabled" } } }),
        account,
        json!({ "apiVersion": format!("{rbac}/v1"), "kind": "ClusterRole", "metadata": global, "rules": rules }),
        json!({ "apiVersion": format!("{rbac}/v1"), "kind": "Role", "metadata": metadata, "rules": [rights::leases()] }),
        json!({ "apiVersion": format!("{rbac}/v1"), "kind": "ClusterRoleBinding", "metadata": global,
                "roleRef": role_of("ClusterRole"), "subjects": subjects }),
        json!({ "apiVersion": format!("{rbac}/v1"), "kind": "RoleBinding", "metadata": metadata,
                "roleRef": role_of("Role"), "subjects": subjects }),
        json!({ "apiVersion": "v1", "kind": "Service", "metadata": metadata,
                "spec": { "selector": { "name": name },
                          "ports": [{ "name": "http-metrics", "port": PORT, "targetPort": PORT, "protocol": "TCP" }] } }),
        json!({ "apiVersion": "apps/v1", "kind": "Deployment", "metadata": metadata, "spec": deployment(deployed, &name) }),
    ]
}

fn deployment(deployed: &Deployed, name: &str) -> Value {
    let Deployed { namespace, revision, hub, tag, watched, .. } = deployed;
    let probe = |path: &str| json!({ "httpGet": { "path": path, "port": PORT }, "periodSeconds": 5 });
    let mut env = vec![
        json!({ "name": "WATCH_NAMESPACE", "value": watched.join(",") }),
        json!({ "name": "LEADER_ELECTION_NAMESPACE", "value": namespace }),
        json!({ "name": "POD_NAME", "valueFrom": { "fieldRef": { "fieldPath": "metadata.name" } } }),
        json!({ "name": "WAIT_FOR_RESOURCES_TIMEOUT", "value": "300s" }),
    ];
    if !revision.is_empty() {
        env.push(json!({ "name": "REVISION", "value": revision }));
    }
    let pod_labels = json!({ "name": name, "app": NAME, "sidecar.istio.io/inject": "false" });
    json!({
        "replicas": 1,
        "selector": { "matchLabels": { "name": name } },
        "template": {
            "metadata": { "labels": pod_labels, "annotations": { "prometheus.io/port": PORT.to_string(), "prometheus.io/scrape": "true" } },
            "spec": {
                "serviceAccountName": name,
                "containers": [{
                    "name": NAME,
                    "image": format!("{hub}/mizzen:{tag}"),
                    "command": ["mizzen", "operator", "run", "--kind", "IstioOperator"],
                    "env": env,
                    "ports": [{ "name": "http-metrics", "containerPort": PORT }],
                    "livenessProbe": probe("/healthz"),
                    "readinessProbe": probe("/readyz"),
                    "resources": { "requests": { "cpu": "50m", "memory": "128Mi" }, "limits": { "cpu": "200m", "memory": "256Mi" } },
                    "securityContext": {
                        "allowPrivilegeEscalation": false, "capabilities": { "drop": ["ALL"] }, "privileged": false,
                        "readOnlyRootFilesystem": true, "runAsGroup": 1337, "runAsNonRoot": true, "runAsUser": 1337,
                    },
                }],
            },
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn deployed(revision: &str) -> Vec<Value> {
        objects(&Deployed {
            namespace: "istio-operator".into(),
            revision: revision.into(),
            hub: "hub".into(),
            tag: "1".into(),
            pull_secrets: vec!["s".into()],
            watched: vec!["istio-system".into(), "other".into()],
            granted: Vec::new(),
        })
    }

    #[test]
    fn two_revisions_share_only_the_definition_and_the_namespace() {
        let names = |objects: &[Value]| -> Vec<String> {
            objects
                .iter()
                .map(|object| format!("{} {}", object["kind"], object["metadata"]["name"]))
                .collect()
        };
        let (plain, canary) = (names(&deployed("")), names(&deployed("canary")));
        let shared: Vec<_> = plain.iter().filter(|name| canary.contains(name)).collect();
        assert_eq!(shared.len(), 2, "{shared:?}");
        assert!(canary.contains(&"\"Deployment\" \"istio-operator-canary\"".to_owned()));
    }

    #[test]
    fn the_deployment_runs_this_program_with_istios_environment() {
        let all = deployed("canary");
        let container = &all.last().unwrap()["spec"]["template"]["spec"]["containers"][0];
        assert_eq!(container["image"], "hub/mizzen:1");
        assert_eq!(container["command"], json!(["mizzen", "operator", "run", "--kind", "IstioOperator"]));
        let env = container["env"].as_array().unwrap();
        let value = |name: &str| env.iter().find(|one| one["name"] == name).map(|one| one["value"].clone());
        assert_eq!(value("WATCH_NAMESPACE"), Some("istio-system,other".into()));
        assert_eq!(value("REVISION"), Some("canary".into()));
    }
}
