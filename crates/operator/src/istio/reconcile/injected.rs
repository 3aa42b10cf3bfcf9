//! Namespaces that are given sidecars, where somebody wants the whole cluster in the mesh.

use super::{Done, Failed, Pass};
use mizzen_cluster::{Action, FieldChange, ObjectId, Step};
use serde_json::{Value, json};

const LABEL: &str = "istio-injection";

/// Those that get the label: every one without it, but for Kubernetes' own. Only a plain yes counts.
fn decide(namespaces: &[Value], migration: Option<bool>) -> Vec<String> {
    if migration != Some(true) {
        return Vec::new();
    }
    let takes = |namespace: &&Value| {
        let metadata = &namespace["metadata"];
        metadata["name"] != "kube-system"
            && metadata["labels"].get(LABEL).is_none()
            && metadata.get("deletionTimestamp").is_none()
    };
    let all = namespaces.iter().filter(takes);
    all.filter_map(|namespace| namespace["metadata"]["name"].as_str()).map(str::to_owned).collect()
}

pub(super) async fn label(pass: &Pass<'_>, done: &mut Done) -> Result<(), Failed> {
    let cluster = pass.cluster;
    let namespaces = cluster.list("", "Namespace", "").await?;
    for name in decide(&namespaces, pass.order.values.sidecar_migration) {
        let id = ObjectId::new("", "Namespace", "", name);
        if !pass.order.dry_run {
            // Every namespace has labels: its own name is one.
            let patch =
                json!([{ "op": "add", "path": format!("/metadata/labels/{LABEL}"), "value": "enabled" }]);
            cluster.patch(&id, patch).await?;
        }
        let changes = vec![FieldChange {
            path: format!("metadata.labels.{LABEL}"),
            before: None,
            after: Some("enabled".into()),
        }];
        done.steps.push(Step { id, action: Action::Change { changes }, left: Vec::new() });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_plain_yes_labels_namespaces_and_nobodys_answer_is_changed() {
        let namespace = |name: &str, labels: Value| json!({ "metadata": { "name": name, "labels": labels } });
        let all = [
            namespace("kube-system", json!({})),
            namespace("default", json!({ "kubernetes.io/metadata.name": "default" })),
            namespace("off", json!({ LABEL: "disabled" })),
            namespace("on", json!({ LABEL: "enabled" })),
            namespace("kyma-system", json!({})),
        ];
        assert_eq!(decide(&all, Some(true)), ["default", "kyma-system"]);
        assert!(decide(&all, Some(false)).is_empty() && decide(&all, None).is_empty());
        let mut going = namespace("going", json!({}));
        going["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z".into();
        assert!(decide(&[going], Some(true)).is_empty());
    }
}
