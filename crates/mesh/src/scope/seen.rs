//! The services that a namespace sees.

use super::{
    made::Made,
    selection::{self, Merging},
};
use crate::{
    Attributes, Service, Snapshot,
    config::{DestinationRule, Rules},
    services::Aliases,
};
use std::{collections::HashMap, sync::Arc};

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

    pub(super) fn new(snapshot: &Snapshot, viewer: &Viewer, made: &Made) -> Self {
        let namespace = viewer.namespace.as_deref();
        let mut offered = selection::exported(snapshot, namespace);
        if !viewer.router {
            selection::one_namespace_each(&mut offered, namespace);
        }
        let mut merging = Merging::new(made, offered.len());
        for service in &offered {
            merging.add(service);
        }
        if !viewer.router
            && let Some(namespace) = namespace
            && snapshot.services.hides(namespace)
        {
            for service in selection::routed_to(snapshot, namespace, made) {
                merging.add(&service);
            }
        }
        let (services, by_host) = (merging.services, merging.by_host);
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
