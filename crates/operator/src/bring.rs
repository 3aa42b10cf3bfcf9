//! A resource's mesh brought to what it should be.

use crate::{
    pass::{Report, Stopped, Worker},
    queue::Outcome,
    shared::leave_labels,
    status::{Status, Word},
};
use mizzen_cluster::{Action, Adoption, ObjectId, Reclaim};
use mizzen_install::{
    Generated, Input,
    deploy::{self, Facts, Mesh, Settings},
    generate, package_path,
};
use mizzen_text::Source;
use serde_json::{Value, json};
use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};
use tokio::{sync::Notify, task::block_in_place};

pub(crate) async fn bring(
    worker: &Worker<'_>,
    resource: &Value,
    report: &mut Report,
) -> Result<Outcome, Stopped> {
    let cluster = &worker.cluster;
    let facts = Facts::read(cluster).await?;
    let mut mesh = match wanted(worker, resource, &facts) {
        Ok(mesh) => mesh,
        Err(sentence) => return stop(report, sentence).await,
    };
    leave_labels(cluster, &mut mesh, &facts).await?;
    let grave = deploy::problems(&mesh, &facts).into_iter().filter(|problem| !problem.warning);
    let grave: Vec<String> = grave.map(|problem| problem.message).collect();
    if !grave.is_empty() {
        return stop(report, grave.join("\n")).await;
    }
    let adoption = Adoption { reclaim: Reclaim::Edited { scaled: scaled(&mesh) }, ..Adoption::default() };
    let plan = deploy::plan(cluster, &mesh, &facts, &adoption).await?;
    if !plan.failed.is_empty() {
        let all: Vec<String> = plan.failed.iter().map(|failed| failed.reason.to_string()).collect();
        return stop(report, all.join("\n")).await;
    }
    for step in plan.steps().filter(|step| !matches!(step.action, Action::Unchanged | Action::Create)) {
        tracing::info!("{step}");
    }
    let heard =
        Arc::new(Heard { status: Mutex::new(report.before().begin(&mesh, &plan)), news: Notify::new() });
    let first = heard.status().clone();
    report.write(&first).await?;
    let listener = Arc::clone(&heard);
    let progress = move |event| {
        listener.status().hear(&event);
        listener.news.notify_one();
    };
    let settings = Settings { patience: worker.patience, adoption };
    let done = {
        let mut work = std::pin::pin!(deploy::carry_out(cluster, &mesh, plan, &settings, &progress));
        loop {
            tokio::select! {
                done = &mut work => break done,
                () = heard.news.notified() => {
                    let now = heard.status().clone();
                    report.write(&now).await?;
                }
            }
        }
    };
    let now = heard.status().clone();
    let done = match done {
        Ok(done) => done,
        Err(error) => return stop(report, error.to_string()).await,
    };
    report.write(&now).await?;
    if !now.is_healthy() {
        return Ok(Outcome::Failed);
    }
    let wrote = !done.deleted.is_empty() || done.steps.iter().any(|step| step.action != Action::Unchanged);
    Ok(if wrote { Outcome::Wrote } else { Outcome::Unchanged })
}

/// What was heard of the work so far.
struct Heard {
    status: Mutex<Status>,
    news: Notify,
}

impl Heard {
    fn status(&self) -> MutexGuard<'_, Status> {
        self.status.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Nothing can be done; the mesh stays as it is.
async fn stop(report: &mut Report, sentence: String) -> Result<Outcome, Stopped> {
    report.write(&report.before().whole(Word::Error, sentence.as_str())).await?;
    Err(Stopped::Told(sentence))
}

/// The mesh that the resource describes.
fn wanted(worker: &Worker<'_>, resource: &Value, facts: &Facts) -> Result<Mesh, String> {
    let input = input(resource, &facts.kubernetes);
    // Whoever may write resources must not choose what this process reads or fetches.
    if let Some(path) = package_path(&input).map_err(|refused| refused.to_string())? {
        return Err(format!(
            "spec.installPackagePath is {path:?}, but a resource cannot choose its charts: the operator uses {}",
            worker.charts.describe()
        ));
    }
    let generated: Generated =
        block_in_place(|| generate(&input, worker.charts)).map_err(|refused| refused.to_string())?;
    let served = worker.cluster.served();
    Mesh::new(&generated, facts, &served, worker.charts, worker.version).map_err(|error| error.to_string())
}

/// The resource as a file: its own name and namespace, and nothing that a server has added.
fn input(resource: &Value, kubernetes: &str) -> Input {
    let metadata = &resource["metadata"];
    let (name, namespace) = (&metadata["name"], &metadata["namespace"]);
    let document = json!({
        "apiVersion": resource["apiVersion"], "kind": resource["kind"],
        "metadata": { "name": name, "namespace": namespace },
        "spec": resource.get("spec").cloned().unwrap_or_else(|| json!({})),
    });
    let shown = format!(
        "IstioOperator {}/{}",
        namespace.as_str().unwrap_or_default(),
        name.as_str().unwrap_or_default()
    );
    Input {
        files: vec![Source::new(shown, document.to_string())],
        kube_version: Some(kubernetes.to_owned()).filter(|version| !version.is_empty()),
        ..Input::default()
    }
}

/// Workloads that an autoscaler of the mesh has.
fn scaled(mesh: &Mesh) -> BTreeSet<ObjectId> {
    let scalers = mesh.objects().filter(|object| object.id.kind == "HorizontalPodAutoscaler");
    let target = |scaler: &mizzen_cluster::Desired| {
        let target = scaler.value.pointer("/spec/scaleTargetRef")?;
        let text = |key: &str| target.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
        let api_version = text("apiVersion");
        let (group, _) = api_version.split_once('/').unwrap_or_default();
        Some(ObjectId {
            group: group.to_owned(),
            kind: text("kind"),
            namespace: scaler.id.namespace.clone(),
            name: text("name"),
        })
    };
    scalers.filter_map(target).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_resource_is_handed_on_as_the_file_that_somebody_wrote() {
        let resource = json!({
            "apiVersion": "install.istio.io/v1alpha1", "kind": "IstioOperator",
            "metadata": { "name": "a", "namespace": "n", "uid": "1", "managedFields": [], "finalizers": ["f"] },
            "spec": { "profile": "demo" }, "status": { "status": "HEALTHY" },
        });
        let input = input(&resource, "v1.36.0");
        let file: Value = serde_json::from_slice(input.files[0].bytes()).unwrap();
        assert_eq!(file["metadata"], json!({ "name": "a", "namespace": "n" }));
        assert_eq!((&file["spec"], file.get("status")), (&json!({ "profile": "demo" }), None));
        assert_eq!(input.files[0].name(), "IstioOperator n/a");
        assert_eq!(input.kube_version.as_deref(), Some("v1.36.0"));
    }
}
