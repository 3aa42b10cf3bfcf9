//! A plan carried out.
//!
//! First the list of everything that may be there when it is over or cut off; then the components, each when those that it needs are
//! ready or have failed; then what is not wanted any more goes; then the list as it is. Whoever is cut off runs it again.

use super::{
    Mesh, Plan,
    plan::{PlannedPart, may_prune},
    progress::{Event, Progress},
};
use mizzen_cluster::{
    Action, Adoption, Claim, Cluster, Desired, Inventory, Mode, NoInventory, ObjectId, Planned, Pruned,
    Refused, Step,
    order::rank,
    wait::{NotReady, Waiting},
};
use std::{collections::BTreeMap, sync::Arc, time::Duration};

pub struct Settings {
    /// For each component to become ready.
    pub patience: Duration,
    pub adoption: Adoption,
}

/// What was done.
#[derive(Debug, Default)]
pub struct Report {
    pub steps: Vec<Step>,
    pub deleted: Vec<ObjectId>,
    pub failures: Vec<Failure>,
}

#[derive(Debug)]
pub struct Failure {
    /// As a person says it: `Istiod`
    pub component: &'static str,
    pub reason: String,
}

/// Components that can be worked on at the same time, and need those of the stages before them.
const STAGES: [&[&str]; 3] =
    [&["Base"], &["Pilot", "Cni"], &["IngressGateways", "EgressGateways", "Ztunnel"]];

pub async fn carry_out(
    cluster: &Arc<Cluster>,
    mesh: &Mesh,
    plan: Plan,
    settings: &Settings,
    progress: &Progress,
) -> Result<Report, NoInventory> {
    let owner = mesh.owner();
    let Plan { makes_namespace, mut parts, prune, candidates, before, .. } = plan;
    if makes_namespace {
        let namespace = Desired::new(mesh.namespace_object()).map_err(|reason| Refused::Invalid {
            what: format!("making the namespace {}", mesh.namespace),
            message: reason.to_string(),
        })?;
        cluster.apply(&namespace, Mode::default()).await?;
    }
    let note = mesh.version.as_ref().map(ToString::to_string).unwrap_or_default();
    let complete = Inventory::complete(mesh.ids(), &note);
    let writes = parts
        .iter()
        .flat_map(|part| &part.objects)
        .any(|(_, planned)| planned.step.action != Action::Unchanged);
    let mut list = Inventory::beginning(before.as_ref(), mesh.ids(), &note);
    let is_recorded = before.as_ref().is_some_and(|before| before.says_the_same_as(&complete));
    let begins = writes || !prune.is_empty() || !is_recorded;
    if begins {
        cluster.record(&owner, &mut list).await?;
    }
    let mut report = Report::default();
    // Who left it incomplete may still be at work, on what was looked at already.
    let again = before.as_ref().is_some_and(|before| !before.complete);
    for stage in STAGES {
        let (now, later) = parts.into_iter().partition(|part| stage.contains(&part.component.name));
        parts = later;
        let now: Vec<PlannedPart> = now;
        let claim = Arc::new(Claim::of(&owner, &list));
        let work = now.into_iter().map(|part| component(cluster, part, &claim, settings, progress));
        for (steps, failure) in join_all(work).await {
            report.steps.extend(steps);
            report.failures.extend(failure);
        }
    }
    if !report.failures.is_empty() {
        // Whoever was overtaken has failed for that reason, whatever else is said.
        cluster.holds(&Claim::of(&owner, &list)).await?;
    }
    if again && report.failures.is_empty() {
        report.failures.extend(look_again(cluster, mesh, settings).await);
    }
    // Nothing goes before what replaces it is there.
    if report.failures.is_empty() {
        for id in &candidates {
            match cluster.prune(id, &settings.adoption, |live| may_prune(live, mesh)).await? {
                Pruned::Deleted => {
                    progress(Event::Deleted { object: id.to_string() });
                    report.deleted.push(id.clone());
                }
                Pruned::Absent => {}
                // What was not even planned to go is no news.
                Pruned::Kept { why } if prune.contains(id) => {
                    progress(Event::Kept { object: id.to_string(), why });
                }
                Pruned::Kept { .. } => {}
            }
        }
        if begins {
            list.finish(complete);
            cluster.record(&owner, &mut list).await?;
        }
    }
    Ok(report)
}

