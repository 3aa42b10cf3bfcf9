//! Objects beside the mesh that are kept as they should be.

use super::{DISCLAIMED, DISCLAIMER, MODULE};
use mizzen_cluster::{
    Action, Adoption, Cluster, Deletion, Desired, Mode, NoObject, NotPlanned, ObjectId, Reclaim, Refused,
};
use serde_json::{Value, json};
use std::{collections::BTreeSet, time::Duration};

/// For one of the same name that is being deleted.
const GONE: Duration = Duration::from_secs(30);

#[derive(Debug, thiserror::Error)]
pub(super) enum NotKept {
    #[error(transparent)]
    Object(#[from] NoObject),
    #[error(transparent)]
    Plan(#[from] NotPlanned),
    #[error(transparent)]
    Refused(#[from] Refused),
}

/// What all of them carry; `version` is that of the operator.
pub(super) fn metadata(name: &str, namespace: &str, version: &str) -> Value {
    json!({
        "name": name, "namespace": namespace,
        "labels": {
            MODULE: "istio",
            "app.kubernetes.io/component": "operator",
            "app.kubernetes.io/part-of": "istio",
            "app.kubernetes.io/name": "istio-operator",
            "app.kubernetes.io/instance": "istio-operator-default",
            "app.kubernetes.io/version": version,
        },
        "annotations": { DISCLAIMER: DISCLAIMED },
    })
}

/// Whether anything had to be written. What somebody has made of it is taken back: the disclaimer says so.
pub(super) async fn keep(cluster: &Cluster, object: Value) -> Result<bool, NotKept> {
    let desired = Desired::new(object)?;
    let adoption = Adoption { reclaim: Reclaim::Edited { scaled: BTreeSet::new() }, ..Adoption::default() };
    match cluster.bring(&desired, &adoption, None, GONE).await {
        Ok(step) => Ok(step.action != Action::Unchanged),
        Err(NotPlanned::Foreign { .. }) => {
            cluster.apply(&desired, Mode { force: true, ..Mode::default() }).await?;
            Ok(true)
        }
        Err(error) => Err(error.into()),
    }
}

/// Whether it was there, and ours.
pub(super) async fn drop_own(cluster: &Cluster, object: &Value) -> Result<bool, NotKept> {
    let id = ObjectId::of(object)?;
    let Some(live) = cluster.get(&id, None).await? else { return Ok(false) };
    if live["metadata"]["labels"].get(MODULE).is_none_or(|module| module != "istio") {
        return Ok(false);
    }
    let uid = live["metadata"]["uid"].as_str();
    Ok(cluster.delete(&id, uid).await? != Deletion::Absent)
}
