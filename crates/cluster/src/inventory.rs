//! What was installed, recorded in the cluster itself: a ConfigMap that lists every object of one owner.
//!
//! Before anything is written the list is what was there and what will be; afterwards it is what is there. So whoever comes after a
//! crash, at whatever point, finds every object that may exist, and deletes nothing that is not in the list.

use crate::{
    cluster::{Cluster, Mode, Refused},
    object::{Desired, ObjectId},
};
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::collections::BTreeSet;

/// Whose list it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Owner {
    pub namespace: String,
    /// A name that Kubernetes takes.
    pub name: String,
}

/// The objects of one owner, by the part of it that they belong to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Inventory {
    /// Free words of the owner's, such as a version.
    #[serde(default)]
    pub note: String,
    /// False between the first write and the last.
    #[serde(default)]
    pub complete: bool,
    #[serde(default)]
    pub objects: BTreeSet<ObjectId>,
}

/// The label by which all lists are found.
pub const LABEL: &str = "mizzen.io/inventory";
const KEY: &str = "inventory.json";
/// An object of a cluster may have a megabyte and a half.
const LIMIT: usize = 1_000_000;

#[derive(Debug, thiserror::Error)]
pub enum NoInventory {
    #[error(transparent)]
    Refused(#[from] Refused),
    #[error("the list of what was installed, ConfigMap {namespace}/{name}, cannot be read: {reason}")]
    Unreadable { namespace: String, name: String, reason: String },
    #[error("{count} objects are more than one list holds")]
    TooLong { count: usize },
}

impl Owner {
    fn id(&self) -> ObjectId {
        ObjectId {
            group: String::new(),
            kind: "ConfigMap".to_owned(),
            namespace: self.namespace.clone(),
            name: format!("mizzen-inventory-{}", self.name),
        }
    }
}

impl Cluster {
    /// Nothing if nothing was installed.
    pub async fn inventory(&self, owner: &Owner) -> Result<Option<Inventory>, NoInventory> {
        let id = owner.id();
        let Some(map) = self.get(&id, Some("v1")).await? else { return Ok(None) };
        let text = map.pointer("/data").and_then(|data| data.get(KEY)).and_then(|text| text.as_str());
        let unreadable = |reason: String| NoInventory::Unreadable {
            namespace: id.namespace.clone(),
            name: id.name.clone(),
            reason,
        };
        let text = text.ok_or_else(|| unreadable(format!("it has no {KEY}")))?;
        serde_json::from_str(text).map(Some).map_err(|error| unreadable(error.to_string()))
    }

    pub async fn record(&self, owner: &Owner, inventory: &Inventory) -> Result<(), NoInventory> {
        let id = owner.id();
        let text = serde_json::to_string(inventory).unwrap_or_default();
        if text.len() > LIMIT {
            return Err(NoInventory::TooLong { count: inventory.objects.len() });
        }
        let value = json!({
            "apiVersion": "v1", "kind": "ConfigMap",
            "metadata": { "name": id.name, "namespace": id.namespace, "labels": { LABEL: owner.name } },
            "data": { KEY: text },
        });
        let desired = Desired { id, version: "v1".to_owned(), value };
        self.apply(&desired, Mode { dry_run: false, force: true }).await?;
        Ok(())
    }

    pub async fn forget(&self, owner: &Owner) -> Result<(), NoInventory> {
        self.delete(&owner.id(), None).await?;
        Ok(())
    }
}

impl Inventory {
    /// Before the first write: all that may be there until the last.
    #[must_use]
    pub fn beginning(before: Option<&Self>, wanted: impl IntoIterator<Item = ObjectId>, note: &str) -> Self {
        let mut objects: BTreeSet<ObjectId> = wanted.into_iter().collect();
        objects.extend(before.into_iter().flat_map(|before| before.objects.iter().cloned()));
        Self { note: note.to_owned(), complete: false, objects }
    }

    /// What was there and is not wanted any more.
    pub fn superfluous<'a>(&'a self, wanted: &'a BTreeSet<ObjectId>) -> impl Iterator<Item = &'a ObjectId> {
        self.objects.difference(wanted)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(name: &str) -> ObjectId {
        ObjectId { group: String::new(), kind: "Service".into(), namespace: "n".into(), name: name.into() }
    }

    #[test]
    fn until_the_end_everything_that_may_be_there_is_listed() {
        let before = Inventory { objects: [id("old"), id("both")].into(), complete: true, note: "1".into() };
        let during = Inventory::beginning(Some(&before), [id("both"), id("new")], "2");
        assert_eq!(during.objects, [id("old"), id("both"), id("new")].into());
        assert!(!during.complete);
        let wanted = [id("both"), id("new")].into();
        assert_eq!(during.superfluous(&wanted).collect::<Vec<_>>(), [&id("old")]);
    }

    #[test]
    fn a_list_is_read_as_it_was_written() {
        let inventory = Inventory::beginning(None, [id("a")], "1.31.0");
        let text = serde_json::to_string(&inventory).unwrap();
        assert_eq!(serde_json::from_str::<Inventory>(&text).unwrap(), inventory);
    }
}
