//! The mesh at one moment. Never changes; the next one shares with it everything that is still so.

use crate::{
    Attributes, Facts, Key, Proxy, ProxyKind, Scope, ServiceEndpoints, ServiceKey, Services, Settings,
    config, registry, scope::Scopes, sight::Versions,
};
use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

pub use crate::config::{Authentication, DestinationRules, Gateways, VirtualServices};

/// An object that is there and does not count, wholly or in part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    pub key: Key,
    pub reason: Arc<str>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stamp {
    store: u64,
    moved: u64,
}

/// Stores of this process.
static STORES: AtomicU64 = AtomicU64::new(0);

pub struct Snapshot {
    /// Counts snapshots of its store.
    pub number: u64,
    store: u64,
    pub settings: Arc<Settings>,
    pub services: Arc<Services>,
    /// A service without an entry has none.
    pub endpoints: Arc<registry::Endpoints>,
    pub workloads: Arc<registry::Workloads>,
    pub virtual_services: Arc<VirtualServices>,
    pub destination_rules: Arc<DestinationRules>,
    pub authentication: Arc<Authentication>,
    pub gateways: Arc<Gateways>,
    pub problems: Arc<Vec<Problem>>,
    pub(crate) versions: Versions,
    scopes: Scopes,
}

impl Snapshot {
    pub(crate) fn next(
        last: Option<&Arc<Self>>,
        settings: &Settings,
        registry: registry::Parts,
        config: config::Parts,
    ) -> Arc<Self> {
        let mut next = Self {
            number: last.map_or(1, |last| last.number + 1),
            store: last.map_or_else(|| STORES.fetch_add(1, Ordering::Relaxed), |last| last.store),
            settings: match last {
                Some(last) if last.settings.is(settings) => Arc::clone(&last.settings),
                _ => Arc::new(settings.clone()),
            },
            services: registry.services,
            endpoints: registry.endpoints,
            workloads: registry.workloads,
            virtual_services: config.virtual_services,
            destination_rules: config.destination_rules,
            authentication: config.authentication,
            gateways: config.gateways,
            problems: together(last, &registry.problems, config.problems),
            versions: Versions::default(),
            scopes: Scopes::default(),
        };
        match last {
            Some(last) if next.is(last) => Arc::clone(last),
            Some(last) => {
                next.versions = Versions::after(last, &next);
                next.scopes = last.scopes.next(last, &next);
                Arc::new(next)
            }
            None => Arc::new(next),
        }
    }

    fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.settings, &other.settings)
            && Arc::ptr_eq(&self.services, &other.services)
            && Arc::ptr_eq(&self.virtual_services, &other.virtual_services)
            && Arc::ptr_eq(&self.destination_rules, &other.destination_rules)
            && Arc::ptr_eq(&self.endpoints, &other.endpoints)
            && Arc::ptr_eq(&self.workloads, &other.workloads)
            && Arc::ptr_eq(&self.authentication, &other.authentication)
            && Arc::ptr_eq(&self.gateways, &other.gateways)
            && Arc::ptr_eq(&self.problems, &other.problems)
    }

    /// What a proxy in `namespace` sees, found out when it is first asked for.
    pub fn scope(&self, kind: ProxyKind, namespace: &Arc<str>) -> Arc<Scope> {
        self.scopes.get(self, kind, namespace)
    }

    pub fn endpoints_of(&self, key: &ServiceKey) -> Option<&Arc<ServiceEndpoints>> {
        self.endpoints.get(key)
    }

    /// The proxy as builders may see it, with what the mesh knows of its workload.
    pub fn attributes(&self, proxy: &Arc<Proxy>) -> Attributes {
        Attributes::new(Arc::new(self.facts(proxy)))
    }

    pub(crate) fn facts(&self, proxy: &Arc<Proxy>) -> Facts {
        let targets = self.workloads.targets(proxy, &self.services);
        let scope = self.scope(proxy.kind, &proxy.namespace);
        Facts::new(Arc::clone(proxy), self.workloads.of(proxy), targets, scope)
    }

    /// The same in all snapshots of a store between which nothing moved that is known of proxies.
    pub(crate) fn stamp(&self) -> Stamp {
        Stamp { store: self.store, moved: self.versions.of_proxies() }
    }
}

/// What both tell; the same list as before if it says the same.
fn together(
    last: Option<&Arc<Snapshot>>,
    registry: &[Problem],
    config: Arc<Vec<Problem>>,
) -> Arc<Vec<Problem>> {
    if registry.is_empty() {
        return config;
    }
    let all = [config.as_slice(), registry].concat();
    match last {
        Some(last) if *last.problems == all => Arc::clone(&last.problems),
        _ => Arc::new(all),
    }
}
