//! Objects that two meshes have, such as the definitions of Istio's kinds: both lists name them, and one owner's labels are on them.
//!
//! Whoever comes second leaves the labels of what all share to the first. Otherwise each would put its own on at every pass, for ever.

use super::{Facts, Mesh, labels, mesh::list_name};
use mizzen_cluster::{Cluster, Inventory, ObjectId, Owner, Refused};
use serde_json::Value;
use std::fmt;

/// What says whose an object is.
const LABELS: [&str; 4] = [labels::OWNER, labels::OWNER_NAMESPACE, labels::REVISION, labels::VERSION];

/// An object that another mesh has, and that is not for all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claimed {
    pub id: ObjectId,
    /// Whose list it is in.
    pub by: Owner,
}

impl fmt::Display for Claimed {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (revision, name) = self.by.name.split_once('.').unwrap_or((&self.by.name, ""));
        write!(out, "{} is in another mesh, too: revision {revision}", self.id)?;
        if !name.is_empty() {
            write!(out, " of IstioOperator {}/{name}", self.by.namespace)?;
        }
        write!(out, "; switch its component off in one of them")
    }
}

/// Asks only for objects that another list has, too.
pub async fn share(cluster: &Cluster, mesh: &mut Mesh, facts: &Facts) -> Result<Vec<Claimed>, Refused> {
    let own = mesh.owner();
    let others: Vec<&(Owner, Inventory)> =
        facts.inventories.iter().filter(|(owner, _)| *owner != own).collect();
    let mut claimed = Vec::new();
    for part in &mut mesh.parts {
        for desired in &mut part.objects {
            let listed = others.iter().filter(|(_, list)| list.objects.contains(&desired.id));
            let owners: Vec<&Owner> = listed.map(|(owner, _)| owner).collect();
            if owners.is_empty() {
                continue;
            }
            let Some(live) = cluster.get(&desired.id, Some(&desired.version)).await? else { continue };
            match labelled(&live, &owners) {
                Some(_) if part.component.name == "Base" => leave(desired.value_mut(), &live),
                // A tag goes from hand to hand.
                Some(_) if labels::of(&desired.value, labels::NOT_PRUNED) == Some("true") => {}
                Some(owner) => claimed.push(Claimed { id: desired.id.clone(), by: owner.clone() }),
                None => {}
            }
        }
    }
    Ok(claimed)
}

/// Which of them the labels name.
fn labelled<'o>(live: &Value, owners: &[&'o Owner]) -> Option<&'o Owner> {
    let revision = labels::of(live, labels::REVISION)?;
    // Charts write the word where they are told nothing.
    let name = labels::of(live, labels::OWNER).filter(|name| *name != "unknown");
    let listed_as = list_name(revision, name);
    let namespace = labels::of(live, labels::OWNER_NAMESPACE);
    let is_named = |owner: &&&Owner| {
        owner.name == listed_as && namespace.is_none_or(|namespace| owner.namespace == namespace)
    };
    owners.iter().find(is_named).copied()
}

fn leave(desired: &mut Value, live: &Value) {
    let Some(wanted) = desired.pointer_mut("/metadata/labels").and_then(Value::as_object_mut) else { return };
    for key in LABELS {
        match labels::of(live, key) {
            Some(value) => wanted.insert(key.to_owned(), value.into()),
            None => wanted.remove(key),
        };
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
        assert_eq!(labelled(&object("first", "default"), &[&first]), Some(&first));
        leave(&mut desired, &object("first", "default"));
        assert_eq!(desired, object("first", "default"));
        let plain = Owner { namespace: "n".into(), name: "default".into() };
        assert_eq!(labelled(&object("unknown", "default"), &[&first, &plain]), Some(&plain));
    }

    #[test]
    fn the_labels_of_one_that_is_gone_do_not() {
        let other = Owner { namespace: "n".into(), name: "default.other".into() };
        assert_eq!(labelled(&object("first", "default"), &[&other]), None);
        assert_eq!(labelled(&json!({ "metadata": {} }), &[&other]), None);
    }
}
