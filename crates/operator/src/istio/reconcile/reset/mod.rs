//! Proxies made anew after the mesh was, as Kyma's older reconciler does it: three groups of pods, one after the other.
//!
//! ```text
//! pods, a page at a time ─▶ Pod (trimmed) ─▶ group: why? ─▶ owner: what is done? ─▶ act, all of a group at once ─▶ notes
//! ```
//! Nothing here keeps the pass from being a success: what could not be done is told.

mod act;
mod group;
mod owner;
mod pod;

use super::{Done, Failed, Pass, mesh::image};
use crate::istio::{installation::Wanted, sidecars::injects, verify::tag_of};
use group::{Group, Injection, Proxies, group};
use owner::Action;
use pod::Pod;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// A workload that is made anew, and the pods of it for whose sake.
#[derive(Debug)]
struct Task {
    action: Action,
    pods: Vec<Pod>,
}

pub(super) async fn reset(pass: &Pass<'_>, wanted: &Wanted, done: &mut Done) -> Result<(), Failed> {
    let proxies = proxies(wanted);
    let namespaces = pass.cluster.list("", "Namespace", "").await?;
    let namespaces: BTreeMap<String, Injection> = namespaces.iter().filter_map(Injection::of).collect();
    let mut groups: BTreeMap<Group, Vec<Pod>> = BTreeMap::new();
    pass.cluster
        .each("", "Pod", "fieldSelector=status.phase%3DRunning", |pod| {
            let Some(pod) = Pod::of(&pod) else { return };
            let injection = namespaces.get(&pod.namespace).copied().unwrap_or_default();
            if let Some(group) = group(&pod, &proxies, injection) {
                groups.entry(group).or_default().push(pod);
            }
        })
        .await?;
    if groups.is_empty() {
        return Ok(());
    }
    if !injects(pass.cluster).await? {
        let count: usize = groups.values().map(Vec::len).sum();
        done.notes.push(format!(
            "{count} pods have no sidecar or not the right one, and are not restarted: nobody serves the injection webhook, \
             and new pods would have no sidecar at all"
        ));
        return Ok(());
    }
    let mut seen = BTreeSet::new();
    for (group, pods) in groups {
        let mut tasks = owner::tasks(pass.cluster, pods).await?;
        // A workload of an earlier group is new by now.
        tasks.retain(|key, _| seen.insert(key.clone()));
        act::act(pass, group, &proxies, tasks.into_values().collect(), done).await?;
    }
    Ok(())
}

/// What sidecars should be, by the gateway of the mesh, which is a proxy itself.
fn proxies(wanted: &Wanted) -> Proxies {
    let mut deployments = wanted.mesh.objects().filter(|object| object.id.kind == "Deployment");
    let proxy =
        deployments.find_map(|object| image(&object.value, "istio-proxy")).filter(|image| image != "auto");
    let proxy = proxy.unwrap_or_default();
    let spec = &wanted.operator["spec"];
    let by_default = &spec["values"]["sidecarInjectorWebhook"]["enableNamespacesByDefault"];
    Proxies {
        prefix: proxy.rsplit_once('/').map(|(hub, _)| format!("{hub}/")).unwrap_or_default(),
        version: tag_of(&proxy).unwrap_or_default().to_owned(),
        node_agents: spec["components"]["cni"]["enabled"] == Value::Bool(true),
        by_default: *by_default == Value::Bool(true),
    }
}
