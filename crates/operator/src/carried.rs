//! A mesh planned and carried out, with somebody who tells of it meanwhile.

use crate::pass::Stopped;
use mizzen_cluster::{Action, Adoption, Cluster, ObjectId, Reclaim, Refused};
use mizzen_install::deploy::{self, Event, Facts, Mesh, Plan, Report, Settings};
use serde_json::Value;
use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};
use tokio::sync::Notify;

/// Whoever tells people of the work.
pub(crate) trait Teller {
    /// It is planned, and nothing is written yet.
    async fn begins(&mut self, mesh: &Mesh, plan: &Plan) -> Result<(), Refused>;

    fn hears(&mut self, event: &Event);

    async fn tells(&mut self) -> Result<(), Refused>;
}

/// What came of it; a sentence where it could not be begun.
pub(crate) type Carried = Result<Report, String>;

/// `from` are the installers whose mesh is taken over.
pub(crate) async fn carry(
    cluster: &Arc<Cluster>,
    mesh: &mut Mesh,
    facts: &Facts,
    from: &[&str],
    patience: Duration,
    teller: &mut impl Teller,
) -> Result<Carried, Stopped> {
    let claimed = deploy::share(cluster, mesh, facts).await?;
    let grave = deploy::problems(mesh, facts).into_iter().filter(|problem| !problem.warning);
    let grave = grave.map(|problem| problem.message).chain(claimed.iter().map(ToString::to_string));
    let grave: Vec<String> = grave.collect();
    if !grave.is_empty() {
        return Ok(Err(grave.join("\n")));
    }
    let adoption = Adoption {
        from: from.iter().map(|name| (*name).to_owned()).collect(),
        reclaim: Reclaim::Edited { scaled: scaled(mesh) },
        ..Adoption::default()
    };
    let plan = deploy::plan(cluster, mesh, facts, &adoption).await?;
    if !plan.failed.is_empty() {
        let all: Vec<String> = plan.failed.iter().map(|failed| failed.reason.to_string()).collect();
        return Ok(Err(all.join("\n")));
    }
    for step in plan.steps().filter(|step| !matches!(step.action, Action::Unchanged | Action::Create)) {
        tracing::info!("{step}");
    }
    teller.begins(mesh, &plan).await?;
    let heard = Arc::new(Heard::default());
    let listener = Arc::clone(&heard);
    let progress = move |event| listener.add(event);
    let settings = Settings { patience, adoption };
    let done = {
        let mut work = std::pin::pin!(deploy::carry_out(cluster, mesh, plan, &settings, &progress));
        loop {
            tokio::select! {
                done = &mut work => break done,
                () = heard.news.notified() => {
                    heard.take().iter().for_each(|event| teller.hears(event));
                    // The work is more than its report.
                    if let Err(refused) = teller.tells().await {
                        tracing::warn!(%refused, "the status could not be written");
                    }
                }
            }
        }
    };
    heard.take().iter().for_each(|event| teller.hears(event));
    Ok(done.map_err(|error| error.to_string()))
}

/// Whether anything was written.
pub(crate) fn wrote(report: &Report) -> bool {
    !report.deleted.is_empty() || report.steps.iter().any(|step| step.action != Action::Unchanged)
}

/// What was heard of the work and not told yet.
#[derive(Default)]
struct Heard {
    events: Mutex<Vec<Event>>,
    news: Notify,
}

impl Heard {
    fn add(&self, event: Event) {
        self.events.lock().unwrap_or_else(PoisonError::into_inner).push(event);
        self.news.notify_one();
    }

    fn take(&self) -> Vec<Event> {
        std::mem::take(&mut self.events.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Workloads that an autoscaler of the mesh has.
pub(crate) fn scaled(mesh: &Mesh) -> BTreeSet<ObjectId> {
    let scalers = mesh.objects().filter(|object| object.id.kind == "HorizontalPodAutoscaler");
    let target = |scaler: &mizzen_cluster::Desired| {
        let target = scaler.value.pointer("/spec/scaleTargetRef")?;
        let text = |key: &str| target.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
        let api_version = text("apiVersion");
        let (group, _) = api_version.split_once('/').unwrap_or_default();
        Some(ObjectId::new(group, text("kind"), &scaler.id.namespace, text("name")))
    };
    scalers.filter_map(target).collect()
}
