//! What was installed, recorded in the cluster itself: a ConfigMap that lists every object of one owner.
//!
//! Before anything is written the list is what was there and what will be; afterwards it is what is there. So whoever comes after a
//! crash, at whatever point, finds every object that may exist, and deletes nothing that is not in the list.

use crate::{
    cluster::{Cluster, Mode, Refused},
    object::{Desired, ObjectId},
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::{
    collections::BTreeSet,
    hash::{BuildHasher, Hasher, RandomState},
};

/// Whose list it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Owner {
    pub namespace: String,
    /// A name that Kubernetes takes.
    pub name: String,
}

/// The objects of one owner.
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
    /// Which of several that may want the same is at work.
    #[serde(skip)]
    run: String,
    /// Which version of the list was read: another one is somebody else's work.
    #[serde(skip)]
    version: Option<String>,
}

/// The list that says that we are the one at work.
#[derive(Clone, Debug)]
pub struct Claim {
    owner: Owner,
    version: Option<String>,
}

impl Claim {
    pub fn of(owner: &Owner, list: &Inventory) -> Self {
        Self { owner: owner.clone(), version: list.version.clone() }
    }
}

/// The label by which all lists are found.
pub const LABEL: &str = "mizzen.io/inventory";
/// The annotation that says which run has written it.
const RUN: &str = "mizzen.io/run";
const PREFIX: &str = "mizzen-inventory-";
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
    #[error(
        "somebody else works on the same installation: ConfigMap {namespace}/{name} has changed meanwhile"
    )]
    Overtaken { namespace: String, name: String },
}

impl Owner {
    fn id(&self) -> ObjectId {
        ObjectId {
            group: String::new(),
            kind: "ConfigMap".to_owned(),
            namespace: self.namespace.clone(),
            name: format!("{PREFIX}{}", self.name),
        }
    }
}

impl Cluster {
    /// Nothing if nothing was installed.
    pub async fn inventory(&self, owner: &Owner) -> Result<Option<Inventory>, NoInventory> {
        let id = owner.id();
        let Some(map) = self.get(&id, Some("v1")).await? else { return Ok(None) };
        Inventory::read(&map).map(Some)
    }

    /// All lists that there are, with the name of their owner. Whoever may write a ConfigMap can break one; that is no reason not to see
    /// the others.
    pub async fn inventories(&self) -> Result<Vec<(Owner, Result<Inventory, NoInventory>)>, Refused> {
        let mut all = Vec::new();
        for map in self.list("", "ConfigMap", LABEL).await? {
            let text =
                |pointer: &str| map.pointer(pointer).and_then(|text| text.as_str()).unwrap_or_default();
            // Not everything with the label is one.
            let Some(name) = text("/metadata/name").strip_prefix(PREFIX) else { continue };
            let owner = Owner { namespace: text("/metadata/namespace").to_owned(), name: name.to_owned() };
            all.push((owner, Inventory::read(&map)));
        }
        Ok(all)
    }

    /// Whether nobody has written the list since we did.
    pub async fn holds(&self, claim: &Claim) -> Result<(), NoInventory> {
        let id = claim.owner.id();
        let there = self.get(&id, Some("v1")).await?;
        if there.as_ref().map(version) == claim.version {
            return Ok(());
        }
        Err(NoInventory::Overtaken { namespace: id.namespace, name: id.name })
    }

    /// Writes it, if it is not there as it is; and only over the very list that it was made from.
    pub async fn record(&self, owner: &Owner, inventory: &mut Inventory) -> Result<(), NoInventory> {
        let id = owner.id();
        let text = serde_json::to_string(inventory).unwrap_or_default();
        if text.len() > LIMIT {
            return Err(NoInventory::TooLong { count: inventory.objects.len() });
        }
        let mut attempt = 0;
        loop {
            attempt += 1;
            let there = self.get(&id, Some("v1")).await?;
            let version = there.as_ref().map(version);
            // Somebody else may have written the very same: it is ours if it is the one that we know, or if we have written it and the
            // answer was lost.
            let is_ours = |map: &Value| {
                version == inventory.version || map["metadata"]["annotations"][RUN] == inventory.run.as_str()
            };
            if there.as_ref().is_some_and(|map| map["data"][KEY] == text.as_str() && is_ours(map)) {
                inventory.version = version;
                return Ok(());
            }
            if version != inventory.version {
                return Err(NoInventory::Overtaken { namespace: id.namespace, name: id.name });
            }
            let mut value = json!({
                "apiVersion": "v1", "kind": "ConfigMap",
                "metadata": { "name": id.name, "namespace": id.namespace, "labels": { LABEL: "true" },
                              "annotations": { RUN: inventory.run } },
                "data": { KEY: text },
            });
            if let Some(version) = version {
                value["metadata"]["resourceVersion"] = version.into();
            }
            let desired = Desired { id: id.clone(), version: "v1".to_owned(), value: value.into() };
            match self.apply(&desired, Mode { dry_run: false, force: true }).await {
                Ok(map) => {
                    inventory.version = Some(self::version(&map));
                    return Ok(());
                }
                // Overtaken, or only told so: the next look says which.
                Err(Refused::Conflict { .. }) if attempt < 8 => {}
                Err(refused) => return Err(refused.into()),
            }
        }
    }

