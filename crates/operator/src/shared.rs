//! Objects that two meshes have, such as the definitions of Istio's kinds: both lists name them, and one owner's labels are on them.
//!
//! Whoever comes second leaves the labels to the first. Otherwise each would put its own on at every pass, for ever.

use mizzen_cluster::{Cluster, Inventory, Owner, Refused};
use mizzen_install::deploy::{Facts, Mesh};
use serde_json::Value;

/// What says whose an object is.
const LABELS: [&str; 4] = [
    "install.operator.istio.io/owning-resource",
    "install.operator.istio.io/owning-resource-namespace",
    "istio.io/rev",
    "operator.istio.io/version",
];

/// Asks only for objects that another list has, too.
pub(crate) async fn leave_labels(cluster: &Cluster, mesh: &mut Mesh, facts: &Facts) -> Result<(), Refused> {
    let own = mesh.owner();
    let others: Vec<&(Owner, Inventory)> =
        facts.inventories.iter().filter(|(owner, _)| *owner != own).collect();
    for desired in mesh.parts.iter_mut().flat_map(|part| &mut part.objects) {
        let listed = others.iter().filter(|(_, list)| list.objects.contains(&desired.id));
        let owners: Vec<&Owner> = listed.map(|(owner, _)| owner).collect();
        if !owners.is_empty()
            && let Some(live) = cluster.get(&desired.id, Some(&desired.version)).await?
        {
            leave(&mut desired.value, &live, &owners);
        }
    }
    Ok(())
}

fn leave(desired: &mut Value, live: &Value, owners: &[&Owner]) {
    let label = |key: &str| live["metadata"]["labels"][key].as_str();
    let [name, namespace, revision, _] = LABELS.map(label);
    let (Some(name), Some(namespace), Some(revision)) = (name, namespace, revision) else { return };
    let listed_as = format!("{revision}.{name}");
    if !owners.iter().any(|owner| owner.namespace == namespace && owner.name == listed_as) {
        return;
    }
    for key in LABELS {
        if let Some(value) = label(key) {
            desired["metadata"]["labels"][key] = value.into();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn object(name: &str, revision: &str) -> Value {
        json!({ "metadata": { "labels": {
            LABELS[0]: name, LABELS[1]: "n", LABELS[2]: revision, LABELS[3]: "1", "operator.istio.io/component": "Base",
        } } })
    }

    #[test]
    fn the_labels_of_an_owner_that_lists_the_object_stay() {
        let first = Owner { namespace: "n".into(), name: "default.first".into() };
        let mut desired = object("second", "canary");
        leave(&mut desired, &object("first", "default"), &[&first]);
        assert_eq!(desired, object("first", "default"));
    }

    #[test]
    fn the_labels_of_one_that_is_gone_do_not() {
        let other = Owner { namespace: "n".into(), name: "default.other".into() };
        let mut desired = object("second", "canary");
        leave(&mut desired, &object("first", "default"), &[&other]);
        assert_eq!(desired, object("second", "canary"));
        leave(&mut desired, &json!({ "metadata": {} }), &[&other]);
        assert_eq!(desired, object("second", "canary"));
    }
}
