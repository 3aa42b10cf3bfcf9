//! What one subscription to one type amounts to at one generation.

use std::sync::{Arc, Mutex, PoisonError, Weak};

use crate::{difference::Difference, kind::Type, resource::Resource, subscription::Subscription};

/// Immutable, sorted by name, shared by all streams that see the same.
#[derive(Debug)]
pub struct ResourceSet {
    kind: Type,
    subscription: Subscription,
    resources: Arc<[Arc<Resource>]>,
    /// What many sets have in common, which is encoded once for all of them.
    base: Option<Arc<ResourceSet>>,
    /// The ways that lead here, found by all streams that go the same way; an old set that nobody has any more cannot be
    /// a start.
    ways: Mutex<Vec<Way>>,
}

#[derive(Debug)]
struct Way {
    /// Where it starts; `None`: from nothing.
    from: Option<Weak<ResourceSet>>,
    difference: Weak<Difference>,
    /// A large one lives only as long as a stream is on its way.
    _small: Option<Arc<Difference>>,
}

/// A difference of at most so many resources is small.
const SMALL: usize = 16;

/// Streams lag by few generations, so few ways are in use at a time; a lost one is only computed again.
const WAYS: usize = 8;

impl ResourceSet {
    /// The resources in any order; of two with one name the first counts, and what was not subscribed to is left out.
    pub fn new(kind: Type, subscription: Subscription, mut resources: Vec<Arc<Resource>>) -> Self {
        if !resources.is_sorted_by(|one, two| one.name() < two.name()) {
            resources.sort_by(|one, two| one.name().cmp(two.name()));
            resources.dedup_by(|two, one| one.name() == two.name());
        }
        if !subscription.is_wildcard() {
            resources.retain(|resource| subscription.names().contains(resource.name()));
        }
        Self { kind, subscription, resources: resources.into(), base: None, ways: Mutex::default() }
    }

    /// Everything of `base` and some more, in any order; of two with one name that of the base counts.
    pub fn over(base: Arc<Self>, own: Vec<Arc<Resource>>) -> Self {
        let mut resources = Vec::with_capacity(base.resources.len() + own.len());
        resources.extend_from_slice(&base.resources);
        for resource in own {
            if let Err(place) = resources.binary_search_by(|known| known.name().cmp(resource.name())) {
                resources.insert(place, resource);
            }
        }
        let (kind, subscription) = (base.kind.clone(), base.subscription.clone());
        Self { kind, subscription, resources: resources.into(), base: Some(base), ways: Mutex::default() }
    }

    pub(crate) fn base(&self) -> Option<&Arc<Self>> {
        self.base.as_ref()
    }

    pub fn kind(&self) -> &Type {
        &self.kind
    }

    /// What it answers.
    pub fn subscription(&self) -> &Subscription {
        &self.subscription
    }

    pub fn resources(&self) -> &[Arc<Resource>] {
        &self.resources
    }

    pub fn get(&self, name: &str) -> Option<&Arc<Resource>> {
        let place = self.resources.binary_search_by(|known| (**known.name()).cmp(name)).ok()?;
        Some(&self.resources[place])
    }

    /// What a client that has `old` must be sent to have this. Computed once for each pair, however many streams ask.
    pub fn difference(&self, old: Option<&Arc<Self>>) -> Arc<Difference> {
        let from = old.map(Arc::downgrade);
        let mut ways = self.ways.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = ways.iter().find(|way| way.starts_at(from.as_ref())).and_then(Way::still_known) {
            return known;
        }
        ways.retain(|way| way.is_open() && !way.starts_at(from.as_ref()));
        if ways.len() >= WAYS {
            ways.remove(0);
        }
        // Under the lock: others that ask meanwhile want this very answer.
        let difference = Arc::new(Difference::between(old.map(|old| &**old), self));
        let is_small = difference.changed().len() + difference.removed().len() <= SMALL;
        let small = is_small.then(|| Arc::clone(&difference));
        ways.push(Way { from, difference: Arc::downgrade(&difference), _small: small });
        difference
    }
}

