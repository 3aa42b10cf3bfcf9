//! A tag that somebody wants to be gone.

use mizzen_cluster::ObjectId;
use serde_json::Value;

use super::{NoTag, State, TAG, label};
use crate::tree;

/// What is to be deleted, and whom that concerns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Removal {
    pub objects: Vec<ObjectId>,
    /// The namespaces that still ask for it.
    pub namespaces: Vec<String>,
}

impl State {
    pub fn removal(&self, tag: &str) -> Result<Removal, NoTag> {
        let mut objects: Vec<ObjectId> = self.tagged(tag).map(id).collect();
        if objects.is_empty() {
            return Err(NoTag::NoSuchTag(tag.to_owned()));
        }
        let validators = self.validators.iter().filter(|webhook| label(webhook, TAG) == Some(tag));
        objects.extend(validators.map(id));
        Ok(Removal { objects, namespaces: self.namespaces_of(tag) })
    }
}

fn id(object: &Value) -> ObjectId {
    let text = |way: &[&str]| tree::text(object, way).unwrap_or_default().to_owned();
    let group = text(&["apiVersion"]);
    ObjectId::new(
        group.split_once('/').map_or("", |(group, _)| group),
        text(&["kind"]),
        text(&["metadata", "namespace"]),
        text(&["metadata", "name"]),
    )
}
