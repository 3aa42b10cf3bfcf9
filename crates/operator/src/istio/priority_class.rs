//! The class of the mesh's pods, without which no pod of it is made. It may be there with the operator's own deployment.

use mizzen_cluster::{Cluster, Desired, Mode, ObjectId, Refused};
use serde_json::{Value, json};

pub(super) const NAME: &str = "istio-kyma-priority";

pub(crate) fn desired() -> Value {
    json!({
        "apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass",
        "metadata": { "name": NAME },
        "value": 2_100_000,
        "description": "The operator of the mesh, and the mesh itself.",
    })
}

/// If it is not there: its value cannot be changed.
pub(super) async fn make(cluster: &Cluster) -> Result<(), Refused> {
    let id = ObjectId::new("scheduling.k8s.io", "PriorityClass", "", NAME);
    if cluster.get(&id, None).await?.is_none() {
        let desired = Desired { id, version: "v1".to_owned(), value: desired().into() };
        cluster.apply(&desired, Mode::default()).await?;
    }
    Ok(())
}
