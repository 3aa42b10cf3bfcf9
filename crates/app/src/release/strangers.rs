//! What others have put into a namespace of ours: it would go with the namespace, and was never ours to delete.

use super::owner::APP;
use mizzen_cluster::{Adoption, Cluster, ObjectId, Refused};
use serde_json::Value;

/// Kinds that hold somebody's work; everything else comes from these.
const KINDS: [(&str, &str); 15] = [
    ("", "ConfigMap"),
    ("", "PersistentVolumeClaim"),
    ("", "Pod"),
    ("", "Secret"),
    ("", "Service"),
    ("apps", "DaemonSet"),
    ("apps", "Deployment"),
    ("apps", "StatefulSet"),
    ("batch", "CronJob"),
    ("batch", "Job"),
    ("networking.istio.io", "DestinationRule"),
    ("networking.istio.io", "Gateway"),
    ("networking.istio.io", "ServiceEntry"),
    ("networking.istio.io", "VirtualService"),
    ("security.istio.io", "AuthorizationPolicy"),
];

/// ConfigMaps that a cluster and a control plane put into every namespace.
const EVERYWHERE: [&str; 2] = ["kube-root-ca.crt", "istio-ca-root-cert"];

const NAMED: usize = 3;

/// Why a namespace stays, if it has to. What nobody may list is not known.
pub(super) async fn strangers(cluster: &Cluster, namespace: &str) -> Result<Option<String>, Refused> {
    let mut found = Vec::new();
    for (group, kind) in KINDS {
        let objects = match cluster.list_in(group, kind, namespace, "").await {
            Ok(objects) => objects,
            Err(Refused::Forbidden { .. }) => continue,
            Err(refused) => return Err(refused),
        };
        let strange = objects.iter().filter(|object| {
            !goes_with_others(object) && cluster.is_ours(object, &Adoption::default()).is_err()
        });
        found.extend(strange.filter_map(|object| ObjectId::of(object).ok()));
    }
    Ok(sentence(&found))
}

/// Whether it was made for something else, and goes with that or comes again.
fn goes_with_others(object: &Value) -> bool {
    let metadata = &object["metadata"];
    let name = metadata["name"].as_str().unwrap_or_default();
    metadata["ownerReferences"].is_array()
        || metadata["labels"][APP].is_string()
        || object["type"] == "kubernetes.io/service-account-token"
        || (object["kind"] == "ConfigMap" && EVERYWHERE.contains(&name))
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
    fn what_comes_by_itself_is_nobodys_work() {
        for object in [
            json!({ "kind": "Pod", "metadata": { "name": "a", "ownerReferences": [{}] } }),
            json!({ "kind": "ConfigMap", "metadata": { "name": "kube-root-ca.crt" } }),
            json!({ "kind": "Secret", "metadata": { "name": "a", "labels": { APP: "shop" } } }),
        ] {
            assert!(goes_with_others(&object), "{object}");
        }
        assert!(!goes_with_others(&json!({ "kind": "Secret", "metadata": { "name": "kube-root-ca.crt" } })));
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
