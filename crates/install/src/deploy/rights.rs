//! Whether one may do what is planned, asked before anything is written.

use super::Plan;
use mizzen_cluster::{Action, Cluster, ObjectId, Refused, Rights};

/// A sentence for each right that is missing.
pub async fn missing_rights(cluster: &Cluster, plan: &Plan, namespace: &str) -> Result<Vec<String>, Refused> {
    let mut needed = Rights::default();
    let written = plan.steps().filter(|step| step.action != Action::Unchanged).map(|step| &step.id);
    // What could not be planned may be for want of a right.
    for id in written.chain(plan.failed.iter().map(|failed| &failed.id)) {
        needed.need(id, &["get", "create", "patch"]);
    }
    for id in &plan.prune {
        needed.need(id, &["delete"]);
    }
    let of = |kind: &str, namespace: &str| ObjectId::new("", kind, namespace, "");
    if plan.makes_namespace {
        needed.need(&of("Namespace", ""), &["create"]);
    }
    if !plan.changes_nothing() {
        needed.need(&of("ConfigMap", namespace), &["create", "patch"]);
    }
    cluster.missing_rights(&needed).await
}
