//! A resource's mesh brought to what it should be.

use crate::{
    carried::{self, Teller, carry},
    pass::{Report, Stopped, Worker},
    queue::Outcome,
    remove,
    status::{Status, Word},
};
use mizzen_cluster::{Action, Refused};
use mizzen_install::{
    Charts, Generated, Input,
    deploy::{Event, Facts, Mesh, Plan},
    generate, package_path,
};
use mizzen_text::Source;
use serde_json::{Value, json};

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
    // Another revision than before: what the resource had in that one goes when this one is there.
    let former = remove::former(&facts, resource);
    let remains = match former.is_empty() {
        true => None,
        false => Some(remains(&former, remove::in_use(worker, &former).await?)),
    };
    let status = report.before();
    let mut telling = Telling { report, status, remains };
    let done = carry(cluster, &mut mesh, &facts, &[], worker.patience, &mut telling).await?;
    if !former.is_empty() {
        telling.tells().await?;
    }
    let Telling { report, status, .. } = telling;
    let done = match done {
        Ok(done) => done,
        Err(sentence) => return stop(report, sentence).await,
    };
    // What concerns no component was told by none of them.
    if let (true, Some(failure)) = (status.is_healthy(), done.failures.first()) {
        return stop(report, format!("{}: {}", failure.component, failure.reason)).await;
    }
    if status.is_healthy() && !former.is_empty() {
        if let Some(sentence) = remove::in_use(worker, &former).await? {
            report.write(&status.whole(Word::ActionRequired, sentence.as_str())).await?;
            return Err(Stopped::Blocked(sentence));
        }
        let held = remove::take_away(worker, resource, &former).await?;
        if !held.is_empty() {
            return stop(report, format!("its former revision cannot be removed: {}", held.join("; "))).await;
        }
    }
    report.write(&status).await?;
    if !status.is_healthy() {
        return Ok(Outcome::Failed);
    }
    Ok(if carried::wrote(&done) { Outcome::Wrote } else { Outcome::Unchanged })
}

/// What is told in the resource meanwhile.
struct Telling<'r> {
    report: &'r mut Report,
    status: Status,
    /// What is still to be done when every component is well.
    remains: Option<(Word, String)>,
}

/// Nothing is well before it is what was declared, and that alone.
fn told(status: &Status, remains: Option<&(Word, String)>) -> Status {
    match remains {
        Some((word, sentence)) if status.is_healthy() => status.clone().whole(*word, sentence.as_str()),
        _ => status.clone(),
    }
}

/// What is told of revisions that have to go.
fn remains(former: &[String], in_use: Option<String>) -> (Word, String) {
    match in_use {
        Some(sentence) => (Word::ActionRequired, sentence),
        None => (Word::Reconciling, format!("the former revision {} is being removed", former.join(", "))),
    }
}

impl Teller for Telling<'_> {
    async fn begins(&mut self, mesh: &Mesh, plan: &Plan) -> Result<(), Refused> {
        let version = mesh.version.as_ref().map(ToString::to_string).unwrap_or_default();
        let parts = plan.parts.iter().map(|part| {
            let changes = part.objects.iter().any(|(_, planned)| planned.step.action != Action::Unchanged);
            (part.component.name, changes)
        });
        self.status = self.status.begin(&version, parts);
        if self.remains.is_none() && !plan.prune.is_empty() {
            self.remains =
                Some((Word::Reconciling, "what is not wanted any more is being deleted".to_owned()));
        }
        self.tells().await
    }

    fn hears(&mut self, event: &Event) {
        self.status.hear(event);
    }

    async fn tells(&mut self) -> Result<(), Refused> {
        self.report.write(&told(&self.status, self.remains.as_ref())).await
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
    uses_our_charts(&input, worker.charts)?;
    let generated: Generated = generate(&input, worker.charts).map_err(|refused| refused.to_string())?;
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
pub(crate) fn input(resource: &Value, kubernetes: &str) -> Input {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::carried::scaled;
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
    fn nothing_is_well_while_a_former_revision_is_beside_it() {
        let of = |word: &str| Status::read(&json!({ "componentStatus": { "Pilot": { "status": word } } }));
        let goes = remains(&["blue".to_owned()], None);
        let stays = remains(&["blue".to_owned()], Some("move the proxies".to_owned()));
        let cases = [
            ("HEALTHY", None, "HEALTHY", Value::Null),
            ("HEALTHY", Some(&goes), "RECONCILING", json!("the former revision blue is being removed")),
            ("HEALTHY", Some(&stays), "ACTION_REQUIRED", json!("move the proxies")),
            // First the components: until they are there nothing is removed.
            ("UPDATING", Some(&goes), "UPDATING", Value::Null),
            ("ERROR", Some(&stays), "ERROR", Value::Null),
        ];
        for (component, remains, word, message) in cases {
            let value = told(&of(component), remains).value();
            assert_eq!((&value["status"], &value["message"]), (&json!(word), &message), "{component}");
            assert_eq!(value["componentStatus"]["Pilot"]["status"], component);
        }
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
