//! `--local`: the same files on a mesh of `mizzen up`. Its objects are a file in the folder that the mesh follows; what runs is
//! said by mesh.yaml, so a workload's objects mean nothing there and are named.

use super::{
    go,
    which::{self, acceptable},
};
use crate::{
    args::format::TextOrJson,
    confirm::confirm,
    exit::Exit,
    failure::Hint,
    output::Output,
    style::{BAD, CHANGED, GOOD},
    verbs::up_mesh,
};
use anyhow::{Context, Result, anyhow};
use mizzen_app::release::Owner;
use mizzen_cluster::{FieldChange, ObjectId, difference};
use mizzen_local::{client, objects, view::View};
use serde_json::{Value, json};
use std::{
    collections::{BTreeMap, BTreeSet},
    env, io,
    path::{Path, PathBuf},
    time::Duration,
};
use tokio::{
    runtime,
    time::{Instant, sleep},
};

/// The one namespace of such a mesh.
const NAMESPACE: &str = "default";
/// What its control plane acts on.
const ACTED_ON: [&str; 6] =
    ["DestinationRule", "Gateway", "PeerAuthentication", "ServiceEntry", "VirtualService", "WorkloadEntry"];
/// For the mesh to have read the file.
const READ: Duration = Duration::from_secs(10);

/// An application on a mesh of this machine.
struct Local {
    app: String,
    file: PathBuf,
    wanted: Vec<Value>,
    there: Vec<Value>,
    /// What has no meaning here, and why.
    unused: Vec<(String, String)>,
}

fn running() -> Result<View> {
    let found = client::state(None, &env::current_dir()?).and_then(|state| client::running(&state));
    let record = found.map_err(up_mesh::told)?;
    let runtime = runtime::Builder::new_current_thread().enable_all().build().context("cannot start")?;
    runtime.block_on(client::view(&record)).map_err(up_mesh::told)
}

fn look(which: &which::Typed) -> Result<Local> {
    let built = which.built(Some(NAMESPACE), true);
    let spec = acceptable(&built)?;
    let view = running()?;
    let (mut wanted, mut unused) = (Vec::new(), Vec::new());
    for resource in spec.resources {
        let object = resource.attributes;
        match meaning(&object, &view) {
            None => wanted.push(object),
            Some(why) => unused.push((named(&object), why)),
        }
    }
    for object in &wanted {
        let kind = object["kind"].as_str().unwrap_or_default();
        if !ACTED_ON.contains(&kind) {
            unused.push((named(object), format!("the mesh of `mizzen up` does not act on {kind} yet")));
        }
    }
    let file = objects::file(&view.objects_folder, &built.app);
    let there = objects::read(&file).map_err(|error| unreadable(&file, &error))?;
    Ok(Local { app: built.app, file, wanted, there, unused })
}

fn unreadable(file: &Path, error: &io::Error) -> anyhow::Error {
    anyhow!("{} cannot be read: {error}", file.display())
        .hint("somebody has edited it: mend it, or delete it")
}

fn named(object: &Value) -> String {
    ObjectId::of(object).map(|id| id.to_string()).unwrap_or_default()
}

/// Why an object is of no use here; nothing if it is.
fn meaning(object: &Value, view: &View) -> Option<String> {
    let text = |pointer: &str| object.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
    let (kind, name) = (text("/kind"), text("/metadata/name"));
    if text("/apiVersion").split_once('/').is_some_and(|(group, _)| group.ends_with(".istio.io")) {
        let namespace = text("/metadata/namespace");
        return (namespace != NAMESPACE)
            .then(|| format!("it is in namespace {namespace}, and here everything is in {NAMESPACE}"));
    }
    let runs = view.workloads.iter().any(|workload| workload.service == name);
    Some(match kind {
        "Namespace" => format!("here everything is in namespace {NAMESPACE}"),
        "Deployment" | "Service" | "StatefulSet" if runs => {
            format!("mesh.yaml says what runs as {name}")
        }
        "Deployment" | "Service" | "StatefulSet" => {
            format!("mesh.yaml says what runs here, and has no service {name}: add it to call it")
        }
        _ => "nothing here reads it".to_owned(),
    })
}

