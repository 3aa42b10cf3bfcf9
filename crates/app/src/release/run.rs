//! A plan carried out, and recorded on the way.
//!
//! First the ledger says who is at work and what may be there from now on; then the objects, each when those that it needs are there;
//! then they are waited for; then what nobody wants any more goes; then the ledger says what is there.

use super::{
    ledger::{Beginning, Phase, What},
    lock::Person,
    owner::Owner,
    pack::{pack, pack_in_parts},
    plan::{Plan, PlannedStep, is_definition, recorded},
    record::{Held, NoRelease, unwritable},
    strangers::of_its_kind,
    walk::{Stop, Walked, attended, walk},
    wanted::{Wanted, graph},
};
use crate::{release::graph::Graph, spec::Spec};
use mizzen_cluster::{
    Action, Adoption, Cluster, Desired, NotPlanned, ObjectId, Planned, Pruned, Step, Timestamp,
    wait::{NotReady, Waiting},
};
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::Duration,
};

pub struct Settings {
    /// For something to become ready, or to be gone.
    pub patience: Duration,
    pub adoption: Adoption,
    /// Whether workloads are waited for.
    pub wait: bool,
}

#[derive(Debug)]
pub enum Event {
    /// An object is as it should be.
    Brought {
        step: Step,
        done: usize,
        of: usize,
    },
    Failed {
        id: ObjectId,
        reason: String,
    },
    Waits {
        for_what: Vec<Waiting>,
    },
    Deleted {
        id: ObjectId,
    },
    /// It was to be deleted, and stays.
    Kept {
        id: ObjectId,
        why: String,
    },
}

/// Whoever listens.
pub type Progress = dyn Fn(Event) + Send + Sync;

#[derive(Debug, Default)]
pub struct Report {
    pub number: u32,
    pub steps: Vec<Step>,
    pub deleted: Vec<ObjectId>,
    pub kept: Vec<(ObjectId, String)>,
    pub failures: Vec<(ObjectId, String)>,
    /// Not begun, because what they need has failed.
    pub given_up: Vec<ObjectId>,
    pub interrupted: bool,
}

/// A release that has begun.
pub struct Started {
    held: Held,
    plan: Plan,
    number: u32,
    /// The Spec, as it is kept.
    parts: Vec<String>,
    /// The namespace that was made for the ledger.
    made: Option<ObjectId>,
}

/// Nothing if the ledger is not the one any more that was planned with: then it has to be planned again.
pub async fn start(
    cluster: &Arc<Cluster>,
    owner: &Owner,
    plan: Plan,
    spec: &Spec,
    what: What,
    me: &Person,
    settings: &Settings,
) -> Result<Option<Started>, NoRelease> {
    let mut ledger = plan.before.as_ref().map(|before| before.ledger.clone()).unwrap_or_default();
    let wanted: Vec<Wanted> = plan.steps.iter().map(|step| step.wanted.clone()).collect();
    let beginning = Beginning { what, digest: &plan.digest, who: &me.who, process: &me.process, now: &now() };
    let number = ledger.begin(&beginning, &wanted);
    // What cannot be recorded is not begun.
    pack(&ledger).map_err(|reason| unwritable(owner, reason))?;
    let parts = pack_in_parts(spec).map_err(|reason| unwritable(owner, reason))?;
    let mut made = None;
    if plan.makes_namespace(owner) {
        let namespace = plan.steps.iter().find(|step| step.wanted.desired.id == owner.namespace_id());
        if let Some(step) = namespace {
            cluster.bring(&step.wanted.desired, &settings.adoption, None, settings.patience).await?;
            made = Some(step.wanted.desired.id.clone());
        }
    }
    let held = Held::take(cluster, owner, plan.before.as_ref(), ledger, &me.process).await?;
    Ok(held.map(|held| Started { held, plan, number, parts, made }))
}

pub(super) fn now() -> String {
    format!("{:.0}", Timestamp::now())
}

pub async fn carry_out(
    started: Started,
    settings: &Settings,
    progress: &Progress,
    stop: &mut Stop,
) -> Result<Report, NoRelease> {
    let Started { mut held, plan, number, parts, made } = started;
    let work = Work { plan, number, parts, made };
    let ended = work.carry_out(&mut held, settings, progress, stop).await;
    if let Err(error) = &ended {
        held.give_up(error).await;
    }
    ended
}

/// What a release that has begun has to do.
struct Work {
    plan: Plan,
    number: u32,
    parts: Vec<String>,
    made: Option<ObjectId>,
}

