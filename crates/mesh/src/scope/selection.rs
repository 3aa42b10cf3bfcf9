//! Which services a namespace sees, where several have one host name or some are not for all.

use super::made::Made;
use crate::{
    Port, Registry, Service, ServiceKey, Snapshot, Visibility,
    config::{MESH, VirtualService},
};
use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    sync::Arc,
};

/// What others made visible to the namespace first, then what is public.
pub(super) fn exported(snapshot: &Snapshot, namespace: Option<&str>) -> Vec<Arc<Service>> {
    let all = || snapshot.services.all.iter();
    let public = |service: &&Arc<Service>| service.visibility == Visibility::Public;
    let mut services: Vec<Arc<Service>> = Vec::with_capacity(all().len());
    if let Some(namespace) = namespace {
        let mine = all().filter(|service| !public(service) && service.visibility.includes(namespace));
        services.extend(mine.cloned());
    }
    services.extend(all().filter(public).cloned());
    services
}

/// Of a host that several namespaces have, only the services of one: the own namespace, else one with a service of
/// Kubernetes, else the first.
pub(super) fn one_namespace_each(services: &mut Vec<Arc<Service>>, own: Option<&str>) {
    struct Chosen {
        namespace: Arc<str>,
        kubernetes: bool,
    }
    let mut chosen: HashMap<Arc<str>, Chosen> = HashMap::with_capacity(services.len());
    let mut several = false;
    for service in &*services {
        let namespace = &service.key.namespace;
        let kubernetes = service.registry == Registry::Kubernetes;
        let this = || Chosen { namespace: Arc::clone(namespace), kubernetes };
        match chosen.get_mut(&service.key.host) {
            None => {
                chosen.insert(Arc::clone(&service.key.host), this());
            }
            Some(before) => {
                several |= before.namespace != *namespace;
                let better = !before.kubernetes && kubernetes && Some(&*before.namespace) != own;
                if Some(&**namespace) == own || better {
                    *before = this();
                }
            }
        }
    }
    if several {
        let is_chosen = |service: &Arc<Service>| {
            chosen.get(&service.key.host).is_some_and(|chosen| chosen.namespace == service.key.namespace)
        };
        services.retain(is_chosen);
    }
}

/// Services by host, one each.
pub(super) struct Merging<'a> {
    made: &'a Made,
    pub(super) services: Vec<Arc<Service>>,
    pub(super) by_host: HashMap<Arc<str>, usize>,
}

impl<'a> Merging<'a> {
    pub(super) fn new(made: &'a Made, count: usize) -> Self {
        Self { made, services: Vec::with_capacity(count), by_host: HashMap::with_capacity(count) }
    }

    pub(super) fn add(&mut self, service: &Arc<Service>) {
        let Some(&at) = self.by_host.get(&service.key.host) else {
            self.by_host.insert(Arc::clone(&service.key.host), self.services.len());
            self.services.push(Arc::clone(service));
            return;
        };
        let there = &mut self.services[at];
        if Arc::ptr_eq(there, service) {
            return;
        }
        match (there.registry, service.registry) {
            (Registry::Kubernetes, Registry::External) => {}
            (Registry::External, Registry::Kubernetes) => *there = Arc::clone(service),
            _ => {
                let new = |port: &&Port| there.port(port.number).is_none();
                if there.ports != service.ports
                    && mergeable(there, service)
                    && service.ports.iter().any(|port| new(&port))
                {
                    let mut merged = Service::clone(there);
                    for port in &service.ports {
                        if merged.port(port.number).is_none() {
                            merged.ports.push(port.clone());
                        }
                    }
                    *there = self.made.share(merged);
                }
            }
        }
    }
}

fn mergeable(one: &Service, other: &Service) -> bool {
    one.key.namespace == other.key.namespace
        && one.resolution == other.resolution
        && one.labels == other.labels
        && one.selector == other.selector
        && one.visibility == other.visibility
}

/// Services of the namespace that it does not see, but that routes which hold for it lead to.
pub(super) fn routed_to(snapshot: &Snapshot, namespace: &str, made: &Made) -> Vec<Arc<Service>> {
    let mut found = Vec::new();
    for routes in snapshot.virtual_services.http.of(MESH, Some(namespace)) {
        for (host, ports) in destinations(&routes, namespace) {
            let key = ServiceKey { host: host.into(), namespace: namespace.into() };
            let Some(service) = snapshot.services.by_key.get(&key) else { continue };
            if ports.contains(&0) || service.ports.iter().all(|port| ports.contains(&port.number)) {
                found.push(Arc::clone(service));
            } else if service.ports.iter().any(|port| ports.contains(&port.number)) {
                let mut some = Service::clone(service);
                some.ports.retain(|port| ports.contains(&port.number));
                found.push(made.share(some));
            }
        }
    }
    found
}

/// Where routes lead that clients in `namespace` can take, with the ports; 0 is any.
fn destinations<'a>(routes: &'a VirtualService, namespace: &str) -> BTreeMap<&'a str, BTreeSet<u32>> {
    let http = routes.spec.http.iter().filter(|route| {
        let mut wanted = route
            .r#match
            .iter()
            .map(|wanted| wanted.source_namespace.as_str())
            .filter(|name| !name.is_empty())
            .peekable();
        wanted.peek().is_none() || wanted.any(|name| name == namespace)
    });
    let http = http.flat_map(|route| {
        let to = route.route.iter().filter_map(|to| to.destination.as_ref());
        to.chain(&route.mirror).chain(route.mirrors.iter().filter_map(|to| to.destination.as_ref()))
    });
    let l4 = routes.l4.iter().flat_map(|l4| {
        let tcp = l4.tcp.iter().flat_map(|route| &route.route);
        tcp.chain(l4.tls.iter().flat_map(|route| &route.route)).filter_map(|to| to.destination.as_ref())
    });
    let mut found: BTreeMap<&str, BTreeSet<u32>> = BTreeMap::new();
    for to in http.chain(l4) {
        let port = to.port.as_ref().map_or(0, |port| port.number);
        found.entry(&to.host).or_default().insert(port);
    }
    found
}
