//! What keeps a namespace: something in it that somebody would miss.

use mizzen_cluster::{Cluster, ObjectId, Refused};
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// What kinds mean that nobody lets us look at.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Unseen {
    /// There may be anything.
    Keeps,
    /// There is nothing.
    Ignored,
}

/// Kinds that nobody keeps anything in: they come by themselves.
const FLEETING: [(&str, &str); 6] = [
    ("", "Event"),
    ("events.k8s.io", "Event"),
    ("", "Endpoints"),
    ("discovery.k8s.io", "EndpointSlice"),
    ("coordination.k8s.io", "Lease"),
    ("autoscaling.k8s.io", "VerticalPodAutoscalerCheckpoint"),
];

/// Objects that a cluster and a control plane put there by themselves.
const OWN: [(&str, &str); 6] = [
    ("ConfigMap", "kube-root-ca.crt"),
    ("ConfigMap", "istio-ca-crl"),
    ("ConfigMap", "istio-ca-root-cert"),
    ("Secret", "istio-ca-secret"),
    ("ServiceAccount", "default"),
    // A setting of the mesh, of Kyma's.
    ("ConfigMap", "elb-deprecated"),
];

/// Secrets that go with what they are about: an account, or the objects of a release of Helm's.
const FLEETING_SECRETS: [&str; 2] = ["kubernetes.io/service-account-token", "helm.sh/release.v1"];

/// By this annotation those who work one at a time say whose turn it is.
const ELECTION: &str = "control-plane.alpha.kubernetes.io/leader";

/// Why it stays, if it has to; what `goes` goes anyway.
pub(super) async fn inhabitant(
    cluster: &Cluster,
    namespace: &str,
    unseen: Unseen,
    goes: impl Fn(&ObjectId, &Value) -> bool,
) -> Result<Option<String>, Refused> {
    let served = cluster.served();
    let mut seen: BTreeSet<(&str, &str)> = BTreeSet::new();
    let mut found = Vec::new();
    for (group, kind) in served.namespaced().collect::<BTreeSet<_>>() {
        if FLEETING.contains(&(group, kind)) || group.ends_with("metrics.k8s.io") {
            continue;
        }
        match cluster.list_in(group, kind, namespace, "").await {
            Ok(objects) => found.extend(objects.iter().map(trimmed)),
            Err(Refused::Forbidden { .. }) if unseen == Unseen::Ignored => continue,
            Err(refused @ Refused::Forbidden { .. }) => {
                return Ok(Some(format!("what is in it cannot be seen: {refused}")));
            }
            Err(refused) => return Err(refused),
        }
        seen.insert((group, kind));
    }
    let stays = found.iter().find_map(|object| {
        let id = ObjectId::of(object).ok()?;
        (!goes(&id, object) && !goes_by_itself(object, &seen)).then_some(id)
    });
    Ok(stays.map(|id| format!("{id} is in it")))
}

/// What is asked of any object.
fn trimmed(object: &Value) -> Value {
    let mut metadata = object["metadata"].clone();
    if let Some(metadata) = metadata.as_object_mut() {
        metadata.remove("managedFields");
    }
    json!({
        "apiVersion": object["apiVersion"], "kind": object["kind"], "metadata": metadata, "type": object["type"],
    })
}

/// Whether nobody would miss it. What belongs to an object of a kind that was `seen` goes with that one, which counts itself.
fn goes_by_itself(object: &Value, seen: &BTreeSet<(&str, &str)>) -> bool {
    let metadata = &object["metadata"];
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let mut owners = metadata["ownerReferences"].as_array().into_iter().flatten();
    let belongs = owners.any(|owner| {
        let (version, kind) = (text(&owner["apiVersion"]), text(&owner["kind"]));
        let group = version.split_once('/').map_or("", |(group, _)| group);
        seen.contains(&(group, kind.as_str()))
    });
    let (kind, name) = (text(&object["kind"]), text(&metadata["name"]));
    belongs
        || metadata.get("deletionTimestamp").is_some()
        || OWN.contains(&(kind.as_str(), name.as_str()))
        || FLEETING_SECRETS.iter().any(|kind| object["type"] == *kind)
        || metadata["annotations"].get(ELECTION).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_somebody_would_miss_keeps_a_namespace() {
        let kinds = BTreeSet::from([("apps", "Deployment"), ("apps", "ReplicaSet"), ("", "Pod")]);
        let owned = |kind: &str, name: &str, owner: (&str, &str)| {
            let owner = json!([{ "apiVersion": owner.0, "kind": owner.1, "name": "o", "uid": "u" }]);
            json!({ "kind": kind, "metadata": { "name": name, "ownerReferences": owner } })
        };
        let plain = |kind: &str, name: &str| json!({ "kind": kind, "metadata": { "name": name } });
        let goes = [
            plain("ServiceAccount", "default"),
            plain("ConfigMap", "kube-root-ca.crt"),
            plain("ConfigMap", "istio-ca-root-cert"),
            plain("Secret", "istio-ca-secret"),
            json!({ "kind": "Secret", "type": "kubernetes.io/service-account-token", "metadata": { "name": "t" } }),
            json!({ "kind": "ConfigMap", "metadata": { "name": "istio-leader", "annotations": { ELECTION: "{}" } } }),
            json!({ "kind": "Secret", "metadata": { "name": "s", "deletionTimestamp": "2026-01-01T00:00:00Z" } }),
            json!({ "kind": "Secret", "type": "helm.sh/release.v1", "metadata": { "name": "sh.helm.release.v1.istiod.v1" } }),
            owned("ReplicaSet", "r", ("apps/v1", "Deployment")),
            owned("Pod", "p", ("apps/v1", "ReplicaSet")),
        ];
        for object in goes {
            assert!(goes_by_itself(&object, &kinds), "{object}");
        }
        let stays = [
            plain("Secret", "mine"),
            plain("Secret", "cacerts"),
            plain("ConfigMap", "default"),
            plain("Pod", "bare"),
            owned("Secret", "of-what-cannot-be-seen", ("bitnami.com/v1alpha1", "SealedSecret")),
            owned("Pod", "of-a-node", ("v1", "Node")),
        ];
        for object in stays {
            assert!(!goes_by_itself(&object, &kinds), "{object}");
        }
    }
}
