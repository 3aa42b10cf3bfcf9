//! The last event of each object, kept only while everything is verified: a store that is fed with them must come to the same
//! mesh as the one that saw all events.

use mizzen_mesh::{Event, Key, Settings, Snapshot, Store};
use std::{collections::BTreeMap, sync::Arc};

pub(crate) struct Replay {
    settings: Settings,
    objects: BTreeMap<Key, Event>,
    /// Objects that are broken now; before that they may have been good.
    broken: BTreeMap<Key, Event>,
}

impl Replay {
    pub(crate) fn new(settings: Settings) -> Self {
        Self { settings, objects: BTreeMap::new(), broken: BTreeMap::new() }
    }

    pub(crate) fn take(&mut self, event: &Event) {
        if let Event::Settings(settings) = event {
            self.settings = (**settings).clone();
        }
        let Some(key) = event.key() else { return };
        match event {
            Event::Gone(_) => {
                self.objects.remove(&key);
                self.broken.remove(&key);
            }
            Event::Broken { .. } => {
                self.broken.insert(key, event.clone());
            }
            other => {
                self.broken.remove(&key);
                self.objects.insert(key, other.clone());
            }
        }
    }

    /// The mesh, read from nothing.
    pub(crate) fn cold(&self) -> Arc<Snapshot> {
        let mut store = Store::new(self.settings.clone());
        for event in self.objects.values().chain(self.broken.values()) {
            store.apply(event.clone());
        }
        store.snapshot()
    }
}
