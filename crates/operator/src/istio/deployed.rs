//! The objects of the operator itself, and the two samples: what `make deploy` applied in the design document.

use super::{MODULE, NAMESPACE, priority_class, rights};
use mizzen_api::istio::{GROUP, VERSIONS, definition};
use serde_json::{Value, json};

/// How it is deployed.
#[derive(Clone, Debug)]
pub struct Deployed {
    pub hub: String,
    pub tag: String,
    pub pull_secrets: Vec<String>,
    /// Upstream's charts, as the process finds them.
    pub istio_manifests: Vec<String>,
    /// What the roles of all charts grant, as `granted` has it.
    pub granted: Vec<Value>,
}

const NAME: &str = "istio-controller-manager";
const RBAC: &str = "rbac.authorization.k8s.io";
const METRICS: u16 = 8080;
const HEALTH: u16 = 8081;

/// In the order in which they are applied.
pub fn objects(deployed: &Deployed) -> Vec<Value> {
    let labels = labels(&deployed.tag);
    let metadata = |name: &str| json!({ "name": name, "namespace": NAMESPACE, "labels": labels });
    let global = |name: &str| json!({ "name": name, "labels": labels });
    let subjects = json!([{ "kind": "ServiceAccount", "name": NAME, "namespace": NAMESPACE }]);
    let role = |kind: &str, name: &str| json!({ "apiGroup": RBAC, "kind": kind, "name": name });
    let mut account = json!({ "apiVersion": "v1", "kind": "ServiceAccount", "metadata": metadata(NAME) });
    if !deployed.pull_secrets.is_empty() {
        let secrets = deployed.pull_secrets.iter().map(|name| json!({ "name": name }));
        account["imagePullSecrets"] = secrets.collect();
    }
    let mut definition = definition();
    definition["metadata"]["labels"] = labels.clone();
    let mut class = priority_class::desired();
    class["metadata"]["labels"] = labels.clone();
    let lease = json!({ "apiGroups": ["coordination.k8s.io"], "resources": ["leases"], "verbs": ["create", "get", "update"] });
    let mut all = vec![
        json!({ "apiVersion": "v1", "kind": "Namespace", "metadata": { "name": NAMESPACE } }),
        definition,
        class,
        account,
        json!({ "apiVersion": format!("{RBAC}/v1"), "kind": "ClusterRole", "metadata": global("istio-manager-role"),
                "rules": rights::rules(&deployed.granted) }),
        json!({ "apiVersion": format!("{RBAC}/v1"), "kind": "ClusterRoleBinding", "metadata": global("istio-manager-rolebinding"),
                "roleRef": role("ClusterRole", "istio-manager-role"), "subjects": subjects }),
        json!({ "apiVersion": format!("{RBAC}/v1"), "kind": "Role", "metadata": metadata("istio-leader-election-role"), "rules": [lease] }),
        json!({ "apiVersion": format!("{RBAC}/v1"), "kind": "RoleBinding", "metadata": metadata("istio-leader-election-rolebinding"),
                "roleRef": role("Role", "istio-leader-election-role"), "subjects": subjects }),
    ];
    all.extend(for_people(&labels));
    all.extend([
        json!({ "apiVersion": "v1", "kind": "Service", "metadata": metadata("istio-operator-metrics"),
                "spec": { "selector": selector(),
                          "ports": [{ "name": "http-metrics", "port": METRICS, "targetPort": METRICS, "protocol": "TCP" }] } }),
        json!({ "apiVersion": "apps/v1", "kind": "Deployment", "metadata": metadata(NAME), "spec": deployment(deployed, &labels) }),
    ]);
    all
}

/// Rights that those who may view or edit a cluster get by themselves.
fn for_people(labels: &Value) -> Vec<Value> {
    let mut all = Vec::new();
    let kinds = [
        ("istio-kyma-istio", vec![GROUP], vec!["istios", "istios/status"]),
        (
            "istio-kyma-istio-resources",
            vec!["extensions.istio.io", "networking.istio.io", "security.istio.io", "telemetry.istio.io"],
            vec!["*"],
        ),
    ];
    let people: [(&str, &[&str]); 2] =
        [("view", &["get", "list", "watch"]), ("edit", &["create", "delete", "patch", "update"])];
    for (name, groups, resources) in kinds {
        for (who, verbs) in people {
            let mut labels = labels.clone();
            labels[format!("{RBAC}/aggregate-to-{who}")] = "true".into();
            all.push(json!({
                "apiVersion": format!("{RBAC}/v1"), "kind": "ClusterRole",
                "metadata": { "name": format!("{name}-{who}"), "labels": labels },
                "rules": [{ "apiGroups": groups, "resources": resources, "verbs": verbs }],
            }));
        }
    }
    all
}

