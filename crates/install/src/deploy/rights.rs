//! Whether one may do what is planned, asked before anything is written.

use super::Plan;
use mizzen_cluster::{Action, Cluster, Refused};
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// A sentence for each right that is missing.
pub async fn missing_rights(cluster: &Cluster, plan: &Plan, namespace: &str) -> Result<Vec<String>, Refused> {
    let everything = json!({ "verb": "*", "group": "*", "resource": "*" });
    if allowed(cluster, &everything).await? {
        return Ok(Vec::new());
    }
    let mut needed: BTreeSet<(&str, &str, &str, &str)> = BTreeSet::new();
    let written = plan.steps().filter(|step| step.action != Action::Unchanged).map(|step| &step.id);
    // What could not be planned may be for want of a right.
    for id in written.chain(plan.failed.iter().map(|failed| &failed.id)) {
        for verb in ["get", "create", "patch"] {
            needed.insert((&id.group, &id.kind, &id.namespace, verb));
        }
    }
    for id in &plan.prune {
        needed.insert((&id.group, &id.kind, &id.namespace, "delete"));
    }
    if plan.makes_namespace {
        needed.insert(("", "Namespace", "", "create"));
    }
    if !plan.changes_nothing() {
        for verb in ["create", "patch"] {
            needed.insert(("", "ConfigMap", namespace, verb));
        }
    }
    let served = cluster.served();
    let mut missing = Vec::new();
    for (group, kind, namespace, verb) in needed {
        let Some(found) = served.find(group, kind, None) else { continue };
        let question =
            json!({ "verb": verb, "group": group, "resource": found.plural, "namespace": namespace });
        if !allowed(cluster, &question).await? {
            let place =
                if namespace.is_empty() { String::new() } else { format!(" in namespace {namespace}") };
            missing.push(format!("{verb} {kind}{place}"));
        }
    }
    Ok(missing)
}

async fn allowed(cluster: &Cluster, attributes: &Value) -> Result<bool, Refused> {
    let question = json!({
        "apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectAccessReview",
        "spec": { "resourceAttributes": attributes },
    });
    let path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
    let answer = cluster.ask("asking for rights", path, question).await?;
    Ok(answer.is_some_and(|answer| answer.pointer("/status/allowed") == Some(&Value::Bool(true))))
}
