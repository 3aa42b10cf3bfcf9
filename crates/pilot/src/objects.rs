//! Istio's objects as they are now, for pages that list them. They share their memory with the store.

use mizzen_api::Object;
use mizzen_mesh::{Event, Key, KeyKind};
use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
};

#[derive(Default)]
pub(crate) struct Objects(Mutex<BTreeMap<Key, Arc<Object>>>);

impl Objects {
    /// Says which kind it was and what happened to it, as Istio's metrics call it.
    pub(crate) fn take(&self, event: &Event) -> Option<(&'static str, &'static str)> {
        let mut objects = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match event {
            Event::Istio(object) => {
                let before = objects.insert(Key::of(object), Arc::clone(object));
                Some((object.kind().name(), if before.is_some() { "update" } else { "add" }))
            }
            Event::Gone(key) => match (objects.remove(key), key.kind) {
                (Some(_), KeyKind::Istio(kind)) => Some((kind.name(), "delete")),
                _ => None,
            },
            _ => None,
        }
    }

    pub(crate) fn list(&self) -> Vec<Arc<Object>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).values().cloned().collect()
    }
}
