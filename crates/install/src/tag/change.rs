//! A tag that somebody wants to set: whether it can be, and what is to be written.

use serde_json::Value;

use super::{Conflict, DEFAULT, NoTag, State, Tag, conflicts, deactivated, name};
use crate::Charts;

/// `tag set` and `tag generate`.
#[derive(Clone, Debug, Default)]
pub struct Request {
    pub tag: Tag,
    pub revision: String,
    /// It may be there already; then it is moved.
    pub overwrite: bool,
    /// Nothing will be written.
    pub generate: bool,
}

/// What is to be done for it.
#[derive(Clone, Debug)]
pub struct Change {
    pub objects: Vec<Value>,
    /// What would be wrong with the tag's webhook then.
    pub conflicts: Vec<Conflict>,
    /// The webhook in whose place the tag `default` comes, as it is to be; none if it is so already.
    pub deactivated: Option<Value>,
    /// Whether fields are taken over from others.
    pub force: bool,
}

impl State {
    pub fn change(&self, request: Request, charts: &dyn Charts) -> Result<Change, NoTag> {
        let Request { mut tag, revision, overwrite, generate } = request;
        let is_default = tag.name == DEFAULT;
        if !generate && !overwrite && !is_default && self.has_revision(&tag.name) {
            return Err(NoTag::NamedLikeRevision(tag.name));
        }
        let canonical = self.canonical(&revision)?;
        if !overwrite && self.tagged(&tag.name).next().is_some() {
            return Err(NoTag::Exists(tag.name));
        }
        tag.namespace.clone_from(&self.namespace);
        tag.validator.clone_from(&self.validator);
        let objects = tag.objects(canonical, charts)?;
        // The older one for namespaces without a revision would inject a second time.
        let live = self.webhooks_of(DEFAULT).into_iter().next().filter(|_| is_default);
        let older = live.map(|live| {
            let mut webhook = live.clone();
            deactivated(&mut webhook);
            webhook
        });
        let replaced = |webhook: &&Value| {
            let older = older.as_ref().map(name);
            name(webhook) != objects.first().map_or("", name) && Some(name(webhook)) != older
        };
        let then: Vec<&Value> =
            self.webhooks.iter().filter(replaced).chain(objects.first()).chain(&older).collect();
        let mut conflicts = conflicts(&then);
        conflicts.retain(|conflict| objects.first().map(name) == Some(&conflict.name));
        let deactivated = older.filter(|older| live != Some(older));
        // `default` has another owner before it is a tag: the chart that makes its validation webhook.
        Ok(Change { objects, conflicts, deactivated, force: overwrite || is_default })
    }

    fn has_revision(&self, revision: &str) -> bool {
        !self.webhooks_of(revision).is_empty() || self.services_of(revision) > 0
    }

    /// The one webhook that a revision has.
    fn canonical(&self, revision: &str) -> Result<&Value, NoTag> {
        let (webhooks, services) = (self.webhooks_of(revision), self.services_of(revision));
        let revision = || revision.to_owned();
        match (webhooks.as_slice(), services) {
            ([webhook], 0 | 1) => Ok(webhook),
            ([], 0) => Err(NoTag::NoSuchRevision(revision())),
            ([], 1) => Err(NoTag::NoWebhook(revision())),
            _ => Err(NoTag::Ambiguous(revision())),
        }
    }
}
