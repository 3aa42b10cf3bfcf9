//! The way from one set of resources to another, encoded once.

use std::{
    borrow::Cow,
    collections::HashMap,
    sync::{Arc, OnceLock},
};

use bytes::Bytes;

use crate::{kind::Type, resource::Resource, set::ResourceSet, subscription::Subscription, wire};

/// What must be sent, and its encoded form, which is made when the first stream sends it.
#[derive(Debug)]
pub struct Difference {
    kind: Type,
    changed: Vec<Arc<Resource>>,
    /// A part of what has changed, encoded for many.
    shared: Option<Arc<Difference>>,
    removed: Vec<Arc<str>>,
    adds: bool,
    delta: OnceLock<Bytes>,
    removals: OnceLock<Bytes>,
    state: OnceLock<Bytes>,
}

impl Difference {
    pub(crate) fn new(kind: Type, changed: Vec<Arc<Resource>>, removed: Vec<Arc<str>>, adds: bool) -> Self {
        let removed = if kind.tells_removals() { removed } else { Vec::new() };
        let (shared, delta, removals, state) = Default::default();
        Self { kind, changed, shared, removed, adds, delta, removals, state }
    }

    /// Both sides are sorted, so this is one walk along them. Names that are subscribed to for the first time and do not
    /// exist are told as removed: that is how a client learns it need not wait for them.
    pub(crate) fn between(old: Option<&ResourceSet>, new: &ResourceSet) -> Self {
        let (mut changed, mut removed, mut adds) = (Vec::new(), Vec::new(), false);
        let mut had = old.map(ResourceSet::resources).unwrap_or_default().iter().peekable();
        for resource in new.resources() {
            // Most are the very same, in the same order.
            if had.next_if(|had| Arc::ptr_eq(had, resource)).is_some() {
                continue;
            }
            while let Some(gone) = had.next_if(|had| had.name() < resource.name()) {
                removed.push(gone.name().clone());
            }
            match had.next_if(|had| had.name() == resource.name()) {
                Some(same) if same.version() == resource.version() => {}
                Some(_) => changed.push(resource.clone()),
                None => {
                    adds = true;
                    changed.push(resource.clone());
                }
            }
        }
        removed.extend(had.map(|gone| gone.name().clone()));
        removed.retain(|name| new.subscription().contains(name));
        let asked = |name: &str| old.is_some_and(|old| old.subscription().names().contains(name));
        let same_names = old.is_some_and(|old| old.subscription().names() == new.subscription().names());
        if !same_names {
            let missing = missing(new.subscription(), new).filter(|name| !asked(name));
            removed.extend(missing.cloned());
            removed.sort_unstable();
            removed.dedup();
        }
        let shared = new.base().filter(|_| old.is_none()).map(|base| base.difference(None));
        Self { shared, ..Self::new(new.kind().clone(), changed, removed, adds) }
    }

    /// For a client that says what it has, by name and version.
    pub(crate) fn from_versions(known: &HashMap<String, String>, new: &ResourceSet) -> Self {
        let (mut changed, mut adds) = (Vec::new(), false);
        for resource in new.resources() {
            match known.get(&**resource.name()) {
                Some(version) if version.as_bytes() == resource.version().text() => {}
                version => {
                    adds |= version.is_none();
                    changed.push(resource.clone());
                }
            }
        }
        let gone = known.keys().filter(|name| new.subscription().contains(name) && new.get(name).is_none());
        let mut removed: Vec<Arc<str>> = gone.map(|name| name.as_str().into()).collect();
        removed.extend(missing(new.subscription(), new).cloned());
        removed.sort_unstable();
        removed.dedup();
        Self::new(new.kind().clone(), changed, removed, adds)
    }

    pub fn kind(&self) -> &Type {
        &self.kind
    }

    pub fn changed(&self) -> &[Arc<Resource>] {
        &self.changed
    }

    pub fn removed(&self) -> &[Arc<str>] {
        &self.removed
    }

    /// Whether there are names among the changed that were not there before.
    pub fn adds(&self) -> bool {
        self.adds
    }

    pub fn is_empty(&self) -> bool {
        self.changed.is_empty() && self.removed.is_empty()
    }

