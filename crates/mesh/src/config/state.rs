use super::{Authentication, DestinationRules, Gateways, Parts, VirtualServices};
use crate::{Key, Problem, Services, Settings};
use mizzen_api::Object;
use std::{collections::BTreeMap, sync::Arc};

/// The objects, and the parts that were made of them.
#[derive(Default)]
pub(crate) struct State {
    objects: BTreeMap<Key, Arc<Object>>,
    broken: BTreeMap<Key, Arc<str>>,
    virtual_services: Arc<VirtualServices>,
    destination_rules: Arc<DestinationRules>,
    authentication: Arc<Authentication>,
    gateways: Arc<Gateways>,
    problems: Arc<Vec<Problem>>,
}

impl State {
    pub(crate) fn set(&mut self, object: Arc<Object>) {
        let key = Key::of(&object);
        self.broken.remove(&key);
        self.objects.insert(key, object);
    }

    pub(crate) fn gone(&mut self, key: &Key) {
        self.broken.remove(key);
        self.objects.remove(key);
    }

    pub(crate) fn broken(&mut self, key: Key, reason: Arc<str>) {
        self.broken.insert(key, reason);
    }

    pub(crate) fn mended(&mut self, key: &Key) {
        self.broken.remove(key);
    }

    pub(crate) fn settings_changed(&mut self) {}

    pub(crate) fn update(&mut self, _settings: &Settings, _services: &Services) -> Parts {
        Parts {
            virtual_services: Arc::clone(&self.virtual_services),
            destination_rules: Arc::clone(&self.destination_rules),
            authentication: Arc::clone(&self.authentication),
            gateways: Arc::clone(&self.gateways),
            problems: Arc::clone(&self.problems),
        }
    }
}
