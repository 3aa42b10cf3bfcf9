//! A namespace that was made here goes, unless something is in it that somebody would miss.

use super::{
    Done, Failed, Outcome, Pass,
    mark::{MARK, is_deleted},
};
use crate::istio::resources::is_marked;
use mizzen_cluster::{Action, ObjectId, Refused, Step};
use serde_json::Value;
use std::{collections::BTreeSet, time::Duration};

/// For namespaces to be gone.
const PATIENCE: Duration = Duration::from_secs(60);

pub(super) fn namespace(name: &str) -> ObjectId {
    ObjectId {
        group: String::new(),
        kind: "Namespace".to_owned(),
        namespace: String::new(),
        name: name.to_owned(),
    }
}

/// `before` is what has gone in this pass already, or would have.
pub(super) async fn leave(
    pass: &Pass<'_>,
    name: &str,
    before: &[Outcome],
    done: &mut Done,
) -> Result<(), Failed> {
    let (cluster, id) = (pass.cluster, namespace(name));
    let Some(live) = cluster.get(&id, None).await?.filter(|live| is_marked(live, MARK)) else {
        return Ok(());
    };
    if live["metadata"].get("deletionTimestamp").is_none() {
        if let Some(why) = inhabited(pass, name, before).await? {
            done.notes.push(format!("the namespace {name} stays: {why}"));
            return Ok(());
        }
        if !pass.order.dry_run {
            cluster.delete(&id, live["metadata"]["uid"].as_str()).await?;
        }
        done.steps.push(Step { id: id.clone(), action: Action::Delete, left: Vec::new() });
    }
    if !pass.order.dry_run
        && let Err(going) = cluster.gone(&id, PATIENCE).await
    {
        done.notes.push(going.to_string());
    }
    Ok(())
}

/// Kinds that nobody keeps anything in: they come by themselves.
const FLEETING: [(&str, &str); 5] = [
    ("", "Event"),
    ("events.k8s.io", "Event"),
    ("", "Endpoints"),
    ("discovery.k8s.io", "EndpointSlice"),
    ("coordination.k8s.io", "Lease"),
];

/// Objects that a cluster and a control plane put there by themselves.
const OWN: [(&str, &str); 4] = [
    ("ConfigMap", "kube-root-ca.crt"),
    ("ConfigMap", "istio-ca-root-cert"),
    ("Secret", "istio-ca-secret"),
    ("ServiceAccount", "default"),
];

/// By this annotation those who work one at a time say whose turn it is.
const ELECTION: &str = "control-plane.alpha.kubernetes.io/leader";

/// Why it stays, if it has to. What nobody may look at may be anything.
async fn inhabited(pass: &Pass<'_>, name: &str, before: &[Outcome]) -> Result<Option<String>, Failed> {
    let served = pass.cluster.served();
    let kinds: BTreeSet<(&str, &str)> = served.namespaced().collect();
    let lasting = kinds.iter().filter(|kind| !FLEETING.contains(kind) && !kind.0.ends_with("metrics.k8s.io"));
    for (group, kind) in lasting {
        let objects = match pass.cluster.list_in(group, kind, name, "").await {
            Ok(objects) => objects,
            Err(refused @ Refused::Forbidden { .. }) => {
                return Ok(Some(format!("what is in it cannot be seen: {refused}")));
            }
            Err(refused) => return Err(refused.into()),
        };
        for object in objects {
            let Ok(id) = ObjectId::of(&object) else { continue };
            // The list of the mesh goes with the mesh.
            let is_list = id.name.starts_with("mizzen-inventory-") && pass.order.dry_run;
            if !is_list && !goes_by_itself(&object, &kinds) && !is_deleted(before, &id) {
                return Ok(Some(format!("{id} is in it")));
            }
        }
    }
    Ok(None)
}

/// Whether nobody would miss it. `kinds` are those that live in namespaces: what belongs to one of them goes with that one, which counts itself.
fn goes_by_itself(object: &Value, kinds: &BTreeSet<(&str, &str)>) -> bool {
    let metadata = &object["metadata"];
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let mut owners = metadata["ownerReferences"].as_array().into_iter().flatten();
    let belongs = owners.any(|owner| {
        let (version, kind) = (text(&owner["apiVersion"]), text(&owner["kind"]));
        let group = version.split_once('/').map_or("", |(group, _)| group);
        kinds.contains(&(group, kind.as_str()))
    });
    let (kind, name) = (text(&object["kind"]), text(&metadata["name"]));
    belongs
        || metadata.get("deletionTimestamp").is_some()
        || OWN.contains(&(kind.as_str(), name.as_str()))
        || object["type"] == "kubernetes.io/service-account-token"
        || metadata["annotations"].get(ELECTION).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

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
            owned("Secret", "of-a-cluster", ("example.com/v1", "Issuer")),
            owned("Pod", "of-a-node", ("v1", "Node")),
        ];
        for object in stays {
            assert!(!goes_by_itself(&object, &kinds), "{object}");
        }
    }
}
