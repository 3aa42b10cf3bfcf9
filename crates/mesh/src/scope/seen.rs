//! The services that a namespace sees.

use crate::{
    Attributes, Registry, Service, Snapshot,
    config::{DestinationRule, MESH, Rules, VirtualService},
    services::Aliases,
};
use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    sync::Arc,
};

/// A service with the rules for its clients in this namespace.
#[derive(Clone, Debug)]
pub struct Visible {
    pub service: Arc<Service>,
    /// Those with a selector (for some of the namespace's workloads) first, then the one for all.
    pub rules: Rules,
    /// Other names of it; hosts and routes have them, too.
    pub aliases: Aliases,
}

impl Visible {
    /// The rule that holds for this client.
    pub fn rule(&self, client: &Attributes) -> Option<&Arc<DestinationRule>> {
        self.rules.iter().find(|rule| client.selected(&rule.selector))
    }

    /// The very same.
    fn is(&self, other: &Self) -> bool {
        let rules = |one: &Rules, other: &Rules| {
            one.len() == other.len() && one.iter().zip(&**other).all(|(one, other)| Arc::ptr_eq(one, other))
        };
        Arc::ptr_eq(&self.service, &other.service)
            && rules(&self.rules, &other.rules)
            && self.aliases == other.aliases
    }
}

#[derive(Debug, Default)]
pub struct Seen {
    services: Vec<Visible>,
    /// Nothing if they are the same.
    offered: Option<Vec<Visible>>,
    by_host: HashMap<Arc<str>, usize>,
}

/// Who looks.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Viewer {
    pub(super) router: bool,
    /// Nothing: a namespace without anything of its own.
    pub(super) namespace: Option<Arc<str>>,
}

impl Seen {
    pub fn services(&self) -> &[Visible] {
        &self.services
    }

    pub fn offered(&self) -> &[Visible] {
        self.offered.as_ref().unwrap_or(&self.services)
    }

    pub fn service(&self, host: &str) -> Option<&Visible> {
        self.by_host.get(host).map(|&at| &self.services[at])
    }

    /// The very same services with the very same rules.
    pub(super) fn is(&self, other: &Self) -> bool {
        let same = |one: &[Visible], other: &[Visible]| {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| one.is(other))
        };
        same(&self.services, &other.services) && same(self.offered(), other.offered())
    }

    pub(super) fn new(snapshot: &Snapshot, viewer: &Viewer, before: Option<&Self>) -> Self {
        let namespace = viewer.namespace.as_deref();
        let mut offered = exported(snapshot, namespace);
        if !viewer.router {
            one_namespace_each(&mut offered, namespace);
        }
        let mut merging = Merging {
            services: Vec::with_capacity(offered.len()),
            by_host: HashMap::with_capacity(offered.len()),
            made: false,
        };
        for service in &offered {
            merging.add(service);
        }
        if !viewer.router
            && let Some(namespace) = namespace
            && snapshot.services.hides(namespace)
        {
            for service in routed_to(snapshot, namespace) {
                merging.add(&service);
            }
        }
        let Merging { mut services, by_host, made } = merging;
        if made && let Some(before) = before {
            // What was made here has no pointer of its own that lasts; equal ones get the last one's.
            for service in &mut services {
                if let Some(last) = before.service(service.host()).filter(|last| last.service == *service) {
                    *service = Arc::clone(&last.service);
                }
            }
        }
        let same = services.len() == offered.len()
            && services.iter().zip(&offered).all(|(one, other)| Arc::ptr_eq(one, other));
        let none = Aliases::default();
        let visible = |service: Arc<Service>| Visible {
            rules: snapshot.destination_rules.select(&snapshot.settings, namespace, &service),
            aliases: Arc::clone(snapshot.services.aliases.get(&service.key.host).unwrap_or(&none)),
            service,
        };
        let services: Vec<Visible> = services.into_iter().map(visible).collect();
        // Rules are by host: those of the merged service hold for what it was merged from.
        let offer = |service: Arc<Service>| {
            let merged = by_host.get(&service.key.host).map(|&at: &usize| &services[at]);
            match merged {
                Some(merged) => Visible { service, ..merged.clone() },
                None => visible(service),
            }
        };
        let offered = (!same && !viewer.router).then(|| offered.into_iter().map(offer).collect());
        Self { services, offered, by_host }
    }
}

/// What others made visible to the namespace first, then what is public.
fn exported(snapshot: &Snapshot, namespace: Option<&str>) -> Vec<Arc<Service>> {
    let all = || snapshot.services.all.iter();
    let public = |service: &&Arc<Service>| service.visibility == crate::Visibility::Public;
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
fn one_namespace_each(services: &mut Vec<Arc<Service>>, own: Option<&str>) {
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
struct Merging {
    services: Vec<Arc<Service>>,
    by_host: HashMap<Arc<str>, usize>,
    /// Whether one was made that is no service of the snapshot.
    made: bool,
}

impl Merging {
    fn add(&mut self, service: &Arc<Service>) {
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
                let new = |port: &&crate::Port| there.port(port.number).is_none();
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
                    *there = Arc::new(merged);
                    self.made = true;
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
fn routed_to(snapshot: &Snapshot, namespace: &str) -> Vec<Arc<Service>> {
    let mut found = Vec::new();
    for routes in snapshot.virtual_services.http.of(MESH, Some(namespace)) {
        for (host, ports) in destinations(&routes, namespace) {
            let key = crate::ServiceKey { host: host.into(), namespace: namespace.into() };
            let Some(service) = snapshot.services.by_key.get(&key) else { continue };
            if ports.contains(&0) || service.ports.iter().all(|port| ports.contains(&port.number)) {
                found.push(Arc::clone(service));
            } else if service.ports.iter().any(|port| ports.contains(&port.number)) {
                let mut some = Service::clone(service);
                some.ports.retain(|port| ports.contains(&port.number));
                found.push(Arc::new(some));
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
