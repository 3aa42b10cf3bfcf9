//! The endpoints of a Kubernetes Service: those of its slices, and the WorkloadEntries that it selects.

use super::Slice;
use crate::{
    Endpoint, Port, Resolution, Service, Workload,
    input::PortName,
    registry::{ObjectKey, endpoint, facts::Facts, names::Names},
};
use std::{
    collections::{BTreeMap, HashSet},
    sync::Arc,
};

/// Who is behind an endpoint, as whoever knows all workloads says it.
pub(in crate::registry) trait Behind {
    fn pod(&self, key: &ObjectKey) -> Option<&Arc<Workload>>;

    /// A serving pod in the service's namespace with that address.
    fn address(&self, address: &str) -> Option<&Arc<Workload>>;
}

/// Whether clients' sessions stay with their endpoint.
fn keeps_sessions(service: &Service) -> bool {
    ["istio.io/persistent-session", "istio.io/persistent-session-header"]
        .iter()
        .any(|label| service.labels.get(*label).is_some_and(|value| !value.is_empty()))
}

/// `machines`: the WorkloadEntries that the service selects, by name.
pub(in crate::registry) fn endpoints(
    service: &Service,
    slices: &BTreeMap<Arc<str>, Slice>,
    behind: &dyn Behind,
    machines: &[Arc<Workload>],
    facts: &Facts,
    names: &mut Names,
) -> Vec<Endpoint> {
    let sessions = keeps_sessions(service);
    let mut all = Vec::new();
    // While a pod moves from one slice to another it is in both.
    let mut seen: HashSet<(&str, &str)> = HashSet::new();
    for slice in slices.values() {
        for slot in &slice.endpoints {
            let health = slot.health(sessions);
            for address in &slot.addresses {
                let workload = match &slot.pod {
                    // Without its pod nobody knows its account: it waits for the pod.
                    Some(key) => match behind.pod(key) {
                        Some(pod) => Some(pod),
                        None => continue,
                    },
                    None => behind.address(address),
                };
                for (name, number) in &slice.ports {
                    if !seen.insert((&**address, &**name)) {
                        continue;
                    }
                    let mut endpoint = match workload {
                        Some(workload) => endpoint::of_workload(workload),
                        None => endpoint::unknown(address, facts, names),
                    };
                    endpoint.addresses = vec![Arc::clone(address)];
                    endpoint.port = *number;
                    endpoint.port_name = Arc::clone(name);
                    endpoint.health = health;
                    all.push(endpoint);
                }
            }
        }
    }
    if service.resolution == Resolution::Endpoints {
        for port in &service.ports {
            for machine in machines {
                if let Some(number) = machine_port(port, machine) {
                    let mut endpoint = endpoint::of_workload(machine);
                    endpoint.port = number;
                    endpoint.port_name = Arc::clone(&port.name);
                    all.push(endpoint);
                }
            }
        }
    }
    all
}

/// Where a WorkloadEntry serves a port of a Kubernetes Service. Nothing if the service asks for a name that it does not
/// have.
pub(in crate::registry) fn machine_port(port: &Port, machine: &Workload) -> Option<u32> {
    let named = |name: &str| machine.port(name, false).filter(|number| *number > 0);
    match &port.target {
        Some(PortName::Name(name)) => named(name),
        Some(PortName::Number(number)) => named(&port.name).or_else(|| u32::try_from(*number).ok()),
        None => Some(port.number),
    }
}
