//! A plan carried out: what may be restarted now is, the rest is told.

use super::{
    LISTED, Restarted,
    counts::Counts,
    owner::Action,
    plan::{RestartPlan, Workload},
    verdict::{Conduct, Marks, Verdict, Why, is_open, verdict},
};
use crate::{
    istio::{
        event::{self, Reason},
        rollout::{restart_with, was_restarted_for, was_restarted_with},
    },
    pass::Stopped,
};
use mizzen_cluster::{Cluster, Eviction, ObjectId, Refused};
use serde_json::Value;

/// What became of a workload.
enum Told {
    Fine,
    Restarted,
    Later(Why),
    ByHand(&'static str),
    Unreadable,
}

/// Of a write that somebody else comes before.
const ATTEMPTS: u32 = 3;
const UNREADABLE: &str = "its maintenance window cannot be read: write it as `Sat-Sun 00:00-04:00`";
const EXCLUDED: &str = "its sidecar is not what it should be, and it asks not to be restarted";

pub(super) async fn act(
    cluster: &Cluster,
    plan: RestartPlan,
    mut conduct: Conduct<'_>,
    counts: &Counts,
) -> Result<Restarted, Stopped> {
    let mut done = Restarted::default();
    counts.look(is_open(&conduct.settings.windows, conduct.now));
    let size = conduct.settings.batch_size;
    let mut room = size.map_or(usize::MAX, |size| usize::try_from(size).unwrap_or(usize::MAX));
    let (cause, injector) = (plan.cause.clone(), plan.injector.clone());
    let marks = Marks { cause: &cause, injector: &injector };
    for workload in plan.into_workloads() {
        let kind = workload.owner.kind.as_str();
        let name = format!("{}/{}", workload.namespace, workload.owner.name);
        let mut outcome = one(cluster, &workload, marks, &mut conduct, &mut room).await;
        // Its status changes all the time.
        for _ in 1..ATTEMPTS {
            if matches!(outcome, Err(Refused::Conflict { .. })) {
                outcome = one(cluster, &workload, marks, &mut conduct, &mut room).await;
            }
        }
        let tell = async |reason: Reason, note: &str| {
            event::tell(cluster, &workload.namespace, &workload.owner, reason, note, &cause).await;
        };
        match outcome {
            Ok(Told::Fine) => continue,
            Ok(Told::Restarted) => {
                tell(Reason::RestartSuccess, "restarted, so that its sidecar is what it should be").await;
                counts.restarted(kind, true);
                done.wrote = true;
            }
            Ok(Told::Later(why)) => {
                counts.skipped(why.word());
                if why == Why::Excluded {
                    tell(Reason::RestartRequired, EXCLUDED).await;
                }
                *done.outdated.waiting.entry(why.word()).or_default() += 1;
            }
            Ok(Told::ByHand(why)) => {
                tracing::warn!(workload = name, "{why}");
                tell(Reason::RestartRequired, why).await;
                done.by_hand.push(name.clone());
            }
            Ok(Told::Unreadable) => {
                tracing::warn!(workload = name, UNREADABLE);
                tell(Reason::RestartConfigInvalid, UNREADABLE).await;
                done.by_hand.push(name.clone());
            }
            // Somebody else is at it: the next look sees what comes of that.
            Err(Refused::Conflict { .. }) => {
                *done.outdated.waiting.entry(Why::RollingOut.word()).or_default() += 1;
            }
            Err(refused) => {
                counts.restarted(kind, false);
                tell(Reason::RestartFailed, &refused.to_string()).await;
                if workload.of_kyma {
                    return Err(refused.into());
                }
                tracing::warn!(workload = name, %refused, "it could not be restarted");
                done.by_hand.push(name.clone());
            }
        }
        counts.pending(kind);
        done.outdated.count += 1;
        if done.outdated.workloads.len() < LISTED {
            done.outdated.workloads.push(name);
        }
    }
    Ok(done)
}

async fn one(
    cluster: &Cluster,
    workload: &Workload,
    marks: Marks<'_>,
    conduct: &mut Conduct<'_>,
    room: &mut usize,
) -> Result<Told, Refused> {
    let id = match &workload.action {
        Action::ByHand(why) => return Ok(Told::ByHand(why)),
        Action::RollOut(owner) | Action::Evict(owner) => ObjectId::new(
            owner.version.split_once('/').map_or("", |(group, _)| group),
            &owner.kind,
            &workload.namespace,
            &owner.name,
        ),
    };
    let Some(object) = cluster.get(&id, None).await? else { return Ok(Told::Fine) };
    match verdict(&object, workload, marks, conduct) {
        Verdict::Done => Ok(Told::Fine),
        Verdict::Later(why) => {
            if why == Why::RollingOut {
                *room = room.saturating_sub(1);
                conduct.budgets.use_for(&object);
            }
            Ok(Told::Later(why))
        }
        Verdict::InVain => {
            Ok(Told::ByHand("it was restarted, and its sidecar is still not what it should be"))
        }
        Verdict::Waits(why) => {
            // Its next pods say what they were made for.
            if !was_restarted_for(&object, marks.cause) {
                restart_with(cluster, &id, &object, marks.cause, marks.injector).await?;
            }
            Ok(Told::ByHand(why))
        }
        Verdict::Unreadable => Ok(Told::Unreadable),
        Verdict::Restart if *room == 0 => Ok(Told::Later(Why::BatchSize)),
        Verdict::Evict if *room == 0 => Ok(Told::Later(Why::BatchSize)),
        Verdict::Evict => evict(cluster, workload, marks, &id, &object, room).await,
        Verdict::Restart => {
            tracing::info!(workload = %id, marks.cause, "restarting");
            let is_there = restart_with(cluster, &id, &object, marks.cause, marks.injector).await?;
            *room -= 1;
            conduct.budgets.use_for(&object);
            Ok(if is_there { Told::Restarted } else { Told::Fine })
        }
    }
}

/// Its owner makes another in its place, which says what it was made for.
async fn evict(
    cluster: &Cluster,
    workload: &Workload,
    Marks { cause, injector }: Marks<'_>,
    id: &ObjectId,
    owner: &Value,
    room: &mut usize,
) -> Result<Told, Refused> {
    if !(was_restarted_for(owner, cause) && was_restarted_with(owner, injector)) {
        restart_with(cluster, id, owner, cause, injector).await?;
    }
    let (namespace, name) = (&workload.namespace, &workload.owner.name);
    Ok(match cluster.evict(namespace, name, None).await? {
        Eviction::Done => {
            *room -= 1;
            Told::Restarted
        }
        Eviction::Absent => Told::Fine,
        Eviction::Held(why) => {
            tracing::info!(pod = format!("{namespace}/{name}"), why, "it cannot be spared now");
            Told::Later(Why::PodDisruptionBudget)
        }
    })
}
