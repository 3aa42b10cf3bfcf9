//! What keeps a resource until somebody has cleaned up behind it.

use mizzen_cluster::{Cluster, ObjectId, Refused};
use serde_json::{Value, json};

pub(crate) fn of(resource: &Value) -> impl Iterator<Item = &str> {
    let listed = resource.pointer("/metadata/finalizers").and_then(Value::as_array);
    listed.into_iter().flatten().filter_map(Value::as_str)
}

pub(crate) fn has(resource: &Value, name: &str) -> bool {
    of(resource).any(|finalizer| finalizer == name)
}

/// As the server has it then; nothing if it is gone.
pub(crate) async fn add(
    cluster: &Cluster,
    id: &ObjectId,
    resource: &Value,
    name: &str,
) -> Result<Option<Value>, Refused> {
    set(cluster, id, resource, of(resource).chain([name]).collect()).await
}

pub(crate) async fn remove(
    cluster: &Cluster,
    id: &ObjectId,
    resource: &Value,
    name: &str,
) -> Result<Option<Value>, Refused> {
    set(cluster, id, resource, of(resource).filter(|finalizer| *finalizer != name).collect()).await
}

/// Only of the very version that was looked at: others have finalizers, too.
async fn set(
    cluster: &Cluster,
    id: &ObjectId,
    resource: &Value,
    finalizers: Vec<&str>,
) -> Result<Option<Value>, Refused> {
    let patch = json!([
        { "op": "replace", "path": "/metadata/resourceVersion", "value": resource["metadata"]["resourceVersion"] },
        { "op": "add", "path": "/metadata/finalizers", "value": finalizers },
    ]);
    cluster.patch(id, patch).await
}
