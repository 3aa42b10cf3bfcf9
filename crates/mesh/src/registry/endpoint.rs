//! Endpoints, put together.

use super::{facts::Facts, names::Names};
use crate::{Endpoint, Health, Labels, Locality, TlsMode, Workload, WorkloadKind};
use std::sync::Arc;

/// A workload without a port yet.
pub(super) fn of_workload(workload: &Workload) -> Endpoint {
    Endpoint {
        // More than one family is a matter of its own.
        addresses: workload.addresses.iter().take(1).cloned().collect(),
        port: 0,
        port_name: Arc::default(),
        service_port: 0,
        labels: Arc::clone(&workload.labels),
        service_account: Arc::clone(&workload.service_account),
        locality: workload.locality.clone(),
        weight: workload.weight,
        network: Arc::clone(&workload.network),
        cluster: Arc::clone(&workload.cluster),
        workload: Arc::clone(&workload.owner),
        namespace: Arc::clone(&workload.namespace),
        hostname: Arc::clone(&workload.hostname),
        subdomain: Arc::clone(&workload.subdomain),
        node: Arc::clone(&workload.node),
        tls: workload.tls,
        health: match workload.kind {
            WorkloadKind::Pod => Health::Healthy,
            WorkloadKind::Entry => Health::Unknown,
        },
    }
}

/// An address that nothing is known of.
pub(super) fn unknown(address: &str, facts: &Facts, names: &mut Names) -> Endpoint {
    let none = Labels::new();
    let empty = names.text("");
    let network = facts.network(address, &none, names);
    Endpoint {
        addresses: Vec::new(),
        port: 0,
        port_name: Arc::clone(&empty),
        service_port: 0,
        labels: facts.labels(&none, &Locality::default(), &empty, &network, names),
        service_account: Arc::clone(&empty),
        locality: Locality::default(),
        weight: 0,
        network,
        cluster: Arc::clone(&facts.settings.cluster),
        workload: Arc::clone(&empty),
        namespace: Arc::clone(&empty),
        hostname: Arc::clone(&empty),
        subdomain: Arc::clone(&empty),
        node: empty,
        tls: TlsMode::Disabled,
        health: Health::Healthy,
    }
}