    /// When nothing of it is there any more.
    pub async fn forget(&self, owner: &Owner) -> Result<(), NoInventory> {
        self.delete(&owner.id(), None).await?;
        Ok(())
    }
}

/// A word that no other run has.
fn a_run() -> String {
    format!("{:016x}", RandomState::new().build_hasher().finish())
}

fn version(map: &Value) -> String {
    map.pointer("/metadata/resourceVersion").and_then(Value::as_str).unwrap_or_default().to_owned()
}

impl Inventory {
    fn read(map: &Value) -> Result<Self, NoInventory> {
        let text = |pointer: &str| map.pointer(pointer).and_then(Value::as_str);
        let unreadable = |reason: String| NoInventory::Unreadable {
            namespace: text("/metadata/namespace").unwrap_or_default().to_owned(),
            name: text("/metadata/name").unwrap_or_default().to_owned(),
            reason,
        };
        let list = map.get("data").and_then(|data| data.get(KEY)).and_then(Value::as_str);
        let list = list.ok_or_else(|| unreadable(format!("it has no {KEY}")))?;
        let read: Self = serde_json::from_str(list).map_err(|error| unreadable(error.to_string()))?;
        Ok(Self { version: Some(version(map)), ..read })
    }

    /// Of what is there.
    #[must_use]
    pub fn complete(objects: BTreeSet<ObjectId>, note: &str) -> Self {
        Self { note: note.to_owned(), complete: true, objects, run: a_run(), version: None }
    }

    /// Before the first write: all that may be there until the last.
    #[must_use]
    pub fn beginning(before: Option<&Self>, wanted: impl IntoIterator<Item = ObjectId>, note: &str) -> Self {
        let mut objects: BTreeSet<ObjectId> = wanted.into_iter().collect();
        objects.extend(before.into_iter().flat_map(|before| before.objects.iter().cloned()));
        let version = before.and_then(|before| before.version.clone());
        Self { note: note.to_owned(), complete: false, objects, run: a_run(), version }
    }

    /// After the last: what is there.
    pub fn finish(&mut self, complete: Self) {
        *self = Self { version: self.version.take(), run: std::mem::take(&mut self.run), ..complete };
    }

    /// Whichever version of the list it is.
    pub fn says_the_same_as(&self, other: &Self) -> bool {
        (&self.note, self.complete, &self.objects) == (&other.note, other.complete, &other.objects)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(name: &str) -> ObjectId {
        ObjectId::new("", "Service", "n", name)
    }

    #[test]
    fn until_the_end_everything_that_may_be_there_is_listed() {
        let before = Inventory {
            objects: [id("old"), id("both")].into(),
            complete: true,
            note: "1".into(),
            ..Inventory::default()
        };
        let during = Inventory::beginning(Some(&before), [id("both"), id("new")], "2");
        assert_eq!(during.objects, [id("old"), id("both"), id("new")].into());
        assert!(!during.complete);
        let mut after = during;
        let complete =
            Inventory { objects: [id("both"), id("new")].into(), complete: true, ..Inventory::default() };
        after.finish(complete.clone());
        assert!(after.says_the_same_as(&complete));
    }

    #[test]
    fn a_list_is_read_as_it_was_written() {
        let inventory = Inventory::beginning(None, [id("a")], "1.31.0");
        let text = serde_json::to_string(&inventory).unwrap();
        assert!(serde_json::from_str::<Inventory>(&text).unwrap().says_the_same_as(&inventory));
    }
}
