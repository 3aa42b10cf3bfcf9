//! ServiceEntries → services and their endpoints.

use crate::{
    KeyKind, Resolution, Service, Workload,
    registry::{
        ObjectKey, State, entry, entry::Instance, selectors::selects, state::Dirty, workloads::EntryTarget,
    },
};
use mizzen_api::{Kind, Object, Spec, proto::istio::networking::v1alpha3::ServiceEntry};
use std::{collections::BTreeSet, net::IpAddr, sync::Arc};

type Made = Vec<(Arc<Service>, Vec<Instance>)>;

impl State {
    pub(super) fn update_entries(&mut self, dirty: &mut Dirty) {
        for key in std::mem::take(&mut dirty.entries) {
            let Some(slot) = self.entries.get(&key) else { continue };
            let (object, good) = (slot.object.clone(), slot.good.clone());
            let (made, good) = match object {
                None => (Made::new(), None),
                Some(object) => match self.make_entry(&key, &object) {
                    Ok(made) => {
                        self.mended(KeyKind::Istio(Kind::ServiceEntry), &key);
                        (made, Some(object))
                    }
                    Err(reason) => {
                        self.unusable(KeyKind::Istio(Kind::ServiceEntry), &key, reason);
                        let made = good.as_ref().map(|good| self.make_entry(&key, good));
                        (made.and_then(Result::ok).unwrap_or_default(), good)
                    }
                },
            };
            self.replace_entry(&key, made, good, dirty);
        }
    }

    fn make_entry(&mut self, key: &ObjectKey, object: &Object) -> Result<Made, String> {
        let Spec::ServiceEntry(spec) = &object.spec else { return Ok(Made::new()) };
        let services = entry::services(object, spec, &self.facts, &mut self.names)?;
        let workloads = self.workloads_of_entry(key, object, spec);
        let host_is_endpoint = spec.endpoints.is_empty() && spec.workload_selector.is_none();
        let made = services.into_iter().map(|service| {
            let instances = entry::instances(&service, &workloads, host_is_endpoint, &self.facts);
            (self.known(key, service), instances)
        });
        Ok(made.collect())
    }

    /// The same `Arc` as before if there was an equal one.
    fn known(&self, key: &ObjectKey, service: Service) -> Arc<Service> {
        let old = self.entries.get(key).map_or(&[][..], |slot| &slot.made);
        let known = old.iter().map(|(known, _)| known).find(|known| ***known == service);
        known.cloned().unwrap_or_else(|| Arc::new(service))
    }

    /// Those that stand in it, or those that it selects: pods by name, then WorkloadEntries by name.
    fn workloads_of_entry(
        &mut self,
        key: &ObjectKey,
        object: &Object,
        spec: &ServiceEntry,
    ) -> Vec<Arc<Workload>> {
        let Some(selector) = &spec.workload_selector else {
            let endpoints = spec.endpoints.iter().enumerate();
            let workload =
                |(index, endpoint)| entry::inline(endpoint, index, object, &self.facts, &mut self.names);
            return endpoints.map(workload).map(Arc::new).collect();
        };
        let selector = self.names.map(&selector.labels);
        let by_name = matches!(Resolution::of(spec), Resolution::Dns | Resolution::DnsRoundRobin);
        let pods = self.pods.get(&key.namespace).into_iter().flat_map(|pods| pods.values());
        let mut pods: Vec<Arc<Workload>> = pods
            .filter(|slot| slot.served)
            .filter_map(|slot| slot.workload.clone())
            .filter(|pod| selects(&selector, &pod.labels))
            .collect();
        pods.sort_by(|a, b| a.name.cmp(&b.name));
        let machines = self.machines_of(&key.namespace);
        let machines = machines.filter(|machine| by_name || !entry::for_names_only(machine));
        pods.extend(machines.filter(|machine| selects(&selector, &machine.labels)).cloned());
        pods
    }

