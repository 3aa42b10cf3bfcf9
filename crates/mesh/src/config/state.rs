//! The objects, and the parts that were made of them.

use super::{Authentication, Objects, Parts, destination_rule, gateway, virtual_service};
use crate::{Key, KeyKind, Problem, Settings};
use mizzen_api::{Kind, Object};
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

#[derive(Default)]
pub(crate) struct State {
    objects: Objects,
    broken: BTreeMap<Key, Arc<str>>,
    /// Since the last update, by kind.
    changed: BTreeMap<Kind, BTreeSet<Key>>,
    /// Something broke or was mended since.
    mended: bool,
    virtual_services: virtual_service::State,
    destination_rules: destination_rule::State,
    authentication: Arc<Authentication>,
    authentication_problems: super::Problems,
    gateways: gateway::State,
    problems: Arc<Vec<Problem>>,
}

impl State {
    pub(crate) fn set(&mut self, object: Arc<Object>) {
        let key = Key::of(&object);
        self.changed.entry(object.kind()).or_default().insert(key.clone());
        self.objects.insert(key, object);
    }

    pub(crate) fn gone(&mut self, key: &Key) {
        if let KeyKind::Istio(kind) = key.kind
            && self.objects.remove(key).is_some()
        {
            self.changed.entry(kind).or_default().insert(key.clone());
        }
    }

    /// The last good version stays.
    pub(crate) fn broken(&mut self, key: Key, reason: Arc<str>) {
        if self.broken.get(&key) != Some(&reason) {
            self.broken.insert(key, reason);
            self.mended = true;
        }
    }

    pub(crate) fn has_broken(&self) -> bool {
        !self.broken.is_empty()
    }

    /// It came anew, or went.
    pub(crate) fn mended(&mut self, key: &Key) {
        self.mended |= self.broken.remove(key).is_some();
    }

    /// Names, defaults and the root namespace may be others now.
    pub(crate) fn settings_changed(&mut self) {
        for (key, object) in &self.objects {
            self.changed.entry(object.kind()).or_default().insert(key.clone());
        }
    }

    pub(crate) fn update(&mut self, settings: &Settings) -> Parts {
        let changed = std::mem::take(&mut self.changed);
        let mended = std::mem::take(&mut self.mended);
        if let Some(keys) = changed.get(&Kind::VirtualService) {
            self.virtual_services.update(keys, &self.objects, settings);
        }
        if let Some(keys) = changed.get(&Kind::DestinationRule) {
            self.destination_rules.update(keys, &self.objects, settings);
        }
        if let Some(keys) = changed.get(&Kind::Gateway) {
            self.gateways.update(keys, &self.objects);
        }
        if changed.contains_key(&Kind::PeerAuthentication) {
            let first =
                Key { kind: KeyKind::Istio(Kind::PeerAuthentication), namespace: "".into(), name: "".into() };
            let (made, problems) = Authentication::new(&self.objects, &first, settings);
            self.authentication_problems = problems;
            if made != *self.authentication {
                self.authentication = Arc::new(made);
            }
        }
        if mended || !changed.is_empty() {
            self.tell();
        }
        Parts {
            virtual_services: Arc::clone(self.virtual_services.built()),
            destination_rules: Arc::clone(self.destination_rules.built()),
            authentication: Arc::clone(&self.authentication),
            gateways: Arc::clone(self.gateways.built()),
            problems: Arc::clone(&self.problems),
        }
    }

    fn tell(&mut self) {
        let told = self
            .broken
            .iter()
            .chain(self.virtual_services.problems())
            .chain(self.destination_rules.problems())
            .chain(self.gateways.problems())
            .chain(self.authentication_problems.iter().map(|(key, reason)| (key, reason)));
        let mut problems: Vec<Problem> =
            told.map(|(key, reason)| Problem { key: key.clone(), reason: Arc::clone(reason) }).collect();
        problems.sort_unstable_by(|one, other| (&one.key, &one.reason).cmp(&(&other.key, &other.reason)));
        if problems != *self.problems {
            self.problems = Arc::new(problems);
        }
    }
}
