//! The endpoints of one service: those of entries first, then those of Kubernetes.

use crate::{
    Accounts, Endpoint, Resolution, ServiceEndpoints, ServiceKey, Workload,
    registry::{
        ObjectKey, State, entry,
        entry::Instance,
        kubernetes,
        kubernetes::Behind,
        selectors::selects,
        state::{ByName, Dirty, PodSlot, ServiceSlot, find},
        workloads::LooseTarget,
    },
};
use std::{
    collections::{BTreeSet, HashMap, HashSet},
    net::IpAddr,
    sync::Arc,
};

impl State {
    pub(super) fn update_endpoints(&mut self, dirty: &Dirty) {
        for key in &dirty.endpoints {
            let mut new: Vec<Arc<Endpoint>> = self.of_entries(key);
            self.of_kubernetes(key, &mut new);
            let next = match self.out.endpoints.get(key) {
                Some(old) => next(old, new),
                None => (!new.is_empty()).then(|| made(new, None)),
            };
            if let Some(next) = next {
                let all = Arc::make_mut(&mut self.out.endpoints);
                if next.endpoints.is_empty() {
                    all.remove(key);
                } else {
                    all.set(key.clone(), Arc::new(next));
                }
            }
        }
    }

    /// Of all entries of the namespace with that host, the oldest first.
    fn of_entries(&self, key: &ServiceKey) -> Vec<Arc<Endpoint>> {
        let names = self.hosts.get(key).into_iter().flatten();
        let slots = names.filter_map(|name| {
            self.entries.get(&ObjectKey { namespace: Arc::clone(&key.namespace), name: Arc::clone(name) })
        });
        let mut services: Vec<_> =
            slots.flat_map(|slot| &slot.made).filter(|(service, _)| service.key == *key).collect();
        services.sort_by(|(a, _), (b, _)| (&a.created, &a.object).cmp(&(&b.created, &b.object)));
        let mut endpoints = Vec::new();
        let mut ports: BTreeSet<u32> = BTreeSet::new();
        for (service, instances) in services {
            for Instance { endpoint, .. } in instances {
                let has_one = !ports.insert(endpoint.service_port);
                // Envoy takes one name only for such a cluster.
                if service.resolution != Resolution::DnsRoundRobin || !has_one {
                    endpoints.push(Arc::clone(endpoint));
                }
            }
        }
        endpoints
    }

    fn of_kubernetes(&mut self, key: &ServiceKey, all: &mut Vec<Arc<Endpoint>>) {
        let Some(name) = self.service_name(key) else { return };
        let Some(slot) = find(&self.services, &key.namespace, name) else { return };
        let Some(service) = slot.made.as_ref().filter(|made| made.key == *key).cloned() else {
            return;
        };
        let machines: Vec<Arc<Workload>> = if service.selector.is_empty() || service.external {
            Vec::new()
        } else {
            let selected = |machine: &&Arc<Workload>| {
                selects(&service.selector, &machine.labels) && !entry::for_names_only(machine)
            };
            self.machines_of(&key.namespace).filter(selected).cloned().collect()
        };
        let pods = Pods::new(&self.pods, &key.namespace, slot);
        let endpoints =
            kubernetes::endpoints(&service, &slot.slices, &pods, &machines, &self.facts, &mut self.names);
        // A pod that is selected is found by that.
        let loose: &[Endpoint] = if service.selector.is_empty() { &endpoints } else { &[] };
        self.index_loose(key, name, loose);
        all.extend(endpoints.into_iter().map(Arc::new));
    }

