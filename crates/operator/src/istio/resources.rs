//! Objects beside the mesh that are kept as they should be.

use super::{DISCLAIMED, DISCLAIMER, MODULE};
use mizzen_cluster::{
    Action, Adoption, Cluster, Deletion, Desired, Mode, NoObject, NotPlanned, ObjectId, Reclaim, Refused,
    Step, difference,
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

fn adoption() -> Adoption {
    Adoption { reclaim: Reclaim::Edited { scaled: BTreeSet::new() }, ..Adoption::default() }
}

/// Whether anything had to be written. What somebody has made of it is taken back: the disclaimer says so.
pub(super) async fn keep(cluster: &Cluster, object: Value) -> Result<bool, NotKept> {
    Ok(kept(cluster, object).await?.action != Action::Unchanged)
}

/// The same, and what was done.
pub(super) async fn kept(cluster: &Cluster, object: Value) -> Result<Step, NotKept> {
    let desired = Desired::new(object)?;
    match cluster.bring(&desired, &adoption(), None, GONE).await {
        Ok(step) => Ok(step),
        Err(NotPlanned::Foreign { .. }) => {
            let step = taken(cluster, &desired).await?;
            cluster.apply(&desired, Mode { force: true, ..Mode::default() }).await?;
            Ok(step)
        }
        Err(error) => Err(error.into()),
    }
}

/// What keeping it would do.
pub(super) async fn planned(cluster: &Cluster, object: Value) -> Result<Step, NotKept> {
    let desired = Desired::new(object)?;
    match cluster.plan(&desired, &adoption()).await {
        Ok(planned) => Ok(planned.step),
        Err(NotPlanned::Foreign { .. }) => taken(cluster, &desired).await,
        Err(error) => Err(error.into()),
    }
}

/// What becomes of somebody else's object.
async fn taken(cluster: &Cluster, desired: &Desired) -> Result<Step, NotKept> {
    let live = cluster.get(&desired.id, Some(&desired.version)).await?.unwrap_or_default();
    let result = cluster.apply(desired, Mode { dry_run: true, force: true }).await?;
    let action = Action::Change { changes: difference(&live, &result) };
    Ok(Step { id: desired.id.clone(), action, left: Vec::new() })
}

/// Whether it was there, and ours.
pub(super) async fn drop_own(cluster: &Cluster, object: &Value) -> Result<bool, NotKept> {
    drop_marked(cluster, object, (MODULE, "istio")).await
}

/// The same for what carries another label.
pub(super) async fn drop_marked(
    cluster: &Cluster,
    object: &Value,
    mark: (&str, &str),
) -> Result<bool, NotKept> {
    let id = ObjectId::of(object)?;
    let Some(live) = cluster.get(&id, None).await?.filter(|live| is_marked(live, mark)) else {
        return Ok(false);
    };
    let uid = live["metadata"]["uid"].as_str();
    Ok(cluster.delete(&id, uid).await? != Deletion::Absent)
}

pub(super) fn is_marked(live: &Value, (label, value): (&str, &str)) -> bool {
    live["metadata"]["labels"].get(label).is_some_and(|found| found == value)
}
