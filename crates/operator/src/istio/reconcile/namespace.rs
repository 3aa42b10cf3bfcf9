//! A namespace that was made here goes, unless something is in it that somebody would miss.

use super::{
    Done, Failed, Outcome, Pass,
    mark::{MARK, is_deleted},
};
use crate::istio::{
    inhabitant::{Unseen, inhabitant},
    resources::is_marked,
};
use mizzen_cluster::{Action, ObjectId, Step};
use serde_json::Value;
use std::time::Duration;

/// For namespaces to be gone.
const PATIENCE: Duration = Duration::from_secs(60);

/// `before` is what has gone in this pass already, or would have.
pub(super) async fn leave(
    pass: &Pass<'_>,
    name: &str,
    before: &[Outcome],
    done: &mut Done,
) -> Result<(), Failed> {
    let (cluster, id) = (pass.cluster, ObjectId::new("", "Namespace", "", name));
    let Some(live) = cluster.get(&id, None).await?.filter(|live| is_marked(live, MARK)) else {
        return Ok(());
    };
    if live["metadata"].get("deletionTimestamp").is_none() {
        // The list of the mesh goes with the mesh.
        let is_list = |id: &ObjectId| id.name.starts_with("mizzen-inventory-") && pass.order.dry_run;
        let goes = |id: &ObjectId, _: &Value| is_list(id) || is_deleted(before, id);
        if let Some(why) = inhabitant(cluster, name, Unseen::Keeps, goes).await? {
            done.notes.push(format!("the namespace {name} stays: {why}"));
            return Ok(());
        }
        if !pass.order.dry_run {
            cluster.delete(&id, live["metadata"]["uid"].as_str()).await?;
        }
        done.steps.push(Step { id: id.clone(), action: Action::Delete, left: Vec::new() });
    }
    if !pass.order.dry_run
        && let Err(going) = cluster.gone(&id, PATIENCE).await
    {
        done.notes.push(going.to_string());
    }
    Ok(())
}
