//! A workload restarted: its template gets a new time, and the cause in the same write, so that nothing is restarted twice for one. What
//! rolls nothing out by itself passes the marks on to its next pods.

use mizzen_cluster::{Cluster, ObjectId, Refused, now};
use serde_json::{Value, json};

/// When it was restarted, by the name of upstream's.
const RESTARTED: &str = "istio-operator.kyma-project.io/restartedAt";
/// The same by kubectl's, which Kyma's older reconciler used.
const RESTARTED_BY_KUBECTL: &str = "kubectl.kubernetes.io/restartedAt";
pub(super) const RESTARTED_FOR: &str = "mizzen.io/restarted-for";
/// Who injected then.
pub(super) const RESTARTED_WITH: &str = "mizzen.io/restarted-with";

/// Whether it was restarted for this already.
pub(super) fn was_restarted_for(workload: &Value, cause: &str) -> bool {
    mark(workload, RESTARTED_FOR) == Some(cause)
}

/// Whether the same injector was there when it was restarted.
pub(super) fn was_restarted_with(workload: &Value, injector: &str) -> bool {
    mark(workload, RESTARTED_WITH) == Some(injector)
}

pub(super) fn mark<'w>(workload: &'w Value, name: &str) -> Option<&'w str> {
    workload.pointer("/spec/template/metadata/annotations")?.get(name)?.as_str()
}

/// For some causes, each by its mark. Whether it is still there.
pub(super) async fn restart(
    cluster: &Cluster,
    id: &ObjectId,
    workload: &Value,
    causes: &[(&str, &str)],
) -> Result<bool, Refused> {
    let now = now();
    let marks = [&[(RESTARTED, now.as_str())], causes].concat();
    Ok(cluster.patch(id, patch(workload, &marks)).await?.is_some())
}

/// The same, the time under kubectl's name.
pub(super) async fn restart_as_kubectl(
    cluster: &Cluster,
    id: &ObjectId,
    workload: &Value,
    cause: &str,
) -> Result<bool, Refused> {
    let marks = [(RESTARTED_BY_KUBECTL, now()), (RESTARTED_FOR, cause.to_owned())];
    let marks = marks.each_ref().map(|(name, value)| (*name, value.as_str()));
    Ok(cluster.patch(id, patch(workload, &marks)).await?.is_some())
}

/// The same, with who injects its new pods.
pub(super) async fn restart_with(
    cluster: &Cluster,
    id: &ObjectId,
    workload: &Value,
    cause: &str,
    injector: &str,
) -> Result<bool, Refused> {
    restart(cluster, id, workload, &[(RESTARTED_FOR, cause), (RESTARTED_WITH, injector)]).await
}

/// Only these annotations, so that a workload that changes all the time can be restarted; the map of them is made only of the very
/// version that has none.
fn patch(workload: &Value, marks: &[(&str, &str)]) -> Value {
    let way = "/spec/template/metadata";
    if workload.pointer(way).is_some_and(|metadata| metadata["annotations"].is_object()) {
        let key = |name: &str| format!("{way}/annotations/{}", name.replace('/', "~1"));
        return marks
            .iter()
            .map(|(name, value)| json!({ "op": "add", "path": key(name), "value": value }))
            .collect();
    }
    let mut metadata = workload.pointer(way).cloned().unwrap_or_else(|| json!({}));
    for (name, value) in marks {
        metadata["annotations"][*name] = (*value).into();
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
    fn nothing_but_the_marks_is_written() {
        let marks = [(RESTARTED, "now"), (RESTARTED_FOR, "cause")];
        let annotated = json!({ "spec": { "template": { "metadata": { "annotations": { "a": "b" } } } } });
        let written = patch(&annotated, &marks);
        assert_eq!(
            written,
            json!([
                { "op": "add", "path": "/spec/template/metadata/annotations/istio-operator.kyma-project.io~1restartedAt", "value": "now" },
                { "op": "add", "path": "/spec/template/metadata/annotations/mizzen.io~1restarted-for", "value": "cause" },
            ])
        );
        let bare = json!({ "metadata": { "resourceVersion": "7" }, "spec": { "template": { "metadata": { "labels": { "a": "b" } } } } });
        let written = patch(&bare, &marks);
        assert_eq!(written[0]["value"], "7");
        assert_eq!(written[1]["value"]["labels"], json!({ "a": "b" }));
        assert_eq!(written[1]["value"]["annotations"][RESTARTED_FOR], "cause");
        assert_eq!(patch(&json!({}), &marks)[1]["path"], "/spec/template/metadata");
    }
}
