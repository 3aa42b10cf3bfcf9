//! A workload restarted: its template gets a new time, and the cause in the same write, so that nothing is restarted twice for one.

use mizzen_cluster::{Cluster, ObjectId, Refused, now};
use serde_json::{Value, json};

/// When it was restarted, by the name of upstream's.
const RESTARTED: &str = "istio-operator.kyma-project.io/restartedAt";
const RESTARTED_FOR: &str = "mizzen.io/restarted-for";

/// Whether it was restarted for this already.
pub(super) fn was_restarted_for(workload: &Value, cause: &str) -> bool {
    let annotations = workload.pointer("/spec/template/metadata/annotations");
    annotations.and_then(|all| all.get(RESTARTED_FOR)?.as_str()) == Some(cause)
}

/// Only of the very version that was looked at; whether it is still there.
pub(super) async fn restart(
    cluster: &Cluster,
    id: &ObjectId,
    workload: &Value,
    cause: &str,
) -> Result<bool, Refused> {
    let annotations = &workload["spec"]["template"]["metadata"]["annotations"];
    let mut annotations = annotations.as_object().cloned().unwrap_or_default();
    annotations.insert(RESTARTED.to_owned(), now().into());
    annotations.insert(RESTARTED_FOR.to_owned(), cause.into());
    let mut patch = vec![
        json!({ "op": "replace", "path": "/metadata/resourceVersion", "value": workload["metadata"]["resourceVersion"] }),
    ];
    if workload.pointer("/spec/template/metadata").is_none() {
        patch.push(json!({ "op": "add", "path": "/spec/template/metadata", "value": {} }));
    }
    patch.push(json!({ "op": "add", "path": "/spec/template/metadata/annotations", "value": annotations }));
    Ok(cluster.patch(id, patch.into()).await?.is_some())
}
