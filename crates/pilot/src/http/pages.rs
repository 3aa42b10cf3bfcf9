//! The list of debug pages, and those that need no file of their own.

use super::{Page, Query, config_dump, json, plain, registry, sync};
use crate::process::Process;
use http::StatusCode;
use mizzen_mesh::Key;
use serde_json::{Value, json};

/// In the order of their names.
const PAGES: [&str; 10] = [
    "adsz",
    "config_dump",
    "configz",
    "connections",
    "endpointShardz",
    "mesh",
    "problemz",
    "registryz",
    "sourcez",
    "syncz",
];

pub(super) fn debug(process: &Process, name: &str, query: &Query) -> Page {
    match name {
        "list" => json(&PAGES),
        "config_dump" => config_dump::page(process, query),
        "syncz" => json(&sync::sync(process, query.get("namespace").as_deref())),
        "adsz" => json(&sync::clients(process)),
        "connections" => json(&json!({ "totalClients": process.connections().len() })),
        "registryz" => match process.snapshot() {
            Some(snapshot) => json(&registry::services(&snapshot)),
            None => json(&[(); 0]),
        },
        "endpointShardz" => match process.snapshot() {
            Some(snapshot) => json(&registry::shards(&snapshot)),
            None => json(&json!({})),
        },
        "configz" => json(&configuration(process)),
        "mesh" => match process.snapshot() {
            Some(snapshot) => json(&*snapshot.settings.mesh),
            None => {
                plain(StatusCode::SERVICE_UNAVAILABLE, "the mesh's configuration has not been read yet\n")
            }
        },
        "problemz" => json(&problems(process)),
        "sourcez" => json(&sources(process)),
        _ => plain(StatusCode::NOT_FOUND, "404 page not found\n"),
    }
}

fn configuration(process: &Process) -> Vec<Value> {
    let objects = process.objects.list();
    objects.iter().filter_map(|object| object.to_json().ok()).collect()
}

fn sources(process: &Process) -> Vec<Value> {
    let show = |source: &crate::sources::Known| {
        let (state, failure) = source.state();
        json!({ "source": source.name, "state": state, "failure": failure, "synced": source.is_synced() })
    };
    process.sources.iter().map(|source| show(source)).collect()
}

/// Everything that does not count: objects by name, and what is wrong in files, where it stands.
fn problems(process: &Process) -> Value {
    let files: Vec<String> = process.sources.iter().flat_map(|source| source.problems()).collect();
    let snapshot = process.snapshot();
    let problems = snapshot.iter().flat_map(|snapshot| snapshot.problems.iter());
    let objects: Vec<Value> = problems
        .map(|problem| {
            let Key { namespace, name, .. } = &problem.key;
            json!({ "kind": problem.key.kind.name(), "namespace": &**namespace, "name": &**name, "reason": &*problem.reason })
        })
        .collect();
    json!({ "objects": objects, "files": files })
}

/// For a person who asks why it is not ready.
pub(super) fn waiting_for(process: &Process) -> String {
    let waiting: Vec<String> = process
        .sources
        .iter()
        .filter(|source| !source.is_synced())
        .map(|source| match source.state() {
            (state, None) => format!("{}: {state}", source.name),
            (state, Some(failure)) => format!("{}: {state}: {failure}", source.name),
        })
        .collect();
    format!(
        "waiting for {}\n",
        if waiting.is_empty() { "the first snapshot".to_owned() } else { waiting.join("; ") }
    )
}
