//! A group of workloads made anew, all at once, and waited for.

use super::{
    Task,
    group::{Group, Proxies},
    owner::Action,
    pod::{Pod, WARNING},
};
use crate::istio::{
    reconcile::{Done, Failed, Pass, Told},
    rollout::{restart_as_kubectl, was_restarted_for},
};
use mizzen_cluster::{Action as Change, ObjectId, Refused, Step};
use mizzen_install::deploy::Event;
use serde_json::{Value, json};
use std::time::Duration;

/// For all that was rolled out.
const PATIENCE: Duration = Duration::from_secs(300);
const EXCLUDE: &str = "restarter.istio-operator.kyma-project.io/exclude";
const NOBODYS: &str = "The sidecar of this Pod could not be reset because OwnerReferences is Job or was not found. \
    Recreate the pod manually to have the right one.";
const IN_VAIN: &str = "The sidecar of this Pod could not be reset because its workload did not become ready. \
    Recreate the pod manually to have the right one.";

pub(super) async fn act(
    pass: &Pass<'_>,
    group: Group,
    proxies: &Proxies,
    tasks: Vec<Task>,
    done: &mut Done,
) -> Result<(), Failed> {
    let cause = json!([group.words(), proxies.prefix, proxies.version, proxies.node_agents]).to_string();
    let mut rolled: Vec<Task> = Vec::new();
    for task in tasks {
        let outcome = one(pass, group, &cause, &task, done).await;
        match outcome {
            Ok(true) => rolled.push(task),
            Ok(false) => {}
            Err(refused) => done.notes.push(format!("{refused}")),
        }
    }
    let ids: Vec<ObjectId> = rolled.iter().filter_map(|task| workload(&task.action)).cloned().collect();
    if ids.is_empty() || pass.order.dry_run {
        return Ok(());
    }
    let told = |for_what: &[_]| {
        (pass.tell)(Told::Event(Event::Waits { component: "Proxies", for_what: for_what.to_vec() }));
    };
    if let Err(error) = pass.cluster.until_ready(&ids, PATIENCE, told).await {
        done.notes.push(format!("proxies: {error}"));
        for task in &rolled {
            let Some(id) = workload(&task.action) else { continue };
            if !is_ready(pass, id).await? {
                for pod in &task.pods {
                    warn(pass, pod, IN_VAIN).await?;
                }
            }
        }
    }
    Ok(())
}

/// Whether it is rolled out now.
async fn one(
    pass: &Pass<'_>,
    group: Group,
    cause: &str,
    task: &Task,
    done: &mut Done,
) -> Result<bool, Refused> {
    let dry_run = pass.order.dry_run;
    let words = group.words();
    match &task.action {
        Action::Warn(id) => {
            if !dry_run {
                for pod in &task.pods {
                    warn(pass, pod, NOBODYS).await?;
                }
            }
            done.notes.push(format!("{id}: {words}; it has to be made anew by hand"));
            Ok(false)
        }
        Action::DeletePod(id) => {
            if !dry_run {
                pass.cluster.delete(id, None).await?;
            }
            done.steps.push(Step { id: id.clone(), action: Change::Delete, left: Vec::new() });
            Ok(false)
        }
        Action::RollOut(id) => {
            let Some(live) = pass.cluster.get(id, None).await? else { return Ok(false) };
            if live["metadata"]["annotations"].get(EXCLUDE).is_some_and(|exclude| exclude == "true") {
                done.notes.push(format!("{id}: {words}; it wants to be left alone"));
                return Ok(false);
            }
            if was_restarted_for(&live, cause) {
                done.notes.push(format!("{id}: {words}, though it was restarted for that"));
                return Ok(false);
            }
            if !dry_run {
                restart_as_kubectl(pass.cluster, id, &live, cause).await?;
            }
            done.notes.push(format!("{id} is restarted: {words}"));
            Ok(true)
        }
    }
}

fn workload(action: &Action) -> Option<&ObjectId> {
    match action {
        Action::RollOut(id) => Some(id),
        Action::DeletePod(_) | Action::Warn(_) => None,
    }
}

async fn is_ready(pass: &Pass<'_>, id: &ObjectId) -> Result<bool, Failed> {
    let ids = [id.clone()];
    Ok(pass.cluster.until_ready(&ids, Duration::ZERO, |_| {}).await.is_ok())
}

/// A pod that is gone needs no warning.
async fn warn(pass: &Pass<'_>, pod: &Pod, text: &str) -> Result<(), Refused> {
    let id = ObjectId::new("", "Pod", &pod.namespace, &pod.name);
    pass.cluster.patch(&id, patch(pod, text)).await?;
    Ok(())
}

fn patch(pod: &Pod, text: &str) -> Value {
    if pod.has_annotations {
        let path = format!("/metadata/annotations/{}", WARNING.replace('/', "~1"));
        return json!([{ "op": "add", "path": path, "value": text }]);
    }
    json!([{ "op": "add", "path": "/metadata/annotations", "value": { WARNING: text } }])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_warning_leaves_the_other_annotations() {
        let mut pod = Pod { has_annotations: true, ..Pod::default() };
        assert_eq!(
            patch(&pod, "text"),
            json!([{ "op": "add", "path": "/metadata/annotations/istio.reconciler.kyma-project.io~1proxy-reset-warning", "value": "text" }])
        );
        pod.has_annotations = false;
        assert_eq!(patch(&pod, "text")[0]["path"], "/metadata/annotations");
    }
}
