//! A resource's mesh brought to what it should be.

use crate::{
    pass::{Report, Stopped, Worker},
    queue::Outcome,
    status::{Status, Word},
};
use mizzen_cluster::{Action, Adoption, ObjectId, Reclaim};
use mizzen_install::{
    Charts, Generated, Input,
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
    let claimed = deploy::share(cluster, &mut mesh, &facts).await?;
    let grave = deploy::problems(&mesh, &facts).into_iter().filter(|problem| !problem.warning);
    let grave = grave.map(|problem| problem.message).chain(claimed.iter().map(ToString::to_string));
    let grave: Vec<String> = grave.collect();
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
    let version = mesh.version.as_ref().map(ToString::to_string).unwrap_or_default();
    let parts = plan.parts.iter().map(|part| {
        let changes = part.objects.iter().any(|(_, planned)| planned.step.action != Action::Unchanged);
        (part.component.name, changes)
    });
    let status = report.before().begin(&version, parts);
    let heard = Arc::new(Heard { status: Mutex::new(status), news: Notify::new() });
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
                    // The work is more than its report.
                    if let Err(refused) = report.write(&now).await {
                        tracing::warn!(%refused, "the status could not be written");
                    }
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
    let name = resource["metadata"]["name"].as_str().unwrap_or_default();
    // It is a label of everything.
    if name.len() > 63 {
        return Err(format!(
            "the name {name:?} has more than 63 characters, and cannot be a label of its objects"
        ));
    }
    let input = input(resource, &facts.kubernetes);
    uses_our_charts(&input, worker.charts)?;
    let generated: Generated =
        block_in_place(|| generate(&input, worker.charts)).map_err(|refused| refused.to_string())?;
    let served = worker.cluster.served();
    let namespace = resource["metadata"]["namespace"].as_str();
    Mesh::new(&generated, facts, &served, worker.charts, worker.version, namespace)
        .map_err(|error| error.to_string())
}

/// Whoever may write resources must not choose what this process reads or fetches.
fn uses_our_charts(input: &Input, charts: &dyn Charts) -> Result<(), String> {
    match package_path(input).map_err(|refused| refused.to_string())? {
        None => Ok(()),
        Some(path) => Err(format!(
            "spec.installPackagePath is {path:?}, but a resource cannot choose its charts: the operator uses {}",
            charts.describe()
        )),
    }
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
    use mizzen_cluster::Served;
    use mizzen_install::source::BuiltIn;

    fn of(spec: &Value) -> Input {
        let metadata = json!({ "name": "a", "namespace": "istio-system" });
        let resource = json!({
            "apiVersion": "install.istio.io/v1alpha1", "kind": "IstioOperator", "metadata": metadata, "spec": spec,
        });
        input(&resource, "v1.36.0")
    }

    #[test]
    fn the_replicas_of_a_workload_with_an_autoscaler_are_the_autoscalers() {
        let names = |spec: &Value| {
            let generated = generate(&of(spec), &BuiltIn).unwrap();
            let mesh =
                Mesh::new(&generated, &Facts::default(), &Served::default(), &BuiltIn, "1", None).unwrap();
            let found = scaled(&mesh).into_iter().map(|id| format!("{} {id}", id.group));
            found.collect::<Vec<_>>()
        };
        let on = json!({ "profile": "minimal", "values": { "pilot": { "autoscaleEnabled": true } } });
        assert_eq!(names(&on), ["apps Deployment istio-system/istiod"]);
        let off = json!({ "profile": "minimal", "values": { "pilot": { "autoscaleEnabled": false } } });
        assert!(names(&off).is_empty());
    }

    #[test]
    fn a_resource_does_not_choose_what_is_fetched() {
        assert_eq!(uses_our_charts(&of(&json!({ "profile": "demo" })), &BuiltIn), Ok(()));
        for path in ["/etc", "https://charts.example/", "oci://charts.example/istio"] {
            let refused = uses_our_charts(&of(&json!({ "installPackagePath": path })), &BuiltIn);
            assert!(refused.is_err_and(|sentence| sentence.contains(path)), "{path}");
        }
    }

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
