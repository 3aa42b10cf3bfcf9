//! The VirtualServices that are there, kept ready from one snapshot to the next.

use super::{
    Bindings, VirtualService, VirtualServices,
    prepare::{Prepared, prepare},
};
use crate::{
    Key, Settings, Visibility,
    config::{Objects, Problems, age::Age, short_names::MESH},
};
use mizzen_api::{Metadata, Spec, proto::istio::networking::v1alpha3};
use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    sync::Arc,
};

#[derive(Default)]
pub(in crate::config) struct State {
    ready: BTreeMap<Age, Arc<VirtualService>>,
    ages: HashMap<Key, Age>,
    /// Of each root, whether they are there or not.
    delegates: BTreeMap<Key, BTreeSet<Key>>,
    told: BTreeMap<Key, Vec<Arc<str>>>,
    /// Hosts that two want.
    doubled: Problems,
    built: Arc<VirtualServices>,
}

impl State {
    pub(in crate::config) fn built(&self) -> &Arc<VirtualServices> {
        &self.built
    }

    pub(in crate::config) fn problems(&self) -> impl Iterator<Item = (&Key, &Arc<str>)> {
        let told =
            self.told.iter().flat_map(|(key, reasons)| reasons.iter().map(move |reason| (key, reason)));
        told.chain(self.doubled.iter().map(|(key, reason)| (key, reason)))
    }

    /// `changed`: came, changed or went since the last time.
    pub(in crate::config) fn update(
        &mut self,
        changed: &BTreeSet<Key>,
        objects: &Objects,
        settings: &Settings,
    ) {
        let roots: Vec<&Key> = self
            .delegates
            .iter()
            .filter(|(_, delegates)| delegates.iter().any(|delegate| changed.contains(delegate)))
            .map(|(root, _)| root)
            .collect();
        let all: BTreeSet<Key> = changed.iter().chain(roots).cloned().collect();
        let (mut http, mut l4) = (false, false);
        for key in &all {
            let old = self.ages.remove(key).and_then(|age| self.ready.remove(&age));
            self.delegates.remove(key);
            self.told.remove(key);
            let mut new = None;
            if let Some((metadata, spec)) = object(objects, key) {
                let prepared = prepare(key, metadata, spec, settings, &|key| object(objects, key));
                new = self.keep(key, metadata, prepared, old.as_ref());
            }
            let same = match (&old, &new) {
                (Some(old), Some(new)) => Arc::ptr_eq(old, new),
                (None, None) => true,
                _ => false,
            };
            http |= !same;
            let part = |service: &Option<Arc<VirtualService>>| {
                service.as_ref().and_then(|service| service.l4.as_ref()).map(Arc::as_ptr)
            };
            l4 |= part(&old) != part(&new);
        }
        if !http {
            return;
        }
        self.doubled = doubled(self.ready.values());
        self.built = Arc::new(VirtualServices {
            http: Arc::new(Bindings::new(self.ready.values())),
            l4: if l4 {
                Arc::new(Bindings::new(self.ready.values().filter_map(|service| service.l4.as_ref())))
            } else {
                Arc::clone(&self.built.l4)
            },
        });
    }

    /// Takes what was made of an object; what is equal to the last one is the last one.
    fn keep(
        &mut self,
        key: &Key,
        metadata: &Metadata,
        prepared: Prepared,
        old: Option<&Arc<VirtualService>>,
    ) -> Option<Arc<VirtualService>> {
        if !prepared.delegates.is_empty() {
            self.delegates.insert(key.clone(), prepared.delegates);
        }
        if !prepared.problems.is_empty() {
            self.told.insert(key.clone(), prepared.problems.into_iter().map(Arc::from).collect());
        }
        let mut new = prepared.service?;
        if let (Some(part), Some(last)) = (&new.l4, old.and_then(|old| old.l4.as_ref()))
            && part == last
        {
            new.l4 = Some(Arc::clone(last));
        }
        let new = match old {
            Some(old) if **old == new => Arc::clone(old),
            _ => Arc::new(new),
        };
        let age = Age::of(metadata);
        self.ages.insert(key.clone(), age.clone());
        self.ready.insert(age, Arc::clone(&new));
        Some(new)
    }
}

fn object<'a>(objects: &'a Objects, key: &Key) -> Option<(&'a Metadata, &'a v1alpha3::VirtualService)> {
    let object = objects.get(key)?;
    match &object.spec {
        Spec::VirtualService(spec) => Some((&object.metadata, spec)),
        _ => None,
    }
}

/// Sidecars take the HTTP routes of the first that has a host; the others' are not looked at.
fn doubled<'a>(all: impl Iterator<Item = &'a Arc<VirtualService>>) -> Problems {
    let mut first: HashMap<&str, &VirtualService> = HashMap::new();
    let mut problems = Problems::new();
    for service in all.filter(|service| !service.spec.http.is_empty()) {
        if !service.gateways.iter().any(|gateway| gateway == MESH) {
            continue;
        }
        for host in &service.spec.hosts {
            let older = *first.entry(host).or_insert(service);
            let twice =
                !std::ptr::eq(older, &raw const **service) && overlap(&older.visibility, &service.visibility);
            if twice && problems.last().is_none_or(|(last, _)| *last != service.key) {
                let reason = format!(
                    "its host {host} is routed by {} already, which is older; sidecars that see both take the routes of the first they see",
                    older.key
                );
                problems.push((service.key.clone(), reason.into()));
            }
        }
    }
    problems
}

fn overlap(one: &Visibility, other: &Visibility) -> bool {
    match (one, other) {
        (Visibility::Nobody, _) | (_, Visibility::Nobody) => false,
        (Visibility::Public, _) | (_, Visibility::Public) => true,
        (Visibility::Namespaces(one), Visibility::Namespaces(other)) => !one.is_disjoint(other),
    }
}
