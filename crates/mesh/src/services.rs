//! All services of a snapshot, and what follows from all of them together.

use crate::{Registry, Resolution, Service, ServiceKey, Visibility};
use std::{
    collections::{BTreeSet, HashMap, HashSet, hash_map::Entry},
    sync::Arc,
};

/// In Istio's order: older first, then by name and namespace.
#[derive(Debug, Default)]
pub struct Services {
    pub all: Vec<Arc<Service>>,
    /// Of several the oldest, but one of Kubernetes before entries, so that nobody can take a name before its service comes.
    pub by_key: HashMap<ServiceKey, Arc<Service>>,
    pub by_host: HashMap<Arc<str>, Vec<Arc<Service>>>,
    /// Other names of a host: the services of type ExternalName that end there, over several steps, too.
    pub aliases: HashMap<Arc<str>, Aliases>,
    /// Namespaces that see services otherwise than all others do.
    special: HashSet<Arc<str>>,
    /// Namespaces with services that they do not see themselves.
    hiding: HashSet<Arc<str>>,
}

/// By namespace, then host.
pub type Aliases = Arc<[ServiceKey]>;

impl Services {
    pub fn new(all: Vec<Arc<Service>>) -> Self {
        let mut services = Self { all, ..Self::default() };
        for service in &services.all {
            match services.by_key.entry(service.key.clone()) {
                Entry::Vacant(entry) => {
                    entry.insert(Arc::clone(service));
                }
                Entry::Occupied(mut entry) => {
                    if entry.get().registry != Registry::Kubernetes
                        && service.registry == Registry::Kubernetes
                    {
                        entry.insert(Arc::clone(service));
                    }
                }
            }
            services.by_host.entry(Arc::clone(&service.key.host)).or_default().push(Arc::clone(service));
            if let Visibility::Namespaces(namespaces) = &service.visibility {
                services.special.extend(namespaces.iter().cloned());
            }
            if !service.visibility.includes(&service.key.namespace) {
                services.hiding.insert(Arc::clone(&service.key.namespace));
            }
        }
        // A namespace means its own where several have a name.
        for doubled in services.by_host.values() {
            if doubled.iter().any(|service| service.key.namespace != doubled[0].key.namespace) {
                services.special.extend(doubled.iter().map(|service| Arc::clone(&service.key.namespace)));
            }
        }
        services.aliases = aliases(&services.all);
        services
    }

    pub(crate) fn is_special(&self, namespace: &str) -> bool {
        self.special.contains(namespace) || self.hiding.contains(namespace)
    }

    pub(crate) fn hides_any(&self) -> bool {
        !self.hiding.is_empty()
    }

    pub(crate) fn hides(&self, namespace: &str) -> bool {
        self.hiding.contains(namespace)
    }
}

fn aliases(all: &[Arc<Service>]) -> HashMap<Arc<str>, Aliases> {
    let links: Vec<&Arc<Service>> =
        all.iter().filter(|service| service.resolution == Resolution::Alias).collect();
    let next: HashMap<&str, &Arc<str>> =
        links.iter().map(|service| (service.host(), &service.external_name)).collect();
    // Where each link ends. A circle ends nowhere; who asks for such a name gets no answer, either.
    let mut ends: HashMap<&str, Option<&Arc<str>>> = HashMap::with_capacity(links.len());
    let mut found: HashMap<Arc<str>, BTreeSet<_>> = HashMap::new();
    for service in &links {
        let mut way: Vec<&str> = Vec::new();
        let mut at = &service.external_name;
        let end = loop {
            match (ends.get(&**at), next.get(&**at)) {
                (Some(end), _) => break *end,
                (None, None) => break Some(at),
                (None, Some(further)) => {
                    // Marked while it is on the way: to come back to it is a circle.
                    ends.insert(at, None);
                    way.push(at);
                    at = further;
                }
            }
        };
        ends.extend(way.into_iter().map(|step| (step, end)));
        if let Some(end) = end {
            found.entry(Arc::clone(end)).or_default().insert((&service.key.namespace, &service.key.host));
        }
    }
    let key = |(namespace, host): (&Arc<str>, &Arc<str>)| ServiceKey {
        host: Arc::clone(host),
        namespace: Arc::clone(namespace),
    };
    found.into_iter().map(|(end, aliases)| (end, aliases.into_iter().map(key).collect())).collect()
}