    fn index_loose(&mut self, key: &ServiceKey, name: &str, endpoints: &[Endpoint]) {
        let slot = self.services.get_mut(&key.namespace).and_then(|services| services.get_mut(name));
        let Some(slot) = slot else { return };
        let mut targets: Vec<(IpAddr, LooseTarget)> = Vec::new();
        for endpoint in endpoints {
            let Some(address) = endpoint.addresses.first().and_then(|text| text.parse().ok()) else {
                continue;
            };
            let target = LooseTarget {
                service: key.clone(),
                port_name: Arc::clone(&endpoint.port_name),
                target_port: endpoint.port,
            };
            targets.push((address, target));
        }
        if targets == slot.loose {
            return;
        }
        let before = std::mem::replace(&mut slot.loose, targets.clone());
        self.forget_loose(key, &before);
        let loose = &mut self.workloads().loose;
        for (address, target) in targets {
            loose.change(&address, |known| {
                known.push(target);
                known.sort_by(|a, b| (&a.service, &a.port_name).cmp(&(&b.service, &b.port_name)));
            });
        }
    }

    pub(super) fn forget_loose(&mut self, key: &ServiceKey, targets: &[(IpAddr, LooseTarget)]) {
        if !targets.is_empty() {
            let loose = &mut self.workloads().loose;
            for (address, _) in targets {
                loose.change(address, |known| known.retain(|known| known.service != *key));
            }
        }
    }
}

/// Nothing if it is as before.
fn next(old: &ServiceEndpoints, mut new: Vec<Arc<Endpoint>>) -> Option<ServiceEndpoints> {
    let same = |(new, old): (&Arc<Endpoint>, &Arc<Endpoint>)| Arc::ptr_eq(new, old) || new == old;
    if new.len() == old.endpoints.len() && new.iter().zip(&old.endpoints).all(same) {
        return None;
    }
    // Those that were there stay the same ones.
    let known: HashMap<_, _> = old.endpoints.iter().map(|endpoint| (place(endpoint), endpoint)).collect();
    for endpoint in &mut new {
        if let Some(known) = known.get(&place(endpoint)).filter(|known| ***known == *endpoint) {
            *endpoint = Arc::clone(known);
        }
    }
    Some(made(new, Some(old)))
}

fn place(endpoint: &Endpoint) -> (Option<Arc<str>>, Arc<str>) {
    (endpoint.addresses.first().cloned(), Arc::clone(&endpoint.port_name))
}

fn made(endpoints: Vec<Arc<Endpoint>>, old: Option<&ServiceEndpoints>) -> ServiceEndpoints {
    let accounts = endpoints.iter().map(|endpoint| &endpoint.service_account);
    let accounts: Accounts = accounts.filter(|account| !account.is_empty()).cloned().collect();
    let accounts = match old {
        Some(old) if *old.accounts == accounts => Arc::clone(&old.accounts),
        _ => Arc::new(accounts),
    };
    ServiceEndpoints { endpoints, accounts }
}

/// The pods that slices name, and those at addresses that stand there without a name.
struct Pods<'a> {
    all: &'a ByName<PodSlot>,
    by_address: HashMap<Arc<str>, &'a Arc<Workload>>,
}

impl<'a> Pods<'a> {
    fn new(all: &'a ByName<PodSlot>, namespace: &str, service: &ServiceSlot) -> Self {
        let mut by_address: HashMap<Arc<str>, &Arc<Workload>> = HashMap::new();
        let wanted: HashSet<&Arc<str>> = service.slices.values().flat_map(|slice| slice.loose()).collect();
        if !wanted.is_empty() {
            let pods =
                all.get(namespace).into_iter().flat_map(|pods| pods.values()).filter(|slot| slot.served);
            for pod in pods.filter_map(|slot| slot.workload.as_ref()) {
                let Some(address) = pod.addresses.first().filter(|address| wanted.contains(address)) else {
                    continue;
                };
                // Pods of one machine share its address; any of them is a guess.
                let known = by_address.entry(Arc::clone(address)).or_insert(pod);
                if pod.name < known.name {
                    *known = pod;
                }
            }
        }
        Self { all, by_address }
    }
}

impl Behind for Pods<'_> {
    fn pod(&self, key: &ObjectKey) -> Option<&Arc<Workload>> {
        find(self.all, &key.namespace, &key.name)?.workload.as_ref()
    }

    fn address(&self, address: &str) -> Option<&Arc<Workload>> {
        self.by_address.get(address).copied()
    }
}