impl Work {
    async fn carry_out(
        self,
        held: &mut Held,
        settings: &Settings,
        progress: &Progress,
        stop: &mut Stop,
    ) -> Result<Report, NoRelease> {
        let Self { plan, number, parts, made } = self;
        let mut report = Report { number, ..Report::default() };
        held.keep_spec(number, &parts).await?;
        let wanted: Vec<Wanted> = plan.steps.iter().map(|step| step.wanted.clone()).collect();
        let walked = bring(held, plan.steps, made.as_ref(), settings, progress, stop, &mut report).await?;
        report.interrupted = walked.stopped;
        report.given_up = walked.given_up.iter().map(|&place| wanted[place].desired.id.clone()).collect();
        if report.is_well() && settings.wait {
            wait(held, &wanted, settings, progress, stop, &mut report).await?;
        }
        // Nothing goes before what replaces it is there.
        if report.is_well() {
            let leaving = plan.leaving.into_iter().map(|leaving| (leaving.id, leaving.kept));
            let all: Vec<_> = leaving.chain(plan.absent.into_iter().map(|id| (id, None))).collect();
            remove(held, all, settings, progress, stop, &mut report).await?;
        }
        let (phase, message) = report.verdict();
        held.ledger.end(phase, message, &now());
        held.ledger.forget_old();
        let kept: Vec<u32> = held
            .ledger
            .releases
            .iter()
            .filter(|one| one.phase == Phase::Succeeded)
            .map(|one| one.number)
            .collect();
        held.drop_specs(&kept).await?;
        held.write().await?;
        Ok(report)
    }
}

impl Report {
    pub fn is_well(&self) -> bool {
        self.failures.is_empty() && !self.interrupted
    }

    pub(super) fn verdict(&self) -> (Phase, Option<String>) {
        match self.failures.first() {
            Some((id, reason)) => {
                let named =
                    if reason.contains(&id.to_string()) { reason.clone() } else { format!("{id}: {reason}") };
                let more = match self.failures.len() {
                    1 => String::new(),
                    count => format!(" (and {} more)", count - 1),
                };
                (Phase::Failed, Some(named + &more))
            }
            None if self.interrupted => (Phase::Interrupted, None),
            None => (Phase::Succeeded, None),
        }
    }
}

async fn bring(
    held: &mut Held,
    steps: Vec<PlannedStep>,
    made: Option<&ObjectId>,
    settings: &Settings,
    progress: &Progress,
    stop: &mut Stop,
    report: &mut Report,
) -> Result<Walked, NoRelease> {
    let wanted: Vec<Wanted> = steps.iter().map(|step| step.wanted.clone()).collect();
    let graph = graph(&wanted);
    let planned: Vec<(Desired, Option<Planned>)> = steps
        .into_iter()
        .map(|step| {
            let anew = made == Some(&step.wanted.desired.id);
            (step.wanted.desired, Some(step.planned).filter(|_| !anew))
        })
        .collect();
    let (cluster, patience) = (Arc::clone(&held.cluster), settings.patience);
    let adoption = Arc::new(recorded(&settings.adoption, Some(&held.ledger)));
    let work = |place: usize| {
        let (cluster, adoption) = (Arc::clone(&cluster), Arc::clone(&adoption));
        let (desired, planned) = planned[place].clone();
        async move { brought(&cluster, &desired, planned, &adoption, patience).await }
    };
    let (mut count, of) = (0, wanted.len());
    walk(held, &graph, stop, work, |ledger, place, result: Result<Step, String>| {
        let id = &wanted[place].desired.id;
        match result {
            Ok(mut step) => {
                count += 1;
                ledger.brought(id);
                // It was made a moment ago, for the ledger.
                if made == Some(id) {
                    step.action = Action::Create;
                }
                progress(Event::Brought { step: step.clone(), done: count, of });
                report.steps.push(step);
                true
            }
            Err(reason) => {
                progress(Event::Failed { id: id.clone(), reason: reason.clone() });
                report.failures.push((id.clone(), reason));
                false
            }
        }
    })
    .await
}

/// A definition is there when its kind is served.
async fn brought(
    cluster: &Cluster,
    desired: &Desired,
    planned: Option<Planned>,
    adoption: &Adoption,
    patience: Duration,
) -> Result<Step, String> {
    let step =
        cluster.bring(desired, adoption, planned, patience).await.map_err(|error| error.to_string())?;
    if desired.id.kind == "CustomResourceDefinition" && step.action != Action::Unchanged {
        let ready = cluster.until_ready(std::slice::from_ref(&desired.id), patience, |_| {}).await;
        ready.map_err(|error| error.to_string())?;
        cluster.look().await.map_err(|error| error.to_string())?;
    }
    Ok(step)
}

