//! Kubernetes Services → services, and the list of all services.

use crate::{
    KeyKind, Service, Services,
    registry::{
        State, kubernetes,
        state::{Dirty, remove},
    },
};
use std::sync::Arc;

impl State {
    /// Whether the list of services is another one.
    pub(super) fn update_services(&mut self, dirty: &mut Dirty) -> bool {
        let mut moved = false;
        for key in std::mem::take(&mut dirty.services) {
            let Some(slot) =
                self.services.get_mut(&key.namespace).and_then(|services| services.get_mut(&key.name))
            else {
                continue;
            };
            let new = match &slot.object {
                None => None,
                Some(object) => match kubernetes::service(object, &self.facts, &mut self.names) {
                    Ok(service) => Some(service),
                    Err(reason) => {
                        self.unusable(KeyKind::Service, &key, reason);
                        continue;
                    }
                },
            };
            if new.as_ref() != slot.made.as_deref() {
                let new = new.map(Arc::new);
                let old = std::mem::replace(&mut slot.made, new.clone());
                let loose = std::mem::take(&mut slot.loose);
                if slot.object.is_none() && slot.slices.is_empty() {
                    remove(&mut self.services, &key);
                }
                moved = true;
                dirty.endpoints.extend([&old, &new].into_iter().flatten().map(|service| service.key.clone()));
                self.index_selector(old.as_deref(), new.as_deref());
                if let Some(old) = old {
                    self.forget_loose(&old.key, &loose);
                }
            }
            self.mended(KeyKind::Service, &key);
        }
        moved
    }

    fn index_selector(&mut self, old: Option<&Service>, new: Option<&Service>) {
        let of = |service: &Service| (service.key.clone(), Arc::clone(&service.selector));
        if old.map(of) == new.map(of) {
            return;
        }
        let selectors = &mut self.workloads().selectors;
        if let Some(old) = old {
            selectors.remove(&old.selector, &old.key);
        }
        if let Some(new) = new {
            selectors.add(&new.selector, &new.key);
        }
    }

    pub(super) fn collect_services(&mut self) {
        let services = self.services.values().flat_map(|services| services.values());
        let mut all: Vec<Arc<Service>> = services.filter_map(|slot| slot.made.clone()).collect();
        all.extend(
            self.entries.values().flat_map(|slot| slot.made.iter().map(|(service, _)| Arc::clone(service))),
        );
        // The last two never decide between Kubernetes Services. The sort is stable: services of one entry stay in its order.
        all.sort_by(|a, b| {
            (&a.created, &a.name, &a.key.namespace, a.registry, &a.object).cmp(&(
                &b.created,
                &b.name,
                &b.key.namespace,
                b.registry,
                &b.object,
            ))
        });
        let old = &self.out.services.all;
        if all.len() != old.len() || all.iter().zip(old).any(|(new, old)| !Arc::ptr_eq(new, old)) {
            self.out.services = Arc::new(Services::new(all));
        }
    }
}
