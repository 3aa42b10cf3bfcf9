//! An EndpointSlice, kept small.

use crate::{
    Health, input,
    registry::{ObjectKey, names::Names},
};
use std::sync::Arc;

#[derive(Debug, PartialEq)]
pub(in crate::registry) struct Slice {
    pub(super) endpoints: Vec<SliceEndpoint>,
    pub(super) ports: Vec<(Arc<str>, u32)>,
}

#[derive(Debug, PartialEq)]
pub(super) struct SliceEndpoint {
    pub(super) addresses: Vec<Arc<str>>,
    /// Without one, somebody else than Kubernetes looks after the slice.
    pub(super) pod: Option<ObjectKey>,
    ready: bool,
    serving: bool,
    terminating: bool,
}

impl Slice {
    /// With the name of its service; nothing for a slice that is of no service of this cluster.
    pub(in crate::registry) fn read(
        slice: &input::EndpointSlice,
        names: &mut Names,
    ) -> Option<(Arc<str>, Self)> {
        let service = slice.service().filter(|service| !service.is_empty())?;
        // Copied from elsewhere, for a service of many clusters.
        if slice.metadata.labels.contains_key("multicluster.kubernetes.io/service-name") {
            return None;
        }
        let mut endpoints = Vec::new();
        // Names are for DNS to resolve; nothing here would.
        if slice.address_type != "FQDN" {
            endpoints.extend(
                slice
                    .endpoints
                    .iter()
                    .map(|endpoint| SliceEndpoint::read(endpoint, &slice.metadata.namespace, names)),
            );
        }
        let ports = slice.ports.iter().map(|port| {
            let number = port.port.and_then(|number| u16::try_from(number).ok()).unwrap_or(0);
            (names.text(&port.name), number.into())
        });
        let ports = ports.collect();
        Some((names.text(service), Self { endpoints, ports }))
    }

    /// The pods that it names.
    pub(in crate::registry) fn pods(&self) -> impl Iterator<Item = &ObjectKey> {
        self.endpoints.iter().filter_map(|endpoint| endpoint.pod.as_ref())
    }

    /// The addresses without a pod named beside them.
    pub(in crate::registry) fn loose(&self) -> impl Iterator<Item = &Arc<str>> {
        self.endpoints
            .iter()
            .filter(|endpoint| endpoint.pod.is_none())
            .flat_map(|endpoint| &endpoint.addresses)
    }
}

impl SliceEndpoint {
    fn read(endpoint: &input::SliceEndpoint, namespace: &str, names: &mut Names) -> Self {
        let conditions = &endpoint.conditions;
        Self {
            addresses: endpoint.addresses.iter().map(|address| names.text(address)).collect(),
            pod: endpoint.target_ref.as_ref().filter(|target| target.kind == "Pod").map(|target| ObjectKey {
                namespace: names.text(if target.namespace.is_empty() {
                    namespace
                } else {
                    &target.namespace
                }),
                name: names.text(&target.name),
            }),
            // What is not said counts as yes, for each of them.
            ready: conditions.ready.unwrap_or(true),
            serving: conditions.serving.unwrap_or(true),
            terminating: conditions.terminating.unwrap_or(true),
        }
    }

    /// `sessions`: the service keeps its clients' sessions, so those that end are still wanted by their clients.
    pub(super) fn health(&self, sessions: bool) -> Health {
        match self {
            Self { ready: true, .. } => Health::Healthy,
            Self { serving: true, terminating: true, .. } if sessions => Health::Draining,
            Self { terminating: true, .. } => Health::Terminating,
            Self { .. } => Health::Unhealthy,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::Conditions;

    #[test]
    fn health_is_what_the_conditions_say_and_unsaid_is_yes() {
        let (yes, no) = (Some(true), Some(false));
        for (ready, serving, terminating, sessions, health) in [
            (yes, yes, no, false, Health::Healthy),
            (None, None, None, false, Health::Healthy),
            (yes, no, yes, true, Health::Healthy),
            (no, no, no, false, Health::Unhealthy),
            (no, None, None, false, Health::Terminating),
            (no, yes, yes, false, Health::Terminating),
            (no, yes, yes, true, Health::Draining),
            (no, no, yes, true, Health::Terminating),
            (no, None, None, true, Health::Draining),
            (no, yes, no, true, Health::Unhealthy),
        ] {
            let conditions = Conditions { ready, serving, terminating };
            let endpoint = input::SliceEndpoint { conditions: conditions.clone(), ..Default::default() };
            let endpoint = SliceEndpoint::read(&endpoint, "default", &mut Names::default());
            assert_eq!(endpoint.health(sessions), health, "{conditions:?} {sessions}");
        }
    }
}
