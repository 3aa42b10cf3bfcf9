//! Who has to be restarted for a pod to be made anew.

use super::pod::{Owner, Pod};
use mizzen_cluster::{Cluster, ObjectId, Refused};
use std::collections::HashMap;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Action {
    RollOut(Owner),
    /// The pod goes, and this makes another.
    Evict(Owner),
    /// Nobody but its owner can do it: the workload, and why.
    ByHand(&'static str),
}

/// ReplicaSets that were asked for, with who owns them; none for those that are not there.
#[derive(Default)]
pub(super) struct Sets(HashMap<(String, String), Option<Option<Owner>>>);

impl Sets {
    /// Nothing for a pod whose owner is gone: it goes, too.
    pub(super) async fn action(&mut self, cluster: &Cluster, pod: &Pod) -> Result<Option<Action>, Refused> {
        let Some(owner) = &pod.owner else { return Ok(decide(None, None)) };
        if owner.kind != "ReplicaSet" {
            return Ok(decide(Some(owner), None));
        }
        let key = (pod.namespace.clone(), owner.name.clone());
        if let Some(known) = self.0.get(&key) {
            return Ok(decide(Some(owner), known.as_ref()));
        }
        let id = ObjectId::new("apps", &owner.kind, &pod.namespace, &owner.name);
        let set = cluster.get(&id, None).await?.map(|set| Owner::of(&set));
        let action = decide(Some(owner), set.as_ref());
        self.0.insert(key, set);
        Ok(action)
    }
}

/// `set` is whose the ReplicaSet is, if that is what owns the pod and it is there.
fn decide(owner: Option<&Owner>, set: Option<&Option<Owner>>) -> Option<Action> {
    const NONE: Action =
        Action::ByHand("pod sidecar could not be updated because OwnerReferences was not found.");
    const OTHER: Action = Action::ByHand(
        "pod sidecar could not be updated because its owner is of a kind that cannot be rolled out.",
    );
    let roll_out = |owner: &Owner| match (owner.version.split('/').next(), owner.kind.as_str()) {
        (Some("apps"), "Deployment" | "StatefulSet" | "DaemonSet") => Action::RollOut(owner.clone()),
        _ => OTHER,
    };
    let Some(owner) = owner else { return Some(NONE) };
    Some(match (owner.kind.as_str(), set) {
        ("ReplicaSet", None) => return None,
        ("ReplicaSet", Some(None)) | ("ReplicationController", _) => Action::Evict(owner.clone()),
        ("ReplicaSet", Some(Some(above))) => roll_out(above),
        ("Job", _) => Action::ByHand("pod sidecar could not be updated because it is owned by a Job."),
        _ => roll_out(owner),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_owner_has_its_way_of_being_restarted() {
        let of = |kind: &str| Owner {
            version: "apps/v1".into(),
            kind: kind.into(),
            name: "o".into(),
            uid: "u".into(),
        };
        let set = of("ReplicaSet");
        let by_hand = |action: Option<Action>| matches!(action, Some(Action::ByHand(_)));
        for kind in ["Deployment", "StatefulSet", "DaemonSet"] {
            assert_eq!(decide(Some(&of(kind)), None), Some(Action::RollOut(of(kind))));
            assert_eq!(decide(Some(&set), Some(&Some(of(kind)))), Some(Action::RollOut(of(kind))));
        }
        assert_eq!(decide(Some(&set), Some(&None)), Some(Action::Evict(set.clone())));
        let controller = of("ReplicationController");
        assert_eq!(decide(Some(&controller), None), Some(Action::Evict(controller)));
        for kind in ["Job", "Rollout", ""] {
            assert!(by_hand(decide(Some(&of(kind)), None)), "{kind}");
        }
        let others = Owner { version: "apps.example/v1".into(), ..of("Deployment") };
        assert!(by_hand(decide(Some(&others), None)), "a kind of the same name that is not Kubernetes' own");
        assert!(by_hand(decide(None, None)));
        assert_eq!(decide(Some(&set), None), None, "it is gone, and its pods go with it");
        assert!(by_hand(decide(Some(&set), Some(&Some(of("Rollout"))))));
    }
}
