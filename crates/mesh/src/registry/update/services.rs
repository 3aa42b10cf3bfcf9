//! Kubernetes Services → services, and the list of all services.

use crate::{
    KeyKind, Service, Services,
    registry::{
        State, kubernetes,
        state::{Dirty, ServiceSlot, find, remove},
    },
};
use std::{cmp::Ordering, collections::HashSet, sync::Arc};

impl State {
    pub(super) fn update_services(&mut self, dirty: &mut Dirty) {
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
                dirty.gone.extend(old.clone());
                dirty.come.extend(new.clone());
                dirty.endpoints.extend([&old, &new].into_iter().flatten().map(|service| service.key.clone()));
                self.index_selector(old.as_deref(), new.as_deref());
                if let Some(old) = old {
                    self.forget_loose(&old.key, &loose);
                }
            }
            self.mended(KeyKind::Service, &key);
            let empty = |slot: &ServiceSlot| slot.object.is_none() && slot.slices.is_empty();
            if find(&self.services, &key.namespace, &key.name).is_some_and(empty) {
                remove(&mut self.services, &key);
            }
        }
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

    /// The list is in order already: what came is put in between.
    pub(super) fn collect_services(&mut self, dirty: &mut Dirty) {
        let gone: HashSet<*const Service> = dirty.gone.iter().map(Arc::as_ptr).collect();
        let mut come = std::mem::take(&mut dirty.come);
        // Stable: services of one entry stay in its order.
        come.sort_by(order);
        let mut come = come.into_iter().peekable();
        let mut all = Vec::with_capacity(self.out.services.all.len() + come.len());
        for service in self.out.services.all.iter().filter(|service| !gone.contains(&Arc::as_ptr(service))) {
            while let Some(before) = come.next_if(|come| order(come, service).is_lt()) {
                all.push(before);
            }
            all.push(Arc::clone(service));
        }
        all.extend(come);
        let old = &self.out.services.all;
        if all.len() != old.len() || all.iter().zip(old).any(|(new, old)| !Arc::ptr_eq(new, old)) {
            self.out.services = Arc::new(Services::new(all));
        }
    }
}

/// Istio's. Its words for a tie end with the namespace; the rest is for entries that share a host.
fn order(a: &Arc<Service>, b: &Arc<Service>) -> Ordering {
    (&a.created, &a.name, &a.key.namespace, a.registry, &a.object).cmp(&(
        &b.created,
        &b.name,
        &b.key.namespace,
        b.registry,
        &b.object,
    ))
}