fn labels(version: &str) -> Value {
    json!({
        MODULE: "istio",
        "app.kubernetes.io/name": "istio-operator",
        "app.kubernetes.io/instance": "istio-operator-default",
        "app.kubernetes.io/part-of": "istio",
        "app.kubernetes.io/component": "operator",
        "app.kubernetes.io/version": version,
    })
}

fn selector() -> Value {
    json!({ "app.kubernetes.io/component": NAME })
}

fn deployment(deployed: &Deployed, labels: &Value) -> Value {
    let Deployed { hub, tag, .. } = deployed;
    let mut pod_labels = labels.clone();
    pod_labels["app.kubernetes.io/component"] = NAME.into();
    pod_labels["sidecar.istio.io/inject"] = "false".into();
    let (metrics, health) =
        (format!("--metrics-bind-address=:{METRICS}"), format!("--health-probe-bind-address=:{HEALTH}"));
    let mut command =
        vec!["mizzen", "operator", "run", "--kind", "Istio", "--leader-elect", &metrics, &health];
    command.extend(["--log-format", "json"]);
    for place in &deployed.istio_manifests {
        command.extend(["--istio-manifests", place]);
    }
    let probe = |path: &str, delay: u32, period: u32| json!({ "httpGet": { "path": path, "port": HEALTH }, "initialDelaySeconds": delay, "periodSeconds": period });
    json!({
        "replicas": 1,
        "selector": { "matchLabels": selector() },
        "template": {
            "metadata": {
                "labels": pod_labels,
                "annotations": { "prometheus.io/port": METRICS.to_string(), "prometheus.io/scrape": "true" },
            },
            "spec": {
                "serviceAccountName": NAME,
                "priorityClassName": "istio-kyma-priority",
                "terminationGracePeriodSeconds": 10,
                "securityContext": { "runAsNonRoot": true, "runAsUser": 65532, "seccompProfile": { "type": "RuntimeDefault" } },
                "containers": [{
                    "name": "manager",
                    "image": format!("{hub}/mizzen:{tag}"),
                    "command": command,
                    "env": [
                        { "name": "POD_NAME", "valueFrom": { "fieldRef": { "fieldPath": "metadata.name" } } },
                        { "name": "LEADER_ELECTION_NAMESPACE", "value": NAMESPACE },
                    ],
                    "ports": [{ "name": "http-metrics", "containerPort": METRICS }, { "name": "health", "containerPort": HEALTH }],
                    "livenessProbe": probe("/healthz", 15, 20),
                    "readinessProbe": probe("/readyz", 5, 10),
                    "resources": { "requests": { "cpu": "10m", "memory": "64Mi" }, "limits": { "cpu": "4", "memory": "4Gi" } },
                    "securityContext": {
                        "allowPrivilegeEscalation": false, "capabilities": { "drop": ["ALL"] }, "readOnlyRootFilesystem": true,
                    },
                }],
            },
        },
    })
}

/// The resource to begin with, in one of its versions.
pub fn sample(version: &str) -> Value {
    let mut sample = json!({
        "apiVersion": format!("{GROUP}/{version}"), "kind": "Istio",
        "metadata": { "name": "default", "namespace": NAMESPACE,
                      "labels": { "app.kubernetes.io/name": "default", MODULE: "istio" } },
    });
    // The one of the document, which did not say where it has to be.
    if version == VERSIONS[1] {
        sample["metadata"] = json!({ "name": "istio-sample", "namespace": NAMESPACE });
        sample["spec"] = json!({ "config": { "numTrustedProxies": 1 } });
    }
    sample
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sample_is_the_modules_default_resource() {
        let file = mizzen_testkit::compared_with!("kyma-istio/sample-v1alpha2.yaml");
        let source = mizzen_text::Source::new("sample", std::fs::read(file).unwrap());
        let options = mizzen_text::yaml::Options::KUBERNETES;
        let theirs: Value = mizzen_text::yaml::load_first(&source, &options).unwrap().unwrap();
        assert_eq!(sample("v1alpha2"), theirs);
    }

    #[test]
    fn the_service_and_the_deployment_mean_the_same_pods() {
        let all = objects(&Deployed {
            hub: "h".into(),
            tag: "1".into(),
            pull_secrets: vec!["s".into()],
            istio_manifests: Vec::new(),
            granted: Vec::new(),
        });
        let of = |kind: &str| all.iter().find(|object| object["kind"] == kind).unwrap();
        let pods = &of("Deployment")["spec"]["template"]["metadata"]["labels"];
        for (key, value) in of("Service")["spec"]["selector"].as_object().unwrap() {
            assert_eq!(&pods[key], value);
        }
        assert_eq!(of("ServiceAccount")["imagePullSecrets"], json!([{ "name": "s" }]));
        assert_eq!(all.iter().filter(|object| object["kind"] == "ClusterRole").count(), 5);
        for version in VERSIONS {
            assert_eq!(sample(version)["metadata"]["namespace"], NAMESPACE);
        }
    }
}
