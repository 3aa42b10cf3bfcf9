//! A workload restarted: its template gets a new time, and the cause in the same write, so that nothing is restarted twice for one.

use mizzen_cluster::{Cluster, ObjectId, Refused, now};
use serde_json::{Value, json};

/// When it was restarted, by the name of upstream's.
pub(super) const RESTARTED: &str = "istio-operator.kyma-project.io/restartedAt";
/// The same by kubectl's, which Kyma's older reconciler used.
pub(super) const RESTARTED_BY_KUBECTL: &str = "kubectl.kubernetes.io/restartedAt";
const RESTARTED_FOR: &str = "mizzen.io/restarted-for";

/// Whether it was restarted for this already.
pub(super) fn was_restarted_for(workload: &Value, cause: &str) -> bool {
    let annotations = workload.pointer("/spec/template/metadata/annotations");
    annotations.and_then(|all| all.get(RESTARTED_FOR)?.as_str()) == Some(cause)
}

/// Whether it is still there.
pub(super) async fn restart(
    cluster: &Cluster,
    id: &ObjectId,
    workload: &Value,
    cause: &str,
) -> Result<bool, Refused> {
    restart_under(cluster, id, workload, cause, RESTARTED).await
}

/// The time under another name.
pub(super) async fn restart_under(
    cluster: &Cluster,
    id: &ObjectId,
    workload: &Value,
    cause: &str,
    name: &str,
) -> Result<bool, Refused> {
    Ok(cluster.patch(id, patch(workload, cause, (name, &now()))).await?.is_some())
}

/// Only these two annotations, so that a workload that changes all the time can be restarted; the map of them is made only of the very
/// version that has none.
fn patch(workload: &Value, cause: &str, time: (&str, &str)) -> Value {
    let way = "/spec/template/metadata";
    let marks = [time, (RESTARTED_FOR, cause)];
    if workload.pointer(way).is_some_and(|metadata| metadata["annotations"].is_object()) {
        let key = |name: &str| format!("{way}/annotations/{}", name.replace('/', "~1"));
        return marks
            .iter()
            .map(|(name, value)| json!({ "op": "add", "path": key(name), "value": value }))
            .collect();
    }
    let mut metadata = workload.pointer(way).cloned().unwrap_or_else(|| json!({}));
    for (name, value) in marks {
        metadata["annotations"][name] = value.into();
    }
    json!([
        { "op": "replace", "path": "/metadata/resourceVersion", "value": workload["metadata"]["resourceVersion"] },
        { "op": "add", "path": way, "value": metadata },
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_but_the_two_marks_is_written() {
        let annotated = json!({ "spec": { "template": { "metadata": { "annotations": { "a": "b" } } } } });
        let written = patch(&annotated, "cause", (RESTARTED, "now"));
        assert_eq!(
            written,
            json!([
                { "op": "add", "path": "/spec/template/metadata/annotations/istio-operator.kyma-project.io~1restartedAt", "value": "now" },
                { "op": "add", "path": "/spec/template/metadata/annotations/mizzen.io~1restarted-for", "value": "cause" },
            ])
        );
        let bare = json!({ "metadata": { "resourceVersion": "7" }, "spec": { "template": { "metadata": { "labels": { "a": "b" } } } } });
        let written = patch(&bare, "cause", (RESTARTED, "now"));
        assert_eq!(written[0]["value"], "7");
        assert_eq!(written[1]["value"]["labels"], json!({ "a": "b" }));
        assert_eq!(written[1]["value"]["annotations"][RESTARTED_FOR], "cause");
        assert_eq!(patch(&json!({}), "cause", (RESTARTED, "now"))[1]["path"], "/spec/template/metadata");
    }
}
