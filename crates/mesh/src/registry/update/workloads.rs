//! Pods and WorkloadEntries → workloads. Marks the services and entries that have them.

use crate::{
    Labels, ServiceKey, Workload,
    registry::{
        ObjectKey, State, entry,
        selectors::selects,
        state::{Dirty, find, remove},
    },
};
use mizzen_api::Spec;
use std::{net::IpAddr, sync::Arc};

impl State {
    pub(super) fn update_pods(&mut self, dirty: &mut Dirty) {
        for key in std::mem::take(&mut dirty.pods) {
            let Some(slot) = self.pods.get_mut(&key.namespace).and_then(|pods| pods.get_mut(&key.name))
            else {
                continue;
            };
            let new = slot.pod.as_ref().map(|pod| pod.workload(&key, &self.facts, &mut self.names));
            let (served, serves) = (slot.served, slot.pod.as_ref().is_some_and(|pod| pod.serves));
            let changed = new.as_ref() != slot.workload.as_deref();
            if changed || served != serves {
                slot.served = serves;
                let old = slot.workload.clone();
                let new = if changed { new.map(Arc::new) } else { old.clone() };
                slot.workload.clone_from(&new);
                if changed {
                    for service in &slot.services {
                        mark(&self.services, service, dirty);
                    }
                    let workloads = Arc::make_mut(&mut self.out.workloads);
                    match &new {
                        Some(workload) => workloads.pods.set(key.clone(), Arc::clone(workload)),
                        None => workloads.pods.remove(&key),
                    }
                }
                // Only those that serve are somebody's by their labels or their address.
                let seen = [old.filter(|_| served), new.filter(|_| serves)];
                for workload in seen.iter().flatten() {
                    self.mark_entries(&key.namespace, &workload.labels, dirty);
                    self.mark_loose(workload, dirty);
                }
            }
            if find(&self.pods, &key.namespace, &key.name)
                .is_some_and(|slot| slot.pod.is_none() && slot.services.is_empty())
            {
                remove(&mut self.pods, &key);
            }
        }
    }

    pub(super) fn update_machines(&mut self, dirty: &mut Dirty) {
        for key in std::mem::take(&mut dirty.machines) {
            let Some(slot) = self.machines.get_mut(&key) else { continue };
            let new = slot.object.as_ref().and_then(|object| match &object.spec {
                Spec::WorkloadEntry(spec) => entry::machine(object, spec, &self.facts, &mut self.names),
                _ => None,
            });
            if new.as_ref() != slot.workload.as_deref() {
                let new = new.map(Arc::new);
                let old = std::mem::replace(&mut slot.workload, new.clone());
                self.index_machine(old.as_ref(), new.as_ref());
                for workload in [old, new].iter().flatten() {
                    self.mark_entries(&key.namespace, &workload.labels, dirty);
                    let services: Vec<ServiceKey> = self
                        .out
                        .workloads
                        .selectors
                        .matching(&key.namespace, &workload.labels)
                        .cloned()
                        .collect();
                    dirty.endpoints.extend(services);
                }
            }
            if self.machines.get(&key).is_some_and(|slot| slot.object.is_none()) {
                self.machines.remove(&key);
            }
        }
    }

    fn index_machine(&mut self, old: Option<&Arc<Workload>>, new: Option<&Arc<Workload>>) {
        let address =
            |workload: &Workload| workload.addresses.first().and_then(|text| text.parse::<IpAddr>().ok());
        let machines = &mut Arc::make_mut(&mut self.out.workloads).machines;
        if let Some((old, address)) = old.and_then(|old| Some((old, address(old)?))) {
            machines.change(&address, |all| all.retain(|known| !Arc::ptr_eq(known, old)));
        }
        if let Some((new, address)) = new.and_then(|new| Some((new, address(new)?))) {
            machines.change(&address, |all| {
                all.push(Arc::clone(new));
                all.sort_by(|a, b| (&a.namespace, &a.name).cmp(&(&b.namespace, &b.name)));
            });
        }
    }

    /// The entries that select a workload with these labels.
    fn mark_entries(&self, namespace: &Arc<str>, labels: &Labels, dirty: &mut Dirty) {
        for name in self.selecting.get(namespace).into_iter().flatten() {
            let key = ObjectKey { namespace: Arc::clone(namespace), name: Arc::clone(name) };
            let made = self.entries.get(&key).and_then(|slot| slot.made.first());
            if made.is_some_and(|(service, _)| selects(&service.selector, labels)) {
                dirty.entries.insert(key);
            }
        }
    }

    /// The services that have its address without naming it.
    fn mark_loose(&self, workload: &Workload, dirty: &mut Dirty) {
        for service in workload.addresses.iter().filter_map(|address| self.loose.get(address)).flatten() {
            if service.namespace == workload.namespace {
                mark(&self.services, service, dirty);
            }
        }
    }
}

fn mark(
    services: &crate::registry::state::ByName<crate::registry::state::ServiceSlot>,
    service: &ObjectKey,
    dirty: &mut Dirty,
) {
    if let Some(made) = find(services, &service.namespace, &service.name).and_then(|slot| slot.made.as_ref())
    {
        dirty.endpoints.insert(made.key.clone());
    }
}