/// Every object once more, as it is now.
async fn look_again(cluster: &Arc<Cluster>, mesh: &Mesh, settings: &Settings) -> Option<Failure> {
    let (adoption, patience) = (Arc::new(settings.adoption.clone()), settings.patience);
    let objects: Vec<Desired> = mesh.objects().cloned().collect();
    let brought = cluster.for_all(
        objects,
        |object| object.id.clone(),
        |cluster, object| {
            let adoption = Arc::clone(&adoption);
            async move { cluster.bring(&object, &adoption, None, patience).await }
        },
    );
    let failed = brought.await.failed.into_iter().next()?;
    Some(Failure { component: "The mesh", reason: failed.reason.to_string() })
}

/// Components are few: all at once.
async fn join_all<T>(work: impl Iterator<Item = impl Future<Output = T>>) -> Vec<T> {
    let mut work: Vec<_> = work.map(|work| (Box::pin(work), None)).collect();
    std::future::poll_fn(|context| {
        let mut all = true;
        for (work, result) in &mut work {
            if result.is_none() {
                match work.as_mut().poll(context) {
                    std::task::Poll::Ready(done) => *result = Some(done),
                    std::task::Poll::Pending => all = false,
                }
            }
        }
        if all { std::task::Poll::Ready(()) } else { std::task::Poll::Pending }
    })
    .await;
    work.into_iter().filter_map(|(_, result)| result).collect()
}

async fn component(
    cluster: &Arc<Cluster>,
    part: PlannedPart,
    claim: &Arc<Claim>,
    settings: &Settings,
    progress: &Progress,
) -> (Vec<Step>, Option<Failure>) {
    let title = part.component.title;
    progress(Event::Begins { component: title });
    let mut steps = Vec::new();
    let result = bring(cluster, part, claim, settings, progress, &mut steps).await;
    let failure = result.err().map(|reason| {
        progress(Event::Failed { component: title, reason: reason.clone() });
        Failure { component: title, reason }
    });
    if failure.is_none() {
        progress(Event::Ready { component: title });
    }
    (steps, failure)
}

/// Rank after rank; what comes after definitions can be of their kinds, so those are waited for.
async fn bring(
    cluster: &Arc<Cluster>,
    part: PlannedPart,
    claim: &Arc<Claim>,
    settings: &Settings,
    progress: &Progress,
    steps: &mut Vec<Step>,
) -> Result<(), String> {
    let title = part.component.title;
    let mut ranks: BTreeMap<u8, Vec<(Desired, Planned)>> = BTreeMap::new();
    for object in part.objects {
        ranks.entry(rank(&object.0.id.kind)).or_default().push(object);
    }
    let (adoption, patience) = (Arc::new(settings.adoption.clone()), settings.patience);
    let mut all = Vec::new();
    for (rank, objects) in ranks {
        let unsettled = objects.iter().filter(|(_, planned)| !planned.is_done());
        let ids: Vec<ObjectId> = unsettled.map(|(object, _)| object.id.clone()).collect();
        if objects.iter().any(|(_, planned)| planned.step.action != Action::Unchanged) {
            cluster.holds(claim).await.map_err(|error| error.to_string())?;
        }
        let going = objects.iter().filter_map(|(object, planned)| {
            let reason = planned.going.as_ref()?.to_string();
            Some(Waiting { id: object.id.clone(), reason })
        });
        let going: Vec<Waiting> = going.collect();
        if !going.is_empty() {
            progress(Event::Waits { component: title, for_what: going });
        }
        let brought = cluster.for_all(
            objects,
            |(object, _)| object.id.clone(),
            |cluster, (object, planned)| {
                let (adoption, claim) = (Arc::clone(&adoption), Arc::clone(claim));
                async move {
                    cluster.bring_claimed(&object, &adoption, Some(planned), patience, Some(&claim)).await
                }
            },
        );
        let brought = brought.await;
        for step in brought.done {
            progress(Event::Brought { step: step.clone() });
            steps.push(step);
        }
        if let Some(failed) = brought.failed.first() {
            let others = match brought.failed.len() {
                1 => String::new(),
                count => format!(" (and {} more)", count - 1),
            };
            return Err(format!("{}{others}", failed.reason));
        }
        if rank == 0 && !ids.is_empty() {
            let told =
                |for_what: &[_]| progress(Event::Waits { component: title, for_what: for_what.to_vec() });
            cluster.until_ready(&ids, settings.patience, told).await.map_err(|error| error.to_string())?;
            cluster.look().await.map_err(|error| error.to_string())?;
        } else {
            all.extend(ids);
        }
    }
    let told = |for_what: &[_]| progress(Event::Waits { component: title, for_what: for_what.to_vec() });
    cluster.until_ready(&all, settings.patience, told).await.map_err(|error: NotReady| error.to_string())
}