    /// `DeltaDiscoveryResponse.resources`.
    pub(crate) fn delta(&self) -> Vec<Bytes> {
        let mut parts = self.shared.as_ref().map(|shared| shared.delta()).unwrap_or_default();
        parts.push(self.delta.get_or_init(|| wire::delta_resources(&self.kind, &self.own())).clone());
        parts
    }

    /// What is encoded here.
    fn own(&self) -> Cow<'_, [Arc<Resource>]> {
        let Some(shared) = &self.shared else { return Cow::Borrowed(&self.changed) };
        let mut others = shared.changed.iter().peekable();
        let own = self
            .changed
            .iter()
            .filter(|resource| others.next_if(|other| Arc::ptr_eq(other, resource)).is_none());
        Cow::Owned(own.cloned().collect())
    }

    /// `DeltaDiscoveryResponse.removed_resources`.
    pub(crate) fn removals(&self) -> Bytes {
        self.removals.get_or_init(|| wire::removed_resources(&self.removed)).clone()
    }

    /// `DiscoveryResponse.resources`.
    pub(crate) fn state(&self) -> Vec<Bytes> {
        let mut parts = self.shared.as_ref().map(|shared| shared.state()).unwrap_or_default();
        parts.push(self.state.get_or_init(|| wire::state_resources(&self.kind, &self.own())).clone());
        parts
    }
}

/// Names that are asked for and do not exist.
fn missing<'a>(subscription: &'a Subscription, set: &'a ResourceSet) -> impl Iterator<Item = &'a Arc<str>> {
    subscription.names().iter().filter(|name| set.get(name).is_none())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(subscription: &Subscription, resources: &[(&str, &str)]) -> Arc<ResourceSet> {
        let resources =
            resources.iter().map(|(name, body)| Arc::new(Resource::new(*name, body.to_string()))).collect();
        Arc::new(ResourceSet::new(Type::Endpoints, subscription.clone(), resources))
    }

    fn told(difference: &Difference) -> (Vec<&str>, Vec<&str>) {
        (
            difference.changed().iter().map(|resource| &**resource.name()).collect(),
            difference.removed().iter().map(|name| &**name).collect(),
        )
    }

    #[test]
    fn a_difference_is_what_was_added_changed_and_removed() {
        let all = Subscription::everything();
        let old = set(&all, &[("a", "1"), ("b", "1"), ("c", "1"), ("e", "1")]);
        let new = set(&all, &[("b", "2"), ("c", "1"), ("d", "1")]);
        let difference = new.difference(Some(&old));
        assert_eq!(told(&difference), (vec!["b", "d"], vec!["a", "e"]));
        assert!(difference.adds());
        assert!(new.difference(Some(&new)).is_empty());
    }

    #[test]
    fn a_name_that_does_not_exist_is_told_once_as_removed() {
        let old = set(&Subscription::to(["a", "x"]), &[("a", "1")]);
        assert_eq!(told(&old.difference(None)), (vec!["a"], vec!["x"]));
        let new = set(&Subscription::to(["a", "x", "y"]), &[("a", "1")]);
        assert_eq!(told(&new.difference(Some(&old))), (vec![], vec!["y"]));
    }

    #[test]
    fn a_name_that_is_no_longer_subscribed_to_is_not_told_as_removed() {
        let old = set(&Subscription::to(["a", "b"]), &[("a", "1"), ("b", "1")]);
        let new = set(&Subscription::to(["a"]), &[("a", "1")]);
        assert!(new.difference(Some(&old)).is_empty());
    }

    #[test]
    fn a_client_that_says_what_it_has_is_told_the_rest() {
        let new = set(&Subscription::everything(), &[("a", "1"), ("b", "2"), ("c", "1")]);
        let version = |name: &str| new.get(name).unwrap().version().to_string();
        let known = HashMap::from([
            ("a".to_owned(), version("a")),
            ("b".to_owned(), "old".to_owned()),
            ("z".to_owned(), "old".to_owned()),
        ]);
        assert_eq!(told(&Difference::from_versions(&known, &new)), (vec!["b", "c"], vec!["z"]));
    }
}
