//! What a namespace sees, by port. From it a plan is made for each port that somebody asks for.

use super::{Built, host::small, outline::Outline, plan::Plan};
use mizzen_mesh::{
    ByPointer, Host, Seen, Sees,
    config::{Routed, VirtualService},
};
use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

/// What a listing is made from: the same for all namespaces that see the same.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) struct Inputs {
    seen: ByPointer<Seen>,
    http: ByPointer<Routed<VirtualService>>,
}

/// Everything by port.
pub(super) struct Listing {
    pub(super) seen: Arc<Seen>,
    pub(super) ports: HashMap<u32, Vec<usize>>,
    pub(super) virtual_services: Vec<(Arc<VirtualService>, Arc<Outline>)>,
    /// The VirtualServices whose hosts a service is, by the service's place.
    pub(super) routed: HashMap<usize, Vec<usize>>,
    plans: Mutex<HashMap<u32, Arc<Plan>>>,
}

impl Inputs {
    pub(super) fn of(scope: Sees<'_>) -> Self {
        Self { seen: scope.seen().into(), http: scope.http().into() }
    }
}

impl Listing {
    pub(super) fn new(inputs: &Inputs, built: &Built) -> Self {
        let seen = &inputs.seen.0;
        let mut ports: HashMap<u32, Vec<usize>> = HashMap::new();
        for (index, visible) in seen.offered().iter().enumerate() {
            for port in &visible.service.ports {
                ports.entry(port.number).or_default().push(index);
            }
        }
        let with_routes =
            inputs.http.list.iter().filter(|virtual_service| !virtual_service.spec.http.is_empty());
        let virtual_services: Vec<_> = with_routes
            .map(|virtual_service| (Arc::clone(virtual_service), built.outline(virtual_service)))
            .collect();
        let routed = routed(seen, &virtual_services);
        Self { seen: Arc::clone(seen), ports, virtual_services, routed, plans: Mutex::default() }
    }

    pub(super) fn plan(&self, port: u32) -> Arc<Plan> {
        if let Some(plan) = self.plans.lock().unwrap_or_else(PoisonError::into_inner).get(&port) {
            return Arc::clone(plan);
        }
        let plan = Arc::new(Plan::new(self, port));
        // A port without anything is not kept: whoever asks for many of these must not fill the memory.
        if !plan.is_empty() {
            self.plans.lock().unwrap_or_else(PoisonError::into_inner).insert(port, Arc::clone(&plan));
        }
        plan
    }
}

/// A service belongs to each VirtualService that names it, and to the most specific one of those whose wildcard covers it.
fn routed(
    seen: &Seen,
    virtual_services: &[(Arc<VirtualService>, Arc<Outline>)],
) -> HashMap<usize, Vec<usize>> {
    let mut out: HashMap<usize, Vec<usize>> = HashMap::new();
    let mut wildcards: Vec<(&str, usize)> = Vec::new();
    let mut named: HashMap<&str, Vec<usize>> = HashMap::new();
    for (index, (_, outline)) in virtual_services.iter().enumerate() {
        for host in &outline.hosts {
            named.entry(host).or_default().push(index);
        }
        wildcards.extend(outline.wildcards.iter().map(|host| (&**host, index)));
    }
    if named.is_empty() && wildcards.is_empty() {
        return out;
    }
    // The longest is the most specific; of equals the older VirtualService counts.
    wildcards.sort_by(|one, other| (other.0.len(), one.0, one.1).cmp(&(one.0.len(), other.0, other.1)));
    for (index, visible) in seen.offered().iter().enumerate() {
        let host = small(visible.service.host());
        if let Some(all) = named.get(&*host) {
            out.entry(index).or_default().extend(all);
        } else if let Some((_, index_of)) =
            wildcards.iter().find(|(wildcard, _)| Host(wildcard).covers(Host(&host)))
        {
            out.entry(index).or_default().push(*index_of);
        }
    }
    out
}