enum Change {
    New,
    Changed(Vec<FieldChange>),
    Gone,
}

/// What differs between the file as it is and as it is to be, in the order of the objects.
fn changes(there: &[Value], wanted: &[Value]) -> Vec<(String, Change)> {
    let before: BTreeMap<String, &Value> = there.iter().map(|object| (named(object), object)).collect();
    let mut all = Vec::new();
    for object in wanted {
        let name = named(object);
        match before.get(&name) {
            None => all.push((name, Change::New)),
            Some(before) if **before == *object => {}
            Some(before) => all.push((name, Change::Changed(difference(before, object)))),
        }
    }
    let names: BTreeSet<String> = wanted.iter().map(named).collect();
    all.extend(before.into_keys().filter(|name| !names.contains(name)).map(|name| (name, Change::Gone)));
    all
}

fn shown(local: &Local, changes: &[(String, Change)]) -> String {
    let mut text = format!("{} on the mesh of this machine, in {}\n", local.app, local.file.display());
    for (name, change) in changes {
        match change {
            Change::New => text.push_str(&format!("  {GOOD}+ {name}{GOOD:#}\n")),
            Change::Gone => text.push_str(&format!("  {BAD}- {name}{BAD:#}\n")),
            Change::Changed(fields) => {
                text.push_str(&format!("  {CHANGED}~ {name}{CHANGED:#}\n"));
                text.extend(fields.iter().map(super::show::field));
            }
        }
    }
    for (name, why) in &local.unused {
        text.push_str(&format!("  without effect: {name}: {why}\n"));
    }
    if changes.is_empty() {
        text.push_str("nothing changes\n");
    }
    text
}

fn value(local: &Local, changes: &[(String, Change)]) -> Value {
    let steps: Vec<Value> = changes
        .iter()
        .map(|(name, change)| match change {
            Change::New => json!({ "object": name, "action": "Create" }),
            Change::Changed(fields) => json!({ "object": name, "action": "Update", "changes": fields }),
            Change::Gone => json!({ "object": name, "action": "Delete" }),
        })
        .collect();
    let unused: Vec<Value> =
        local.unused.iter().map(|(name, why)| json!({ "object": name, "reason": why })).collect();
    json!({ "application": local.app, "file": local.file, "steps": steps, "withoutEffect": unused })
}

pub(super) fn preview(which: &which::Typed, text: bool, output: &mut Output) -> Result<Exit> {
    let local = look(which)?;
    let changes = changes(&local.there, &local.wanted);
    match text {
        true => output.text(&shown(&local, &changes))?,
        false => output.json(&value(&local, &changes))?,
    }
    Ok(Exit::Done)
}

pub(super) fn apply(which: &which::Typed, go: &go::Typed, output: &mut Output) -> Result<Exit> {
    let local = look(which)?;
    let changes = changes(&local.there, &local.wanted);
    let text = go.output == TextOrJson::Text;
    if go.yes && !go.dry_run {
        output.go_on_unread();
    }
    match text {
        true => output.text(&shown(&local, &changes))?,
        false => output.json(&value(&local, &changes))?,
    }
    output.flush()?;
    if go.dry_run || changes.is_empty() {
        return Ok(Exit::Done);
    }
    if !go.yes && !confirm("Apply this to the mesh on this machine? (y/N)", output)? {
        output.text("nothing was done\n")?;
        return Ok(Exit::Problem);
    }
    objects::put(&local.file, &local.wanted)
        .with_context(|| format!("{} cannot be written", local.file.display()))?;
    let gone =
        changes.iter().filter(|(_, change)| matches!(change, Change::Gone)).map(|(name, _)| name.clone());
    followed(&local.wanted.iter().map(named).collect(), &gone.collect())?;
    if text {
        output.text("the mesh on this machine has it\n")?;
    }
    Ok(Exit::Done)
}