impl Way {
    fn starts_at(&self, from: Option<&Weak<ResourceSet>>) -> bool {
        match (&self.from, from) {
            (None, None) => true,
            (Some(known), Some(from)) => known.ptr_eq(from),
            _ => false,
        }
    }

    /// Whether somebody may still come along.
    fn is_open(&self) -> bool {
        self.difference.strong_count() > 0 && self.from.as_ref().is_none_or(|from| from.strong_count() > 0)
    }

    fn still_known(&self) -> Option<Arc<Difference>> {
        self.difference.upgrade()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(names: &[&str]) -> Arc<ResourceSet> {
        let resources = names.iter().map(|name| Arc::new(Resource::new(*name, name.to_string()))).collect();
        Arc::new(ResourceSet::new(Type::Cluster, Subscription::everything(), resources))
    }

    #[test]
    fn resources_are_found_by_name_whatever_their_order_was() {
        let set = set(&["b", "c", "a", "b"]);
        assert_eq!(set.resources().len(), 3);
        assert_eq!(set.get("b").map(|found| &**found.name()), Some("b"));
        assert!(set.get("d").is_none());
    }

    #[test]
    fn a_set_over_another_has_both_and_shares_the_others_bytes() {
        let base = set(&["b", "d"]);
        let resource = |name: &str, body: &str| Arc::new(Resource::new(name, body.to_owned()));
        let own = |more: &str| vec![resource("c", more), resource("b", "no"), resource("a", more)];
        let (one, two) = (ResourceSet::over(base.clone(), own("1")), ResourceSet::over(base, own("2")));
        let named = |set: &ResourceSet| {
            set.resources().iter().map(|resource| resource.name().to_string()).collect::<Vec<_>>()
        };
        assert_eq!(named(&one), ["a", "b", "c", "d"]);
        assert_eq!(one.get("b").unwrap().body(), "b");
        let (first, second) = (one.difference(None), two.difference(None));
        assert_eq!(first.changed().len(), 4);
        assert_eq!(first.delta()[0].as_ptr(), second.delta()[0].as_ptr());
        assert_ne!(first.delta()[1], second.delta()[1]);
        let whole: usize = first.delta().iter().map(bytes::Bytes::len).sum();
        let plain = ResourceSet::new(Type::Cluster, Subscription::everything(), one.resources().to_vec());
        assert_eq!(plain.difference(None).delta()[0].len(), whole);
    }

    #[test]
    fn what_was_not_subscribed_to_is_left_out() {
        let resources = vec![Arc::new(Resource::new("a", "")), Arc::new(Resource::new("b", ""))];
        let set = ResourceSet::new(Type::Route, Subscription::to(["b", "c"]), resources);
        assert_eq!(set.resources().iter().map(|found| &**found.name()).collect::<Vec<_>>(), ["b"]);
    }

    #[test]
    fn a_difference_is_computed_once_while_somebody_may_go_that_way() {
        let (old, new) = (set(&["a"]), set(&["a", "b"]));
        let one = new.difference(Some(&old));
        assert!(Arc::ptr_eq(&one, &new.difference(Some(&old))));
        assert!(!Arc::ptr_eq(&one, &new.difference(None)));
        // A small one stays for those that come later; what it was made of is there anyway.
        let kept = Arc::downgrade(&one);
        drop(one);
        let kept = kept.upgrade().expect("it is kept");
        assert!(Arc::ptr_eq(&kept, &new.difference(Some(&old))));
    }

    #[test]
    fn ways_that_nobody_goes_are_forgotten() {
        let new = set(&["a", "b"]);
        for _ in 0..100 {
            new.difference(Some(&set(&["a"])));
        }
        assert!(new.ways.lock().unwrap().len() <= 1);
        let kept: Vec<_> = (0..100).map(|_| set(&["a"])).collect();
        let _going: Vec<_> = kept.iter().map(|old| new.difference(Some(old))).collect();
        assert!(new.ways.lock().unwrap().len() <= WAYS);
    }
}
