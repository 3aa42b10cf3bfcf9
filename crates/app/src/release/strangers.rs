//! What others have put into a namespace of ours, or made of a kind of ours: it would go with the namespace or the definition, and was
//! never ours to delete.

use super::owner::Owner;
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

/// Why the definition of a kind stays, if it has to: objects of the kind would go with it. `going` are those that go anyway.
pub(super) async fn of_its_kind(
    cluster: &Cluster,
    definition: &Value,
    going: &BTreeSet<ObjectId>,
) -> Result<Option<String>, Refused> {
    let text = |pointer: &str| definition.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
    let (group, kind) = (text("/spec/group"), text("/spec/names/kind"));
    if cluster.served().find(group, kind, None).is_none() {
        // Others may have defined it since it was looked at, or it may be a new one.
        cluster.look().await?;
    }
    let listed = match cluster.list(group, kind, "").await {
        Ok(listed) => listed,
        Err(Refused::NotServed { .. } | Refused::Absent { .. }) => return Ok(None),
        Err(refused @ Refused::Forbidden { .. }) => {
            return Ok(Some(format!("what there is of its kind cannot be seen: {refused}")));
        }
        Err(refused) => return Err(refused),
    };
    let named = |object: &Value| {
        let text = |field: &str| object["metadata"][field].as_str().unwrap_or_default().to_owned();
        ObjectId { name: text("name"), ..of_kind(group, kind, &text("namespace")) }
    };
    let goes = |object: &&Value| {
        going.contains(&named(object)) && cluster.is_ours(object, &Adoption::default()).is_ok()
    };
    let stay: Vec<ObjectId> = listed.iter().filter(|object| !goes(object)).map(named).collect();
    Ok(sentence("there are objects of its kind that stay", &stay))
}

/// Why a namespace stays, if it has to. What nobody may look at may be anything.
pub(super) async fn strangers(
    cluster: &Arc<Cluster>,
    owner: &Owner,
    namespace: &str,
) -> Result<Option<String>, Refused> {
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
    let strange = strange(owner, &all, is_ours);
    Ok(sentence("it holds what others have made", &strange))
}

fn of_kind(group: &str, kind: &str, namespace: &str) -> ObjectId {
    ObjectId::new(group, kind, namespace, "")
}

/// Those that are not ours, and were not made for something of ours.
fn strange(owner: &Owner, all: &[(ObjectId, Value)], is_ours: impl Fn(&Value) -> bool) -> Vec<ObjectId> {
    let uid = |object: &Value| object["metadata"]["uid"].as_str().unwrap_or_default().to_owned();
    let mut ours: BTreeSet<String> = all
        .iter()
        .filter(|(id, object)| comes_by_itself(id, object) || owner.is_record(id) || is_ours(object))
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
    object["type"] == "kubernetes.io/service-account-token"
        || EVERYWHERE.contains(&(id.kind.as_str(), id.name.as_str()))
}

fn sentence(what: &str, found: &[ObjectId]) -> Option<String> {
    if found.is_empty() {
        return None;
    }
    let named: Vec<String> = found.iter().take(NAMED).map(ToString::to_string).collect();
    let more = match found.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    Some(format!("{what}: {}{more}", named.join(", ")))
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
            object("Secret", "mizzen-app.shop.dev", "8", ""),
            object("Secret", "mizzen-app.shop.dev.r12.2", "9", ""),
            object("Secret", "mizzen-app.shop.dev.rest", "10", ""),
            object("Secret", "mizzen-app.other.dev.r1", "11", ""),
            object("ConfigMap", "mizzen-app.shop.dev", "12", ""),
        ];
        // A label makes nothing ours.
        let all = all.map(|(id, mut object)| {
            object["metadata"]["labels"] = json!({ "mizzen.io/app": "shop", "mizzen.io/stack": "dev" });
            (id, object)
        });
        let owner = Owner { app: "shop".into(), stack: "dev".into(), namespace: "n".into() };
        let strange = strange(&owner, &all, |object| object["metadata"]["name"] == "d");
        let names: Vec<&str> = strange.iter().map(|id| id.name.as_str()).collect();
        assert_eq!(
            names,
            [
                "db",
                "s",
                "precious",
                "mizzen-app.shop.dev.rest",
                "mizzen-app.other.dev.r1",
                "mizzen-app.shop.dev"
            ]
        );
    }

    #[test]
    fn few_are_named_and_the_others_counted() {
        let id = |name: &str| ObjectId::new("", "Secret", "n", name);
        let told = sentence("it holds", &["a", "b", "c", "d"].map(id)).unwrap();
        assert_eq!(told, "it holds: Secret n/a, Secret n/b, Secret n/c and 1 more");
        assert_eq!(sentence("it holds", &[]), None);
    }
}
