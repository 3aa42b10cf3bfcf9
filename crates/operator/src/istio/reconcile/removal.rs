//! The mesh goes; unless people would lose something. Its namespace is one of the essentials.

use super::{
    Done, Failed, MESH, Outcome, Pass, Told,
    mark::{MARK, is_deleted, is_foreign},
    mesh::kept_by_operator,
    resources,
};
use crate::istio::{blockers, resources::is_marked, sidecars, uninstall::which};
use mizzen_cluster::{Action, ObjectId, Step};
use mizzen_install::deploy::{self, Facts};
use std::sync::Arc;

pub(super) async fn remove(pass: &Pass<'_>, before: &[Outcome], done: &mut Done) -> Result<(), Failed> {
    let cluster = pass.cluster;
    let blockers = blockers(pass, before).await?;
    let blocked = (!blockers.is_empty()).then(|| blockers::sentence(&blockers));
    done.refuse(pass, kept_by_operator(pass).await?.into_iter().chain(blocked).collect())?;
    let facts = Facts::read(cluster).await?;
    let removal = deploy::plan_removal(cluster, &facts, &which(&facts)).await?;
    if removal.is_empty() {
        done.notes.push("Istio is not installed".to_owned());
        // Whoever was cut off behind the mesh goes on with its workloads.
        if !cluster
            .get(&ObjectId::new("", "Namespace", "", MESH), None)
            .await?
            .is_some_and(|live| is_marked(&live, MARK))
        {
            return Ok(());
        }
    }
    let delete = |id: &ObjectId| Step { id: id.clone(), action: Action::Delete, left: Vec::new() };
    done.steps.extend(removal.objects.iter().map(delete));
    if pass.order.dry_run {
        return Ok(());
    }
    let tell = Arc::clone(&pass.tell);
    let progress = move |event| tell(Told::Event(event));
    let removed = deploy::remove(cluster, removal, &progress).await?;
    let held = removed.failed.iter().chain(&removed.going);
    let held: Vec<String> = held.map(|(id, why)| format!("{id}: {why}")).collect();
    if !held.is_empty() {
        return Err(Failed::Said(held.join("\n")));
    }
    // Whoever cannot be restarted keeps a sidecar that nobody configures: nothing is held up by that.
    let at = mizzen_cluster::now();
    let cause = format!("Istio was removed at {at}");
    match Box::pin(sidecars::restart_all(cluster, &cause, &sidecars::Counts::default())).await {
        Ok(restarted) if !restarted.by_hand.is_empty() => done.notes.push(restarted.sentence()),
        Ok(_) => {}
        Err(stopped) => done.notes.push(format!("workloads were not restarted: {stopped}")),
    }
    Ok(())
}

/// What people would lose with the definitions of Istio's kinds. One of a name that is known here, too, if it was not made here.
pub(super) async fn blockers(pass: &Pass<'_>, before: &[Outcome]) -> Result<Vec<ObjectId>, Failed> {
    let mut found = blockers::blockers(pass.cluster).await?;
    found.retain(|id| !is_deleted(before, id));
    for id in resources::known() {
        let live = pass.cluster.get(&id, None).await?;
        if live.is_some_and(|live| is_foreign(&live)) && !found.contains(&id) {
            found.push(id);
        }
    }
    Ok(found)
}
