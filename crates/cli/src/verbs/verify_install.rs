//! `verify-install`: whether every object of a mesh is in the cluster, and every workload of it ready. Nothing is changed.

use super::{Group, Verb, install::unlisted};
use crate::{
    args::{
        connection::{self, Connection, refused},
        control_plane, mesh,
    },
    diagnostics,
    exit::Exit,
    failure::{Hint, Usage},
    output::Output,
    program::Program,
    style,
};
use anstyle::AnsiColor;
use anyhow::{Result, bail};
use clap::Args;
use mizzen_cluster::{Desired, ObjectId, Owner};
use mizzen_install::{Input, Refused, generate, sorted, verify::Report};
use mizzen_text::{
    Code, Diagnostic,
    yaml::{Document, Options, load_all},
};

#[derive(Args)]
pub(crate) struct Typed {
    #[command(flatten)]
    place: control_plane::Typed,

    #[command(flatten)]
    mesh: mesh::Typed,

    // Last: its heading is that of everything behind it.
    #[command(flatten)]
    connection: connection::Typed,
}

pub(crate) struct VerifyInstall {
    mesh: mesh::Mesh,
    namespace: String,
    connection: connection::Typed,
}

impl Verb for VerifyInstall {
    const NAME: &'static str = "verify-install";
    const ABOUT: &'static str = "Check that a mesh is in the cluster as it was meant, and ready";
    const GROUP: Group = Group::Install;
    const ALSO_IN: &'static [Program] = &[Program::Istioctl];
    const EXAMPLES: &'static [(&'static str, &'static str)] = &[
        ("verify-install", "What `install` has listed; without such a list the default profile"),
        ("verify-install -f mesh.yaml --revision canary", "What a file makes of a revision"),
        ("verify-install -f mesh.generated.yaml", "The objects of a manifest"),
    ];
    type Typed = Typed;

    fn meant(typed: Typed, _: Program) -> Result<Self> {
        let Typed { place, mesh, connection } = typed;
        Ok(Self { mesh: mesh.meant()?, namespace: place.istio_namespace, connection })
    }

    fn run(self, output: &mut Output) -> Result<Exit> {
        let (mut input, charts) = self.mesh.files(false)?;
        let connection = self.connection.connect()?;
        let version =
            connection.run(connection.cluster.read("reading the version of Kubernetes", "/version"));
        let version = version.map_err(refused)?;
        // As it would be rendered for this cluster.
        input.kube_version = version.and_then(|version| version["gitVersion"].as_str().map(str::to_owned));
        let listed = match asks_for_nothing(&input) {
            true => connection.run(listed(&connection, &input, &self.namespace))?,
            false => None,
        };
        let objects = match listed {
            Some(objects) => objects,
            None => objects(&input, &charts)?,
        };
        let report = connection.run(Report::read(&connection.cluster, objects, &self.namespace));
        show(&report, output)
    }
}

fn asks_for_nothing(input: &Input) -> bool {
    input.files.is_empty() && input.sets.is_empty() && input.manifests.is_none()
}

/// What an installation of ours has written down.
async fn listed(connection: &Connection, input: &Input, namespace: &str) -> Result<Option<Vec<ObjectId>>> {
    let revision = input.revision.as_deref().filter(|name| !name.is_empty()).unwrap_or("default");
    let owner = Owner { namespace: namespace.to_owned(), name: revision.to_owned() };
    let list = connection.cluster.inventory(&owner).await.map_err(unlisted)?;
    Ok(list.map(|list| list.objects.into_iter().collect()))
}

/// Those of a manifest, or those that an IstioOperator makes.
fn objects(input: &Input, charts: &mesh::ChartsTyped) -> Result<Vec<ObjectId>> {
    let mut documents = Vec::new();
    for source in &input.files {
        for document in load_all(source, &Options::KUBERNETES) {
            documents.push(document.map_err(|diagnostic| Refused(vec![*diagnostic]))?);
        }
    }
    documents.retain(|document| !document.value.is_null());
    let is_operator = |document: &Document| document.value["kind"] == "IstioOperator";
    let values = if documents.is_empty() || documents.iter().any(is_operator) {
        let generated = generate(input, charts.of(input)?.as_ref()).map_err(diagnostics::named)?;
        diagnostics::warn(&generated.warnings);
        sorted(&generated).into_iter().map(|manifest| manifest.object().clone()).collect()
    } else {
        if !input.sets.is_empty() || input.revision.is_some() {
            let hint = "leave --set and --revision out, or give the IstioOperator that it was made from";
            bail!(Usage("the file holds objects, which nothing can be set in".into()).hint(hint));
        }
        documents.into_iter().map(|document| document.value).collect::<Vec<_>>()
    };
    let ids = values.into_iter().map(|value| {
        let desired = Desired::new(value).map_err(|error| {
            Refused(vec![Diagnostic::new(Code::Invalid, format!("a document is no object: {error}"))])
        })?;
        Ok(desired.id)
    });
    ids.collect()
}

fn show(report: &Report, output: &mut Output) -> Result<Exit> {
    let (good, bad) = (AnsiColor::Green.on_default(), style::ERROR);
    for checked in &report.checked {
        let mark = if checked.is_fine() { format!("{good}✔{good:#}") } else { format!("{bad}✘{bad:#}") };
        output.text(&format!("{mark} {checked}\n"))?;
    }
    for (kind, words) in [
        ("CustomResourceDefinition", "custom resource definitions"),
        ("Deployment", "Istio Deployments"),
        ("DaemonSet", "Istio Daemonsets"),
        ("Job", "Istio Jobs"),
    ] {
        let count = report.count(kind);
        // The first two are always told, as istioctl did.
        if count > 0 || matches!(kind, "CustomResourceDefinition" | "Deployment") {
            output.text(&format!("Checked {count} {words}\n"))?;
        }
    }
    let wrong: Vec<String> = report.wrong().map(ToString::to_string).collect();
    if !wrong.is_empty() {
        let all = report.checked.len();
        bail!("{} of {all} objects are not as they should be:\n{}", wrong.len(), wrong.join("\n"));
    }
    output.text(&format!("{good}✔{good:#} Istio is installed and verified successfully\n"))?;
    Ok(Exit::Done)
}
