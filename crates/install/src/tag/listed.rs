//! The list of tags, as people see it.

use std::collections::BTreeMap;

use serde::Serialize;

use super::{REVISION, State, TAG, label, name};

/// A tag of a revision, or a revision that has none.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Listed {
    /// Empty for a revision without tags.
    pub tag: String,
    pub revision: String,
    /// Those that ask for it.
    pub namespaces: Vec<String>,
}

impl State {
    /// By revision, then by tag.
    pub fn tags(&self) -> Vec<Listed> {
        let mut found: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for object in self.webhooks.iter().chain(&self.services) {
            if let Some(revision) = label(object, REVISION) {
                let tags = found.entry(revision).or_default();
                tags.extend(label(object, TAG).filter(|tag| !tag.is_empty()));
            }
        }
        let mut listed = Vec::new();
        for (revision, mut tags) in found {
            tags.sort_unstable();
            tags.dedup();
            if tags.is_empty() {
                tags.push("");
            }
            listed.extend(tags.into_iter().map(|tag| Listed {
                tag: tag.to_owned(),
                revision: revision.to_owned(),
                namespaces: self.namespaces_of(tag),
            }));
        }
        listed
    }

    /// The namespaces that ask for a tag.
    pub(super) fn namespaces_of(&self, tag: &str) -> Vec<String> {
        let asking = self.namespaces.iter().filter(|namespace| label(namespace, REVISION) == Some(tag));
        asking.map(|namespace| name(namespace).to_owned()).collect()
    }
}
