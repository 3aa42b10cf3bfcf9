//! What a sidecar in a namespace sees: services with their rules, and the virtual services that route for it. (A
//! Sidecar object will narrow it.)

use crate::{
    Attributes, Service, ServiceKey, Snapshot,
    config::{DestinationRule, VirtualService},
};
use std::{collections::HashMap, sync::Arc};

/// A service with the rules for its clients in this namespace.
#[derive(Debug)]
pub struct Visible {
    pub service: Arc<Service>,
    /// Those with a selector (for some of the namespace's workloads) first, then the one for all.
    pub rules: Vec<Arc<DestinationRule>>,
}

#[derive(Debug)]
pub struct Scope {
    pub namespace: Arc<str>,
    /// In Istio's order; of several services with one host name only the one that this namespace means.
    pub services: Vec<Visible>,
    /// For sidecars (gateway `mesh`), in Istio's order.
    pub virtual_services: Vec<Arc<VirtualService>>,
    by_host: HashMap<Arc<str>, usize>,
}

impl Scope {
    pub(crate) fn new(snapshot: &Snapshot, namespace: &Arc<str>) -> Self {
        let mut services: Vec<Visible> = Vec::new();
        let mut by_host: HashMap<Arc<str>, usize> = HashMap::new();
        for service in &snapshot.services.all {
            if !service.visibility.includes(namespace) {
                continue;
            }
            let visible = || Visible {
                service: Arc::clone(service),
                rules: snapshot.destination_rules.select(&snapshot.settings, namespace, service),
            };
            match by_host.get(&service.key.host) {
                // Its own namespace's service goes before others of that name.
                Some(&index) if service.key.namespace == *namespace => services[index] = visible(),
                Some(_) => {}
                None => {
                    by_host.insert(Arc::clone(&service.key.host), services.len());
                    services.push(visible());
                }
            }
        }
        let virtual_services = snapshot.virtual_services.for_sidecars(namespace);
        Self { namespace: Arc::clone(namespace), services, virtual_services, by_host }
    }

    pub fn service(&self, host: &str) -> Option<&Visible> {
        self.by_host.get(host).map(|&index| &self.services[index])
    }

    pub fn has(&self, key: &ServiceKey) -> bool {
        self.service(&key.host).is_some_and(|visible| visible.service.key.namespace == key.namespace)
    }
}

impl Visible {
    /// The rule that holds for this client.
    pub fn rule(&self, client: &Attributes) -> Option<&Arc<DestinationRule>> {
        self.rules.iter().find(|rule| client.selected(&rule.selector))
    }
}