/// Waits until the mesh has read the file, and says what it has against it.
fn followed(wanted: &BTreeSet<String>, gone: &BTreeSet<String>) -> Result<()> {
    let runtime = runtime::Builder::new_current_thread().enable_all().build().context("cannot start")?;
    runtime.block_on(async {
        let end = Instant::now() + READ;
        loop {
            let found = client::state(None, &env::current_dir()?).and_then(|state| client::running(&state));
            let view = client::view(&found.map_err(up_mesh::told)?).await.map_err(up_mesh::told)?;
            let name = |object: &mizzen_local::view::Object| {
                format!("{} {}/{}", object.kind, object.namespace, object.name)
            };
            let problems: Vec<String> = view
                .objects
                .iter()
                .filter(|object| wanted.contains(&name(object)))
                .flat_map(|object| {
                    object.problems.iter().map(move |problem| format!("{}: {problem}", name(object)))
                })
                .collect();
            if !problems.is_empty() {
                return Err(anyhow!("{}", problems.join("\n"))
                    .hint("what was there before goes on; `mizzen status` shows it"));
            }
            let there: BTreeSet<String> = view.objects.iter().map(name).collect();
            if wanted.is_subset(&there) && gone.is_disjoint(&there) {
                return Ok(());
            }
            if Instant::now() > end {
                return Err(anyhow!("the mesh has not read the file within {} s", READ.as_secs())
                    .hint("`mizzen status` and `mizzen logs control-plane` say why"));
            }
            sleep(Duration::from_millis(100)).await;
        }
    })
}

pub(super) fn destroy(
    owner: &Owner,
    dry_run: bool,
    yes: bool,
    text: bool,
    output: &mut Output,
) -> Result<Exit> {
    let view = running()?;
    let file = objects::file(&view.objects_folder, &owner.app);
    let there = objects::read(&file).map_err(|error| unreadable(&file, &error))?;
    let names: BTreeSet<String> = there.iter().map(named).collect();
    if text {
        output.text(&names.iter().map(|name| format!("  {BAD}- {name}{BAD:#}\n")).collect::<String>())?;
        output.text(&format!("{} to delete\n", names.len()))?;
        output.flush()?;
    } else {
        output.json(&json!({ "file": file, "delete": names }))?;
    }
    if dry_run || (there.is_empty() && !file.exists()) {
        return Ok(Exit::Done);
    }
    if !yes && !confirm("Delete it from the mesh on this machine? (y/N)", output)? {
        output.text("nothing was done\n")?;
        return Ok(Exit::Problem);
    }
    objects::remove(&file).with_context(|| format!("{} cannot be deleted", file.display()))?;
    followed(&BTreeSet::new(), &names)?;
    if text {
        output.text(&format!("{} is gone from the mesh on this machine\n", owner.app))?;
    }
    Ok(Exit::Done)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_differs_between_two_files_is_told_object_by_object() {
        let object = |name: &str, host: &str| {
            json!({"apiVersion": "networking.istio.io/v1", "kind": "VirtualService",
                "metadata": {"name": name, "namespace": "default"}, "spec": {"hosts": [host]}})
        };
        let there = [object("same", "a"), object("other", "a"), object("gone", "a")];
        let wanted = [object("same", "a"), object("other", "b"), object("new", "a")];
        let told: Vec<String> = changes(&there, &wanted)
            .into_iter()
            .map(|(name, change)| match change {
                Change::New => format!("+ {name}"),
                Change::Gone => format!("- {name}"),
                Change::Changed(fields) => format!("~ {name} {}", fields[0]),
            })
            .collect();
        assert_eq!(
            told,
            [
                "~ VirtualService default/other spec.hosts[0]: \"a\" → \"b\"",
                "+ VirtualService default/new",
                "- VirtualService default/gone"
            ]
        );
    }
}
