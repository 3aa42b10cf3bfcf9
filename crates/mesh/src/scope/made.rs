//! Services that are made by merging. Whoever makes an equal one gets the same.

use crate::{Service, ServiceKey};
use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

#[derive(Clone, Debug, Default)]
pub(super) struct Made(Arc<Mutex<HashMap<ServiceKey, Vec<Arc<Service>>>>>);

impl Made {
    pub(super) fn share(&self, service: Service) -> Arc<Service> {
        let mut made = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let known = made.entry(service.key.clone()).or_default();
        if let Some(same) = known.iter().find(|known| ***known == service) {
            return Arc::clone(same);
        }
        let service = Arc::new(service);
        known.push(Arc::clone(&service));
        service
    }

    /// Forgets what nobody has any more.
    pub(super) fn sweep(&self) {
        let mut made = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        made.retain(|_, known| {
            known.retain(|service| Arc::strong_count(service) > 1);
            !known.is_empty()
        });
    }
}
