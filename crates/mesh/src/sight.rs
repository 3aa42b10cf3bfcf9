//! A snapshot as builders see it. What they look at is recorded by part: something that was built need not be built again
//! while the parts that were looked at are the same.

use crate::{
    Accounts, Authentication, DestinationRules, Gateways, Resolution, ServiceEndpoints, ServiceKey, Services,
    Settings, Snapshot, VirtualServices,
};
use std::{cell::Cell, sync::Arc};

/// What a snapshot is made of, as finely as changes are told apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Part {
    Settings,
    Services,
    Endpoints,
    /// Of the endpoints only the accounts that they run as.
    Accounts,
    /// Endpoints of services that are found by name, not sent by the control plane.
    NamedEndpoints,
    VirtualServices,
    DestinationRules,
    Authentication,
    Gateways,
    /// Who runs where.
    Workloads,
}

impl Part {
    const COUNT: usize = 10;
    /// What is known of a proxy is made of these.
    const OF_PROXIES: [Self; 5] =
        [Self::Settings, Self::Services, Self::VirtualServices, Self::DestinationRules, Self::Workloads];

    fn bit(self) -> u16 {
        1 << self as u16
    }
}

/// Some of the parts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Parts(u16);

impl Parts {
    pub fn has(self, part: Part) -> bool {
        self.0 & part.bit() != 0
    }

    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    #[must_use]
    pub fn without(self, part: Part) -> Self {
        Self(self.0 & !part.bit())
    }
}

/// For each part the number of the snapshot that changed it last.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Versions([u64; Part::COUNT]);

impl Versions {
    /// Of `next`, which comes after `last` but has no versions yet.
    pub(crate) fn after(last: &Snapshot, next: &Snapshot) -> Self {
        let mut versions = last.versions;
        let mut changed = |part: Part, same: bool| {
            if !same {
                versions.0[part as usize] = next.number;
            }
        };
        changed(Part::Settings, Arc::ptr_eq(&last.settings, &next.settings));
        changed(Part::Services, Arc::ptr_eq(&last.services, &next.services));
        changed(Part::VirtualServices, Arc::ptr_eq(&last.virtual_services, &next.virtual_services));
        changed(Part::DestinationRules, Arc::ptr_eq(&last.destination_rules, &next.destination_rules));
        changed(Part::Authentication, Arc::ptr_eq(&last.authentication, &next.authentication));
        changed(Part::Gateways, Arc::ptr_eq(&last.gateways, &next.gateways));
        changed(Part::Workloads, Arc::ptr_eq(&last.workloads, &next.workloads));
        changed(Part::Endpoints, Arc::ptr_eq(&last.endpoints, &next.endpoints));
        let moved = changed_endpoints(last, next);
        let accounts = |snapshot: &Snapshot, key: &ServiceKey| -> Arc<Accounts> {
            snapshot.endpoints.get(key).map(|endpoints| Arc::clone(&endpoints.accounts)).unwrap_or_default()
        };
        changed(Part::Accounts, moved.iter().all(|key| accounts(last, key) == accounts(next, key)));
        let sent = |snapshot: &Snapshot, key: &ServiceKey| {
            snapshot
                .services
                .by_key
                .get(key)
                .is_none_or(|service| service.resolution == Resolution::Endpoints)
        };
        changed(Part::NamedEndpoints, moved.iter().all(|key| sent(last, key) && sent(next, key)));
        versions
    }

    pub(crate) fn of_proxies(&self) -> u64 {
        Part::OF_PROXIES.iter().map(|&part| self.0[part as usize]).max().unwrap_or_default()
    }
}

/// The services whose endpoints are others in `next` than in `last`.
pub fn changed_endpoints(last: &Snapshot, next: &Snapshot) -> Vec<ServiceKey> {
    next.endpoints.changed(&last.endpoints, Arc::ptr_eq).into_iter().cloned().collect()
}

pub struct Sight<'a> {
    snapshot: &'a Snapshot,
    seen: Cell<Parts>,
}

impl<'a> Sight<'a> {
    pub fn new(snapshot: &'a Snapshot) -> Self {
        Self { snapshot, seen: Cell::default() }
    }

    fn look(&self, part: Part) -> &'a Snapshot {
        self.seen.set(self.seen.get().and(Parts(part.bit())));
        self.snapshot
    }

    /// What has been looked at.
    pub fn seen(&self) -> Parts {
        self.seen.get()
    }

    /// What has been looked at since the last time, and forget it.
    pub fn take_seen(&self) -> Parts {
        self.seen.take()
    }

    /// As if all of this had been looked at: something that was built from it is used again.
    pub fn note_seen(&self, parts: Parts) {
        self.seen.set(self.seen.get().and(parts));
    }

    pub fn settings(&self) -> &'a Arc<Settings> {
        &self.look(Part::Settings).settings
    }

    pub fn services(&self) -> &'a Services {
        &self.look(Part::Services).services
    }

    pub fn endpoints_of(&self, key: &ServiceKey) -> Option<&'a Arc<ServiceEndpoints>> {
        self.look(Part::Endpoints).endpoints.get(key)
    }

    /// The accounts that the service's endpoints run as.
    pub fn accounts_of(&self, key: &ServiceKey) -> Option<&'a Arc<Accounts>> {
        self.look(Part::Accounts).endpoints.get(key).map(|endpoints| &endpoints.accounts)
    }

    /// Endpoints of a service that is found by name; `None` for one whose endpoints the control plane sends.
    pub fn named_endpoints_of(&self, key: &ServiceKey) -> Option<&'a Arc<ServiceEndpoints>> {
        let snapshot = self.look(Part::NamedEndpoints);
        let service = self.services().by_key.get(key)?;
        (service.resolution != Resolution::Endpoints).then(|| snapshot.endpoints.get(key))?
    }

    pub fn virtual_services(&self) -> &'a VirtualServices {
        &self.look(Part::VirtualServices).virtual_services
    }

    pub fn destination_rules(&self) -> &'a DestinationRules {
        &self.look(Part::DestinationRules).destination_rules
    }

    pub fn authentication(&self) -> &'a Arc<Authentication> {
        &self.look(Part::Authentication).authentication
    }

    pub fn gateways(&self) -> &'a Gateways {
        &self.look(Part::Gateways).gateways
    }
}

impl Snapshot {
    /// Whether these parts are the same in both.
    pub fn agrees(&self, other: &Self, parts: Parts) -> bool {
        (0..Part::COUNT)
            .all(|part| parts.0 & (1 << part) == 0 || self.versions.0[part] == other.versions.0[part])
    }
}
