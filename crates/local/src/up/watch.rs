//! What is looked at again and again while a mesh is up: what Envoys count, and what the control plane thinks of its configuration.

use super::{Mesh, Told, mesh::Configuration};
use crate::{
    http::get,
    observe,
    plan::{GATEWAY, NAMESPACE},
    view,
};
use serde_json::Value;
use std::{
    collections::BTreeMap,
    fs, io,
    path::PathBuf,
    sync::Arc,
    time::{Duration, Instant},
};
use tokio::time::sleep;

const EVERY: Duration = Duration::from_secs(1);
const WAIT: Duration = Duration::from_secs(2);

pub(super) async fn statistics(mesh: Arc<Mesh>) {
    loop {
        look(&mesh).await;
        sleep(EVERY).await;
    }
}

/// Once at every Envoy.
pub(super) async fn look(mesh: &Mesh) {
    let names =
        std::iter::once(GATEWAY).chain(mesh.plan.workloads.iter().map(|workload| workload.name.as_str()));
    for name in names {
        // One that is being started again has nothing to say.
        if let Ok(counted) = observe::look(&mesh.admin(name)).await {
            mesh.observe(|observed| observed.add(name, counted, Instant::now()));
        }
    }
}

/// Tells of what is new in what is wrong.
pub(super) async fn configuration(mesh: Arc<Mesh>, tell: Arc<dyn Fn(Told) + Send + Sync>) {
    loop {
        // While the control plane is away, what it said last stands.
        if let Ok(now) = read(&mesh).await {
            let problems = now.problems.clone();
            let before = mesh.configure(now).problems;
            for problem in problems.iter().filter(|problem| !before.contains(problem)) {
                tell(Told::Problem(problem.clone()));
            }
            for problem in before.iter().filter(|problem| !problems.contains(problem)) {
                tell(Told::Fixed(problem.clone()));
            }
        }
        sleep(EVERY / 2).await;
    }
}

async fn json(mesh: &Mesh, page: &str) -> io::Result<Value> {
    let answer = get(&mesh.control_plane(), page, &[], WAIT).await?;
    Ok(serde_json::from_slice(&answer.body)?)
}

async fn read(mesh: &Mesh) -> io::Result<Configuration> {
    let sync = json(mesh, "/debug/syncz").await?;
    let objects = json(mesh, "/debug/configz").await?;
    let problems = json(mesh, "/debug/problemz").await?;
    Ok(configured(&sync, &objects, &problems))
}

fn configured(sync: &Value, objects: &Value, problems: &Value) -> Configuration {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let each = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let mut configuration = Configuration::default();
    for proxy in each(sync) {
        let name = text(&proxy["proxy"]);
        let name = name.strip_suffix(&format!(".{NAMESPACE}")).unwrap_or(&name).to_owned();
        configuration.sync.insert(name, view::Sync { connected: true, types: types(&proxy["resources"]) });
    }
    let mut listed: BTreeMap<(String, String, String), Vec<String>> = BTreeMap::new();
    for object in each(objects) {
        let metadata = &object["metadata"];
        listed.insert(
            (text(&object["kind"]), text(&metadata["namespace"]), text(&metadata["name"])),
            Vec::new(),
        );
    }
    for problem in each(&problems["objects"]) {
        let key = (text(&problem["kind"]), text(&problem["namespace"]), text(&problem["name"]));
        listed.entry(key).or_default().push(text(&problem["reason"]));
    }
    configuration.objects = listed
        .into_iter()
        .map(|((kind, namespace, name), problems)| view::Object {
            kind,
            namespace,
            name,
            state: if problems.is_empty() { "in effect" } else { "problem" }.to_owned(),
            problems,
        })
        .collect();
    configuration.problems = each(&problems["files"]).iter().map(text).collect();
    configuration
}

fn types(resources: &Value) -> Vec<view::SyncType> {
    let resources = resources.as_object().into_iter().flatten();
    let one = |(url, state): (&String, &Value)| {
        let error = state["lastError"].as_str().map(str::to_owned);
        let word = match (&error, state["sent"] == state["acked"]) {
            (Some(_), _) => "refused",
            (None, true) => "synced",
            (None, false) => "stale",
        };
        let name = match url.rsplit('.').next().unwrap_or(url) {
            "Cluster" => "clusters",
            "ClusterLoadAssignment" => "endpoints",
            "Listener" => "listeners",
            "RouteConfiguration" => "routes",
            other => other,
        };
        view::SyncType { name: name.to_owned(), state: word.to_owned(), error }
    };
    resources.map(one).collect()
}

/// The file that says which services there are is read once.
pub(super) async fn file(path: PathBuf, tell: Arc<dyn Fn(Told) + Send + Sync>) {
    let stamp = || fs::metadata(&path).and_then(|metadata| metadata.modified()).ok();
    let mut last = stamp();
    loop {
        sleep(2 * EVERY).await;
        let now = stamp();
        if now.is_some() && now != last {
            last = now;
            let name = path.display();
            tell(Told::Line(format!(
                "{name} has changed: `mizzen down` and `mizzen up` use it (only the folder of objects is followed)"
            )));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_the_control_plane_says_is_told_by_workload_and_object() {
        let sync = json!([{ "proxy": "reviews-v1.default", "resources": {
            "type.googleapis.com/envoy.config.cluster.v3.Cluster": { "sent": "a", "acked": "a" },
            "type.googleapis.com/envoy.config.listener.v3.Listener": { "sent": "b", "acked": "a", "lastError": "no" },
        } }]);
        let objects = json!([{ "kind": "Gateway", "metadata": { "name": "g", "namespace": "default" } }]);
        let problems = json!({
            "files": ["a.yaml:3:1: no"],
            "objects": [{ "kind": "VirtualService", "namespace": "default", "name": "v", "reason": "no" }],
        });
        let seen = configured(&sync, &objects, &problems);
        assert_eq!(seen.sync["reviews-v1"].word(), "refused");
        let states: Vec<_> = seen.objects.iter().map(|one| (one.kind.as_str(), one.state.as_str())).collect();
        assert_eq!(states, [("Gateway", "in effect"), ("VirtualService", "problem")]);
        assert_eq!(seen.problems, ["a.yaml:3:1: no"]);
    }
}
