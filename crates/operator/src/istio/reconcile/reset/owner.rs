//! What is done for a pod to be made anew, by whose it is.

use super::{
    Task,
    pod::{Owner, Pod},
};
use crate::istio::reconcile::Failed;
use mizzen_cluster::{Cluster, ObjectId};
use std::collections::BTreeMap;

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Action {
    RollOut(ObjectId),
    /// Whoever owns it makes another.
    DeletePod(ObjectId),
    /// Nobody would make another: it is told at the pod itself.
    Warn(ObjectId),
}

/// `set` is whose the ReplicaSet is, if that is what owns the pod and it is there.
fn decide(pod: &Pod, set: Option<&Option<Owner>>) -> Action {
    let itself = ObjectId::new("", "Pod", &pod.namespace, &pod.name);
    let roll_out = |owner: &Owner| match owner.kind.as_str() {
        "Deployment" | "StatefulSet" | "DaemonSet" => {
            Action::RollOut(ObjectId::new("apps", &owner.kind, &pod.namespace, &owner.name))
        }
        // What has no template that is known here cannot be rolled out.
        _ => Action::Warn(itself.clone()),
    };
    let Some(owner) = &pod.owner else { return Action::Warn(itself) };
    match (owner.kind.as_str(), set) {
        ("ReplicaSet", None) => Action::Warn(itself),
        ("ReplicaSet", Some(None)) | ("ReplicationController", _) => Action::DeletePod(itself),
        ("ReplicaSet", Some(Some(above))) => roll_out(above),
        _ => roll_out(owner),
    }
}

/// Each workload once.
pub(super) async fn tasks(cluster: &Cluster, pods: Vec<Pod>) -> Result<BTreeMap<Action, Task>, Failed> {
    let mut sets: BTreeMap<(String, String), Option<Option<Owner>>> = BTreeMap::new();
    let mut tasks: BTreeMap<Action, Task> = BTreeMap::new();
    for pod in pods {
        let set = pod.owner.as_ref().filter(|owner| owner.kind == "ReplicaSet");
        let set = match set {
            None => None,
            Some(owner) => {
                let key = (pod.namespace.clone(), owner.name.clone());
                if !sets.contains_key(&key) {
                    let live = cluster
                        .get(&ObjectId::new("apps", "ReplicaSet", &pod.namespace, &owner.name), None)
                        .await?;
                    let above = live.map(|set| {
                        let owner = set["metadata"]["ownerReferences"].get(0)?;
                        let text = |key: &str| owner[key].as_str().unwrap_or_default().to_owned();
                        Some(Owner { kind: text("kind"), name: text("name") })
                    });
                    sets.insert(key.clone(), above);
                }
                sets.get(&key).and_then(Option::as_ref)
            }
        };
        let action = decide(&pod, set);
        tasks.entry(action.clone()).or_insert(Task { action, pods: Vec::new() }).pods.push(pod);
    }
    Ok(tasks)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_owner_has_its_row() {
        let owner = |kind: &str| Owner { kind: kind.into(), name: "o".into() };
        let pod =
            |owner: Option<Owner>| Pod { namespace: "n".into(), name: "p".into(), owner, ..Pod::default() };
        let itself = ObjectId::new("", "Pod", "n", "p");
        let rolled = |kind: &str| Action::RollOut(ObjectId::new("apps", kind, "n", "o"));
        let set = pod(Some(owner("ReplicaSet")));
        let cases = [
            (pod(None), None, Action::Warn(itself.clone())),
            (pod(Some(owner("Job"))), None, Action::Warn(itself.clone())),
            (set.clone(), None, Action::Warn(itself.clone())),
            (set.clone(), Some(None), Action::DeletePod(itself.clone())),
            (pod(Some(owner("ReplicationController"))), None, Action::DeletePod(itself.clone())),
            (set.clone(), Some(Some(owner("Deployment"))), rolled("Deployment")),
            (pod(Some(owner("StatefulSet"))), None, rolled("StatefulSet")),
            (pod(Some(owner("DaemonSet"))), None, rolled("DaemonSet")),
            (set, Some(Some(owner("Rollout"))), Action::Warn(itself.clone())),
            (pod(Some(owner("Rollout"))), None, Action::Warn(itself)),
        ];
        for (pod, set, expected) in cases {
            assert_eq!(decide(&pod, set.as_ref()), expected, "{pod:?}");
        }
    }
}
