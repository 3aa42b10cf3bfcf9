//! The endpoints of an entry's services.

use crate::{
    Endpoint, Health, Resolution, Service, TlsMode, Workload,
    input::PortName,
    registry::{endpoint, facts::Facts},
};
use std::sync::Arc;

/// An endpoint and the workload behind it; a name to resolve has none.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::registry) struct Instance {
    pub(in crate::registry) endpoint: Arc<Endpoint>,
    pub(in crate::registry) workload: Option<Arc<Workload>>,
}

/// `workloads`: those that stand in the entry, or those that it selects. `host_is_endpoint`: it has neither, so DNS is
/// asked for the host itself.
pub(in crate::registry) fn instances(
    service: &Service,
    workloads: &[Arc<Workload>],
    host_is_endpoint: bool,
    facts: &Facts,
) -> Vec<Instance> {
    if host_is_endpoint && matches!(service.resolution, Resolution::Dns | Resolution::DnsRoundRobin) {
        return of_host(service, facts);
    }
    let mut all = Vec::with_capacity(workloads.len() * service.ports.len());
    for workload in workloads {
        let is_socket = workload.addresses.first().is_some_and(|address| address.starts_with("unix://"));
        for port in &service.ports {
            let mut endpoint = endpoint::of_workload(workload);
            endpoint.port = match (is_socket, workload.port(&port.name, false), &port.target) {
                (true, _, _) => 0,
                (_, Some(number), _) if number > 0 => number,
                (_, _, Some(PortName::Number(number))) => u32::try_from(*number).unwrap_or(port.number),
                _ => port.number,
            };
            endpoint.port_name = Arc::clone(&port.name);
            endpoint.service_port = port.number;
            all.push(Instance { endpoint: Arc::new(endpoint), workload: Some(Arc::clone(workload)) });
        }
    }
    all
}

fn of_host(service: &Service, facts: &Facts) -> Vec<Instance> {
    let endpoint = |port: &crate::Port| Endpoint {
        addresses: vec![Arc::clone(&service.key.host)],
        port: match port.target {
            Some(PortName::Number(number)) => u32::try_from(number).unwrap_or(port.number),
            _ => port.number,
        },
        port_name: Arc::clone(&port.name),
        service_port: port.number,
        labels: Arc::default(),
        service_account: Arc::default(),
        locality: crate::Locality::default(),
        weight: 0,
        network: Arc::default(),
        cluster: Arc::clone(&facts.settings.cluster),
        workload: Arc::clone(&service.object),
        namespace: Arc::clone(&service.key.namespace),
        hostname: Arc::default(),
        subdomain: Arc::default(),
        node: Arc::default(),
        tls: TlsMode::Disabled,
        health: Health::Unknown,
    };
    service.ports.iter().map(|port| Instance { endpoint: Arc::new(endpoint(port)), workload: None }).collect()
}
