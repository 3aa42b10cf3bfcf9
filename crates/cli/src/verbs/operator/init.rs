//! `operator init`: the operator's objects applied, its deployment waited for, and a resource for it, if one is given.

use super::deployed;
use crate::{
    args::{
        connection::{self, Connection, refused},
        duration,
    },
    exit::Exit,
    failure::{Hint, Usage},
    inputs::{self, Input},
    output::Output,
};
use anyhow::{Result, anyhow, bail};
use clap::Args;
use mizzen_cluster::{Action, Adoption, Desired, Mode, NotPlanned, ObjectId, order::rank};
use mizzen_install::Refused;
use mizzen_operator::{KIND, objects};
use mizzen_text::yaml::{self, Options};
use serde_json::{Value, json};
use std::time::Duration;

#[derive(Args)]
pub(crate) struct Typed {
    /// An IstioOperator resource that is applied when the operator is there
    #[arg(short = 'f', long = "filename", value_name = "FILE")]
    filename: Option<String>,

    #[command(flatten)]
    deployed: deployed::Typed,

    /// Show what would be done, and do nothing
    #[arg(long)]
    dry_run: bool,

    /// How long the operator may take to become ready
    #[arg(long, value_name = "DURATION", default_value = "300s", value_parser = duration::read)]
    readiness_timeout: Duration,

    #[command(flatten)]
    connection: connection::Typed,
}

pub(super) fn run(typed: Typed, output: &mut Output) -> Result<Exit> {
    let resource = typed.filename.as_deref().map(read).transpose()?;
    let deployed = typed.deployed.meant()?;
    let mut namespaces = deployed.watched.clone();
    namespaces.extend(resource.as_ref().map(|resource| resource.id.namespace.clone()));
    let wanted: Vec<Desired> = objects(&deployed).into_iter().map(Desired::new).collect::<Result<_, _>>()?;
    let connection = typed.connection.connect()?;
    if !typed.dry_run {
        output.go_on_unread();
    }
    show(&connection, &wanted, output)?;
    if typed.dry_run {
        return Ok(Exit::Done);
    }
    apply(&connection, &wanted, typed.readiness_timeout, output)?;
    namespaces.sort();
    namespaces.dedup();
    for name in namespaces.iter().filter(|name| !name.is_empty()) {
        connection.run(make_namespace(&connection, name)).map_err(refused)?;
    }
    if let Some(resource) = resource {
        connection.run(connection.cluster.apply(&resource, Mode::default())).map_err(refused)?;
        output.text(&format!("{} is applied\n", resource.id))?;
    }
    output.text("the operator is ready\n")?;
    Ok(Exit::Done)
}

/// What each object would become; whoever else has one of them keeps everything from beginning.
fn show(connection: &Connection, wanted: &[Desired], output: &mut Output) -> Result<()> {
    for desired in wanted {
        let planned = connection.run(connection.cluster.plan(desired, &Adoption::default()));
        let planned = planned.map_err(not_planned)?;
        if planned.step.action != Action::Unchanged {
            output.text(&format!("{}\n", planned.step))?;
        }
    }
    Ok(output.flush()?)
}

fn not_planned(error: NotPlanned) -> anyhow::Error {
    match error {
        NotPlanned::Refused(error) => refused(error),
        error @ NotPlanned::Foreign { .. } => {
            error.hint("nothing was done; remove the other operator first, or choose another --operatorNamespace or --revision")
        }
        error @ NotPlanned::Going { .. } => error.hint("wait until it is gone, then run this again"),
    }
}

/// Rank after rank, each ready before the next.
fn apply(connection: &Connection, wanted: &[Desired], patience: Duration, output: &mut Output) -> Result<()> {
    let cluster = &connection.cluster;
    let mut ordered: Vec<&Desired> = wanted.iter().collect();
    ordered.sort_by_key(|desired| rank(&desired.id.kind));
    for rank in ordered.chunk_by(|one, other| rank(&one.id.kind) == rank(&other.id.kind)) {
        for desired in rank {
            connection
                .run(cluster.bring(desired, &Adoption::default(), None, patience))
                .map_err(not_planned)?;
        }
        let ids: Vec<ObjectId> = rank.iter().map(|desired| desired.id.clone()).collect();
        let mut printed = Ok(());
        let ready = connection.run(cluster.until_ready(&ids, patience, |waiting| {
            let lines: String = waiting.iter().map(|one| format!("waiting for {one}\n")).collect();
            printed = output.text(&lines).and_then(|()| output.flush());
        }));
        printed?;
        ready.map_err(|error| {
            anyhow!(error)
                .hint("the objects are applied; `kubectl get pods` in the operator's namespace says more")
        })?;
    }
    connection.run(cluster.look()).map_err(refused)
}

/// If it is not there.
async fn make_namespace(connection: &Connection, name: &str) -> Result<(), mizzen_cluster::Refused> {
    let value = json!({ "apiVersion": "v1", "kind": "Namespace", "metadata": { "name": name } });
    let id = ObjectId::new("", "Namespace", "", name);
    if connection.cluster.get(&id, None).await?.is_none() {
        let desired = Desired { id, version: "v1".to_owned(), value: value.into() };
        connection.cluster.apply(&desired, Mode::default()).await?;
    }
    Ok(())
}

/// The first document of the file.
fn read(name: &str) -> Result<Desired> {
    let names = [name.to_owned()];
    let source = match inputs::read(&names, &Options::KUBERNETES).next() {
        Some(Input::Source(source)) => source,
        Some(Input::Unreadable(diagnostic)) => bail!(Refused(vec![*diagnostic])),
        None => bail!("{name} is empty"),
    };
    let document = yaml::load_first(&source, &Options::KUBERNETES);
    let mut document: Value = document.map_err(|diagnostic| Refused(vec![*diagnostic]))?.unwrap_or_default();
    if document["kind"] != KIND {
        bail!(Usage(format!("{name} is no {KIND}")).hint("-f takes the resource that describes the mesh"));
    }
    if document["metadata"]["namespace"].is_null() {
        document["metadata"]["namespace"] = "istio-system".into();
    }
    Ok(Desired::new(document)?)
}