    /// By name.
    pub(super) fn machines_of<'a>(
        &'a self,
        namespace: &Arc<str>,
    ) -> impl Iterator<Item = &'a Arc<Workload>> + use<'a> {
        let first = ObjectKey { namespace: Arc::clone(namespace), name: Arc::default() };
        let namespace = Arc::clone(namespace);
        let of = self.machines.range(first..).take_while(move |(key, _)| key.namespace == namespace);
        of.filter_map(|(_, slot)| slot.workload.as_ref())
    }

    fn replace_entry(&mut self, key: &ObjectKey, made: Made, good: Option<Arc<Object>>, dirty: &mut Dirty) {
        let selects = good.as_ref().is_some_and(|good| match &good.spec {
            Spec::ServiceEntry(spec) => spec.workload_selector.is_some(),
            _ => false,
        });
        let selecting = self.selecting.entry(Arc::clone(&key.namespace)).or_default();
        if selects {
            selecting.insert(Arc::clone(&key.name));
        } else {
            selecting.remove(&key.name);
        }
        if selecting.is_empty() {
            self.selecting.remove(&key.namespace);
        }
        let Some(slot) = self.entries.get_mut(key) else { return };
        slot.good = good;
        // Equal is not the same: those that were there stay.
        if slot.made != made {
            let targets = targets(&made);
            let addresses: BTreeSet<IpAddr> = targets.iter().map(|(address, _)| *address).collect();
            let before = std::mem::replace(&mut slot.addresses, addresses.into_iter().collect());
            let old = std::mem::replace(&mut slot.made, made);
            let new = &slot.made;
            dirty.endpoints.extend(old.iter().chain(new).map(|(service, _)| service.key.clone()));
            let same = |((old, _), (new, _)): (&(Arc<Service>, _), &(Arc<Service>, _))| Arc::ptr_eq(old, new);
            if old.len() != new.len() || !old.iter().zip(new).all(same) {
                dirty.gone.extend(old.iter().map(|(service, _)| Arc::clone(service)));
                dirty.come.extend(new.iter().map(|(service, _)| Arc::clone(service)));
            }
            for (service, _) in old {
                if let Some(entries) = self.hosts.get_mut(&service.key) {
                    entries.remove(&key.name);
                    if entries.is_empty() {
                        self.hosts.remove(&service.key);
                    }
                }
            }
            for (service, _) in new {
                self.hosts.entry(service.key.clone()).or_default().insert(Arc::clone(&key.name));
            }
            self.index_targets(key, &before, targets);
        }
        if self.entries.get(key).is_some_and(|slot| slot.object.is_none()) {
            self.entries.remove(key);
        }
    }

    fn index_targets(&mut self, key: &ObjectKey, before: &[IpAddr], targets: Vec<(IpAddr, EntryTarget)>) {
        if before.is_empty() && targets.is_empty() {
            return;
        }
        let entries = &mut self.workloads().entries;
        for address in before {
            entries.change(address, |known| {
                known.retain(|known| known.object != key.name || known.service.namespace != key.namespace);
            });
        }
        for (address, target) in targets {
            entries.change(&address, |known| {
                if !known.contains(&target) {
                    known.push(target);
                    known.sort_by(|a, b| sort_key(a).cmp(&sort_key(b)));
                }
            });
        }
    }
}

fn sort_key(target: &EntryTarget) -> (&Arc<str>, &Arc<str>, &Arc<str>) {
    (&target.service.namespace, &target.object, &target.service.host)
}

/// What it has at addresses.
fn targets(made: &Made) -> Vec<(IpAddr, EntryTarget)> {
    let mut targets = Vec::new();
    for (service, instances) in made {
        for Instance { endpoint, workload } in instances {
            let Some(workload) = workload else { continue };
            let Some(address) = endpoint.addresses.first().and_then(|text| text.parse().ok()) else {
                continue;
            };
            let Some(port) = service.port(endpoint.service_port) else { continue };
            let target = EntryTarget {
                service: service.key.clone(),
                object: Arc::clone(&service.object),
                port: port.clone(),
                target_port: endpoint.port,
                workload: Arc::clone(workload),
            };
            targets.push((address, target));
        }
    }
    targets
}
