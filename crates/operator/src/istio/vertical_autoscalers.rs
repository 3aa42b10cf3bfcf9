//! Vertical autoscalers, where the cluster has their kind: one for the operator, and for the parts of the mesh if somebody wants them.

use super::{MESH, NAMESPACE, resources};
use serde_json::{Value, json};

pub(super) const GROUP: &str = "autoscaling.k8s.io";
pub(super) const KIND: &str = "VerticalPodAutoscaler";

/// `version` is that of the operator.
pub(super) fn of_operator(version: &str) -> Value {
    autoscaler(
        &resources::metadata("istio-operator-vpa", NAMESPACE, version),
        &json!({
            "targetRef": { "apiVersion": "apps/v1", "kind": "Deployment", "name": "istio-controller-manager" },
            "updatePolicy": { "minReplicas": 1, "updateMode": "InPlaceOrRecreate" },
            "resourcePolicy": { "containerPolicies": [{
                "containerName": "manager",
                "minAllowed": { "cpu": "10m", "memory": "64Mi" }, "maxAllowed": { "cpu": "10000m", "memory": "16Gi" },
            }] },
        }),
    )
}

/// Memory only: processors are the horizontal autoscalers'.
pub(super) fn of_mesh(version: &str) -> Vec<Value> {
    let parts = [
        ("Deployment", "istiod", "512Mi"),
        ("Deployment", "istio-ingressgateway", "128Mi"),
        ("Deployment", "istio-egressgateway", "128Mi"),
        ("DaemonSet", "istio-cni-node", "512Mi"),
    ];
    let of = |(kind, name, least): (&str, &str, &str)| {
        let metadata = resources::metadata(&format!("{name}-vpa"), MESH, version);
        autoscaler(
            &metadata,
            &json!({
                "targetRef": { "apiVersion": "apps/v1", "kind": kind, "name": name },
                "updatePolicy": { "updateMode": "InPlaceOrRecreate" },
                "resourcePolicy": { "containerPolicies": [{
                    "containerName": "*", "controlledResources": ["memory"], "controlledValues": "RequestsAndLimits",
                    "minAllowed": { "memory": least }, "maxAllowed": { "memory": "16Gi" },
                }] },
            }),
        )
    };
    parts.into_iter().map(of).collect()
}

fn autoscaler(metadata: &Value, spec: &Value) -> Value {
    json!({ "apiVersion": format!("{GROUP}/v1"), "kind": KIND, "metadata": metadata, "spec": spec })
}

#[cfg(test)]
mod tests {
    use super::*;
    use mizzen_testkit::compared_with;
    use mizzen_text::{
        Source,
        yaml::{self, Options},
    };

    #[test]
    fn the_operators_is_that_of_the_module() {
        let file = compared_with!("kyma-istio/resources/vpa.yaml");
        let source = Source::new("vpa", std::fs::read(file).unwrap());
        let theirs: Value = yaml::load_first(&source, &Options::KUBERNETES).unwrap().unwrap();
        let ours = of_operator("1");
        assert_eq!((&ours["spec"], &ours["apiVersion"]), (&theirs["spec"], &theirs["apiVersion"]));
        assert_eq!(ours["metadata"]["name"], theirs["metadata"]["name"]);
        assert_eq!(of_mesh("1").len(), 4);
    }
}