async fn wait(
    held: &mut Held,
    wanted: &[Wanted],
    settings: &Settings,
    progress: &Progress,
    stop: &mut Stop,
    report: &mut Report,
) -> Result<(), NoRelease> {
    let ids: Vec<ObjectId> = wanted.iter().map(|one| one.desired.id.clone()).collect();
    let cluster = Arc::clone(&held.cluster);
    let told = |for_what: &[Waiting]| progress(Event::Waits { for_what: for_what.to_vec() });
    match attended(held, stop, cluster.until_ready(&ids, settings.patience, told)).await? {
        None => report.interrupted = true,
        Some(Ok(())) => {}
        Some(Err(NotReady::Refused(refused))) => return Err(refused.into()),
        Some(Err(NotReady::TimedOut { after, waiting })) => {
            for Waiting { id, reason } in waiting {
                let reason = format!("{id} is not ready after {} s: {reason}", after.as_secs());
                progress(Event::Failed { id: id.clone(), reason: reason.clone() });
                report.failures.push((id, reason));
            }
        }
    }
    Ok(())
}

/// What became of an object that was to go.
enum Gone {
    Deleted,
    Absent,
    Kept(String),
}

/// Along the edges that they were made with, the other way round. What is to stay is only forgotten.
pub(super) async fn remove(
    held: &mut Held,
    leaving: Vec<(ObjectId, Option<String>)>,
    settings: &Settings,
    progress: &Progress,
    stop: &mut Stop,
    report: &mut Report,
) -> Result<(), NoRelease> {
    if leaving.is_empty() {
        return Ok(());
    }
    let ids: Vec<ObjectId> = leaving.iter().map(|(id, _)| id.clone()).collect();
    let graph = edges(held, &ids).reversed();
    let (cluster, patience) = (Arc::clone(&held.cluster), settings.patience);
    let going: Arc<BTreeSet<ObjectId>> = Arc::new(ids.iter().cloned().collect());
    let work = |place: usize| {
        let (cluster, going) = (Arc::clone(&cluster), Arc::clone(&going));
        let (id, kept) = leaving[place].clone();
        async move { gone(&cluster, &id, kept, &going, patience).await }
    };
    let walked = walk(held, &graph, stop, work, |ledger, place, result| {
        let id = &ids[place];
        match result {
            Ok(gone) => {
                ledger.gone(id);
                match gone {
                    Gone::Deleted => {
                        progress(Event::Deleted { id: id.clone() });
                        report.deleted.push(id.clone());
                    }
                    Gone::Absent => {}
                    Gone::Kept(why) => {
                        progress(Event::Kept { id: id.clone(), why: why.clone() });
                        report.kept.push((id.clone(), why));
                    }
                }
                true
            }
            Err(reason) => {
                progress(Event::Failed { id: id.clone(), reason: reason.clone() });
                report.failures.push((id.clone(), reason));
                false
            }
        }
    })
    .await?;
    report.interrupted |= walked.stopped;
    report.given_up.extend(walked.given_up.iter().map(|&place| ids[place].clone()));
    Ok(())
}

/// Of these objects, as the ledger has them.
pub(super) fn edges(held: &Held, ids: &[ObjectId]) -> Graph {
    let places: BTreeMap<&ObjectId, usize> = ids.iter().enumerate().map(|(place, id)| (id, place)).collect();
    let recorded: BTreeMap<&ObjectId, &Vec<ObjectId>> =
        held.ledger.objects.iter().map(|recorded| (&recorded.id, &recorded.needs)).collect();
    let needs = |id: &ObjectId| {
        let needs: BTreeSet<usize> = recorded
            .get(id)
            .into_iter()
            .flat_map(|needs| needs.iter())
            .filter_map(|needed| places.get(needed).copied())
            .collect();
        needs.into_iter().collect()
    };
    Graph::new(ids.iter().map(needs).collect())
}

async fn gone(
    cluster: &Cluster,
    id: &ObjectId,
    kept: Option<String>,
    going: &BTreeSet<ObjectId>,
    patience: Duration,
) -> Result<Gone, String> {
    if let Some(why) = kept {
        return Ok(Gone::Kept(why));
    }
    // Somebody may have made something of its kind since it was looked at.
    if is_definition(id) {
        let live = cluster.get(id, None).await.map_err(|refused| refused.to_string())?;
        let Some(live) = live else { return Ok(Gone::Absent) };
        let theirs = of_its_kind(cluster, &live, going).await.map_err(|refused| refused.to_string())?;
        if let Some(why) = theirs {
            return Ok(Gone::Kept(why));
        }
    }
    let pruned = cluster.prune(id, &Adoption::default(), |_| Ok(())).await;
    match pruned.map_err(|refused| refused.to_string())? {
        Pruned::Absent => Ok(Gone::Absent),
        Pruned::Kept { why } => Ok(Gone::Kept(why)),
        // Who was needed goes when who needed it is really gone.
        Pruned::Deleted => match cluster.gone(id, patience).await {
            Ok(()) => Ok(Gone::Deleted),
            Err(NotPlanned::Going { going, .. }) => Err(format!("{id} {going}")),
            Err(error) => Err(error.to_string()),
        },
    }
}
