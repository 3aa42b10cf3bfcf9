//! `operator remove`: the operator goes. Meshes stay as they are; resources that nobody looks at any more are let go, so that they
//! can be deleted.

use crate::{
    args::connection::{self, Connection, refused},
    confirm::confirm,
    exit::Exit,
    failure::Hint,
    output::Output,
};
use anyhow::{Result, anyhow};
use clap::Args;
use mizzen_cluster::{Adoption, Desired, ObjectId, Pruned, Refused, order::rank_of_deletion};
use mizzen_operator::{Deployed, FINALIZER, GROUP, KIND, lock, objects};
use serde_json::{Value, json};
use std::{collections::BTreeSet, time::Duration};

/// For each object to be gone, with what hangs on it.
const GONE: Duration = Duration::from_secs(60);

#[derive(Args)]
pub(crate) struct Typed {
    /// The revision of the operator to remove; without it the one that has none
    #[arg(short, long, value_name = "NAME")]
    revision: Option<String>,

    /// Remove the operators of all revisions, and the IstioOperator resources with their definition
    #[arg(long)]
    purge: bool,

    /// The namespace of the operator
    #[arg(long = "operatorNamespace", value_name = "NAME", default_value = "istio-operator")]
    namespace: String,

    /// Show what would be removed, and remove nothing
    #[arg(long)]
    dry_run: bool,

    /// Do not ask
    #[arg(short = 'y', long = "skip-confirmation", alias = "yes")]
    yes: bool,

    // istioctl's, without an effect here.
    #[arg(long, hide = true)]
    force: bool,

    #[command(flatten)]
    connection: connection::Typed,
}

/// What goes, in this order.
struct Removal {
    objects: Vec<ObjectId>,
    /// Resources that nobody looks at any more.
    orphans: Vec<Value>,
}

pub(super) fn run(typed: Typed, output: &mut Output) -> Result<Exit> {
    let connection = typed.connection.connect()?;
    let revision = typed.revision.filter(|name| name != "default").unwrap_or_default();
    let plan =
        connection.run(plan(&connection, &typed.namespace, &revision, typed.purge)).map_err(refused)?;
    let Some(removal) = plan else {
        output.text("there is no such operator\n")?;
        return Ok(Exit::Done);
    };
    if typed.yes && !typed.dry_run {
        output.go_on_unread();
    }
    for id in &removal.objects {
        output.text(&format!("- {id}\n"))?;
    }
    if !removal.orphans.is_empty() {
        let count = removal.orphans.len();
        output.text(&format!(
            "{count} IstioOperator resources will be looked at by nobody; their meshes stay\n"
        ))?;
    }
    output.flush()?;
    if typed.dry_run {
        return Ok(Exit::Done);
    }
    if !typed.yes && !confirm("The operator will be removed from the cluster. Proceed? (y/N)", output)? {
        output.text("nothing was done\n")?;
        return Ok(Exit::Problem);
    }
    let kept = connection.run(remove(&connection, removal))?;
    for line in kept {
        output.text(&line)?;
    }
    output.text("the operator is removed\n")?;
    Ok(Exit::Done)
}

/// Nothing if there is no operator of this revision.
async fn plan(
    connection: &Connection,
    namespace: &str,
    revision: &str,
    purge: bool,
) -> Result<Option<Removal>, Refused> {
    let cluster = &connection.cluster;
    let there = cluster.list("apps", "Deployment", "app=istio-operator").await?;
    let text = |object: &Value, pointer: &str| {
        object.pointer(pointer).and_then(Value::as_str).unwrap_or_default().to_owned()
    };
    let there = there.iter().filter(|deployment| text(deployment, "/metadata/namespace") == namespace);
    let there: BTreeSet<String> = there
        .map(|deployment| text(deployment, "/metadata/labels/istio.io~1rev"))
        .map(|revision| if revision == "default" { String::new() } else { revision })
        .collect();
    let (going, staying): (BTreeSet<String>, BTreeSet<String>) =
        there.into_iter().partition(|found| purge || found == revision);
    let resources = cluster.list(GROUP, KIND, "").await?;
    // What a first try left behind is removed by the next.
    let going = if going.is_empty() && staying.is_empty() { [revision.to_owned()].into() } else { going };
    let is_last = staying.is_empty();
    let mut ids = Vec::new();
    for revision in &going {
        let deployed = Deployed {
            namespace: namespace.to_owned(),
            revision: revision.clone(),
            hub: String::new(),
            tag: String::new(),
            pull_secrets: Vec::new(),
            watched: Vec::new(),
            granted: Vec::new(),
        };
        let made = objects(&deployed).into_iter().filter_map(|object| Desired::new(object).ok());
        ids.extend(made.map(|desired| desired.id));
        ids.push(ObjectId::new("coordination.k8s.io", "Lease", namespace, lock(revision)));
    }
    let goes = |id: &ObjectId| match id.kind.as_str() {
        // With the resources that people have made.
        "CustomResourceDefinition" => is_last && (purge || resources.is_empty()),
        "Namespace" => is_last,
        _ => true,
    };
    let mut found = BTreeSet::new();
    for id in ids.into_iter().filter(goes) {
        if cluster.get(&id, None).await?.is_some() {
            found.insert(id);
        }
    }
    if found.is_empty() {
        return Ok(None);
    }
    let mut objects: Vec<ObjectId> = found.into_iter().collect();
    // The process first: as long as it lives it makes what it needs.
    objects.sort_by_key(|id| (id.kind != "Deployment", rank_of_deletion(&id.kind)));
    let is_orphan = |resource: &Value| {
        let revision = text(resource, "/spec/revision");
        !staying.contains("") && !staying.contains(&revision)
    };
    Ok(Some(Removal { objects, orphans: resources.into_iter().filter(is_orphan).collect() }))
}

/// Says what stayed, and why.
async fn remove(connection: &Connection, removal: Removal) -> Result<Vec<String>> {
    let cluster = &connection.cluster;
    let mut kept = Vec::new();
    let mut orphans = Some(removal.orphans);
    for id in removal.objects {
        if id.kind != "Deployment"
            && let Some(orphans) = orphans.take()
        {
            for resource in orphans {
                let_go(connection, resource).await.map_err(refused)?;
            }
        }
        if id.kind == "Lease" {
            cluster.delete(&id, None).await.map_err(refused)?;
        } else if let Pruned::Kept { why } =
            cluster.prune(&id, &Adoption::default(), |_| Ok(())).await.map_err(refused)?
        {
            kept.push(format!("{id} stays: {why}\n"));
            continue;
        }
        cluster.gone(&id, GONE).await.map_err(|error| {
            anyhow!(error).hint("what was removed is gone; run the same command again to go on")
        })?;
    }
    Ok(kept)
}

/// Without the operator's finalizer, so that it can be deleted.
async fn let_go(connection: &Connection, resource: Value) -> Result<(), Refused> {
    let listed = resource.pointer("/metadata/finalizers").and_then(Value::as_array);
    let (ours, others): (Vec<&Value>, Vec<&Value>) =
        listed.into_iter().flatten().partition(|finalizer| **finalizer == FINALIZER);
    if ours.is_empty() {
        return Ok(());
    }
    let patch = json!([
        { "op": "replace", "path": "/metadata/resourceVersion", "value": resource["metadata"]["resourceVersion"] },
        { "op": "add", "path": "/metadata/finalizers", "value": others },
    ]);
    if let Ok(desired) = Desired::new(resource.clone()) {
        connection.cluster.patch(&desired.id, patch).await?;
    }
    Ok(())
}
