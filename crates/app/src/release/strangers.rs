//! What others have put into a namespace of ours: it would go with the namespace, and was never ours to delete.

use super::owner::APP;
use mizzen_cluster::{Adoption, Cluster, NotPlanned, ObjectId, Refused};
use serde_json::Value;
use std::{collections::BTreeSet, sync::Arc};

/// Kinds that nobody keeps anything in: they come by themselves.
const FLEETING: [(&str, &str); 5] = [
    ("", "Endpoints"),
    ("", "Event"),
    ("coordination.k8s.io", "Lease"),
    ("discovery.k8s.io", "EndpointSlice"),
    ("events.k8s.io", "Event"),
];

/// Objects that a cluster and a control plane put into every namespace.
const EVERYWHERE: [(&str, &str); 3] =
    [("ConfigMap", "kube-root-ca.crt"), ("ConfigMap", "istio-ca-root-cert"), ("ServiceAccount", "default")];

const NAMED: usize = 3;

/// Why a namespace stays, if it has to. What nobody may look at may be anything.
pub(super) async fn strangers(cluster: &Arc<Cluster>, namespace: &str) -> Result<Option<String>, Refused> {
    let served = cluster.served();
    let kinds =
        served.namespaced().filter(|kind| !FLEETING.contains(kind) && !kind.0.ends_with("metrics.k8s.io"));
    let kinds: Vec<ObjectId> = kinds.map(|(group, kind)| of_kind(group, kind, namespace)).collect();
    let listed = cluster.for_all(kinds, ObjectId::clone, |cluster, kind| async move {
        let objects = cluster.list_in(&kind.group, &kind.kind, &kind.namespace, "").await?;
        // A list does not repeat of what kind its items are.
        let named = |object: &Value| {
            let name = object["metadata"]["name"].as_str().unwrap_or_default().to_owned();
            (ObjectId { name, ..kind.clone() }, object.clone())
        };
        Ok(objects.iter().map(named).collect::<Vec<_>>())
    });
    let listed = listed.await;
    if let Some(failed) = listed.failed.first() {
        return match &failed.reason {
            NotPlanned::Refused(Refused::Forbidden { .. }) => {
                Ok(Some(format!("what is in it cannot be seen: {}", failed.reason)))
            }
            NotPlanned::Refused(refused) => Err(refused.clone()),
            other => Ok(Some(other.to_string())),
        };
    }
    let all: Vec<(ObjectId, Value)> = listed.done.into_iter().flatten().collect();
    let is_ours = |object: &Value| cluster.is_ours(object, &Adoption::default()).is_ok();
    let strange = strange(&all, is_ours);
    Ok(sentence(&strange))
}

fn of_kind(group: &str, kind: &str, namespace: &str) -> ObjectId {
    ObjectId {
        group: group.to_owned(),
        kind: kind.to_owned(),
        namespace: namespace.to_owned(),
        name: String::new(),
    }
}

/// Those that are not ours, and were not made for something of ours.
fn strange(all: &[(ObjectId, Value)], is_ours: impl Fn(&Value) -> bool) -> Vec<ObjectId> {
    let uid = |object: &Value| object["metadata"]["uid"].as_str().unwrap_or_default().to_owned();
    let mut ours: BTreeSet<String> = all
        .iter()
        .filter(|(id, object)| comes_by_itself(id, object) || is_ours(object))
        .map(|(_, object)| uid(object))
        .collect();
    // A ReplicaSet is its Deployment's, and a pod its ReplicaSet's.
    loop {
        let made = all.iter().filter(|(_, object)| {
            let mut owners = object["metadata"]["ownerReferences"].as_array().into_iter().flatten();
            owners.any(|owner| owner["uid"].as_str().is_some_and(|uid| ours.contains(uid)))
        });
        let more: Vec<String> =
            made.map(|(_, object)| uid(object)).filter(|uid| !ours.contains(uid)).collect();
        if more.is_empty() {
            break;
        }
        ours.extend(more);
    }
    all.iter().filter(|(_, object)| !ours.contains(&uid(object))).map(|(id, _)| id.clone()).collect()
}

fn comes_by_itself(id: &ObjectId, object: &Value) -> bool {
    object["metadata"]["labels"][APP].is_string()
        || object["type"] == "kubernetes.io/service-account-token"
        || EVERYWHERE.contains(&(id.kind.as_str(), id.name.as_str()))
}

fn sentence(found: &[ObjectId]) -> Option<String> {
    if found.is_empty() {
        return None;
    }
    let named: Vec<String> = found.iter().take(NAMED).map(ToString::to_string).collect();
    let more = match found.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    Some(format!("it holds what others have made: {}{more}", named.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_was_made_for_something_of_ours_is_ours_and_what_for_others_is_not() {
        let object = |kind: &str, name: &str, uid: &str, owner: &str| {
            let mut object = json!({ "metadata": { "name": name, "uid": uid } });
            if !owner.is_empty() {
                object["metadata"]["ownerReferences"] = json!([{ "uid": owner }]);
            }
            (ObjectId { name: name.to_owned(), ..of_kind("", kind, "n") }, object)
        };
        let all = [
            object("Pod", "p", "3", "2"),
            object("ReplicaSet", "r", "2", "1"),
            object("Deployment", "d", "1", ""),
            object("ConfigMap", "kube-root-ca.crt", "4", ""),
            object("Db", "db", "5", ""),
            object("StatefulSet", "s", "6", "5"),
            object("PersistentVolumeClaim", "precious", "7", ""),
        ];
        let strange = strange(&all, |object| object["metadata"]["name"] == "d");
        let names: Vec<&str> = strange.iter().map(|id| id.name.as_str()).collect();
        assert_eq!(names, ["db", "s", "precious"]);
    }

    #[test]
    fn few_are_named_and_the_others_counted() {
        let id = |name: &str| ObjectId {
            group: String::new(),
            kind: "Secret".into(),
            namespace: "n".into(),
            name: name.into(),
        };
        let told = sentence(&["a", "b", "c", "d"].map(id)).unwrap();
        assert!(told.ends_with("Secret n/a, Secret n/b, Secret n/c and 1 more"), "{told}");
        assert_eq!(sentence(&[]), None);
    }
}
