//! Who runs where, and which services' ports it serves.

use super::{ObjectKey, kubernetes::machine_port, selectors::Selectors, shards::Shards};
use crate::{
    ByPointer, Labels, Port, Protocol, Proxy, Registry, Resolution, Service, ServiceKey, Services, Workload,
    input::PortName, proxy::Target,
};
use serde::Deserialize;
use serde_json::Value;
use std::{net::IpAddr, sync::Arc};

#[derive(Clone, Debug, Default)]
pub struct Workloads {
    /// Of the Kubernetes objects.
    pub(super) cluster: Arc<str>,
    pub(super) pods: Shards<ObjectKey, Arc<Workload>>,
    /// WorkloadEntries that Kubernetes Services can select, by address, then by namespace and name.
    pub(super) machines: Shards<IpAddr, Vec<Arc<Workload>>>,
    pub(super) selectors: Selectors,
    /// What ServiceEntries have at an address.
    pub(super) entries: Shards<IpAddr, Vec<EntryTarget>>,
    /// What Kubernetes Services without a selector have at an address.
    pub(super) loose: Shards<IpAddr, Vec<LooseTarget>>,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct EntryTarget {
    pub(super) service: ServiceKey,
    /// The ServiceEntry.
    pub(super) object: Arc<str>,
    pub(super) port: Port,
    pub(super) target_port: u32,
    pub(super) workload: Arc<Workload>,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct LooseTarget {
    pub(super) service: ServiceKey,
    pub(super) port_name: Arc<str>,
    pub(super) target_port: u32,
}

impl Workloads {
    /// The proxy's own workload: the pod of its name, else what a ServiceEntry in its namespace has at its address.
    pub fn of(&self, proxy: &Proxy) -> Option<&Arc<Workload>> {
        if !self.is_here(proxy) {
            return None;
        }
        self.pod(proxy).or_else(|| self.entry_targets(proxy).map(|target| &target.workload).next())
    }

    /// The ports that the proxy's workload serves, over all services: older services first, then by host.
    pub fn targets(&self, proxy: &Proxy, services: &Services) -> Arc<[Target]> {
        let mut targets = Vec::new();
        if self.is_here(proxy) {
            self.kubernetes(proxy, services, &mut targets);
        }
        for target in self.entry_targets(proxy) {
            let is_it = |service: &&Arc<Service>| {
                service.registry == Registry::External
                    && service.key.namespace == target.service.namespace
                    && service.object == target.object
            };
            if let Some(service) =
                services.by_host.get(&target.service.host).and_then(|all| all.iter().find(is_it))
            {
                let target_port = target.target_port;
                targets.push(Target { service: service.into(), port: target.port.clone(), target_port });
            }
        }
        targets.sort_by(|a, b| {
            (&a.service.created, &a.service.key.host).cmp(&(&b.service.created, &b.service.key.host))
        });
        targets.into()
    }

    fn is_here(&self, proxy: &Proxy) -> bool {
        proxy.cluster.is_empty() || proxy.cluster == self.cluster
    }

    fn pod(&self, proxy: &Proxy) -> Option<&Arc<Workload>> {
        let (name, namespace) = proxy.name.split_once('.')?;
        if namespace != &*proxy.namespace {
            return None;
        }
        self.pods.get(&ObjectKey { namespace: Arc::clone(&proxy.namespace), name: name.into() })
    }

    fn entry_targets<'a, 'b>(
        &'a self,
        proxy: &'b Proxy,
    ) -> impl Iterator<Item = &'a EntryTarget> + use<'a, 'b> {
        let at = |address| self.entries.get(address).into_iter().flatten();
        let mine = |target: &&'a EntryTarget| {
            proxy.namespace.is_empty() || target.service.namespace == proxy.namespace
        };
        proxy.addresses.iter().flat_map(at).filter(mine)
    }

    fn kubernetes(&self, proxy: &Proxy, services: &Services, targets: &mut Vec<Target>) {
        let service = |key: &ServiceKey| {
            services.by_key.get(key).filter(|found| found.registry == Registry::Kubernetes)
        };
        let selecting = |namespace: &str, labels: &Labels| -> Vec<&Arc<Service>> {
            self.selectors.matching(namespace, labels).filter_map(service).collect()
        };
        if let Some(machine) = self.machine(proxy) {
            for service in selecting(&machine.namespace, &machine.labels) {
                // Whoever asks for an address of a headless service asks for a pod's.
                if service.resolution == Resolution::Endpoints {
                    let ports = service.ports.iter().filter(|port| port.protocol != Protocol::Udp);
                    targets
                        .extend(ports.filter_map(|port| target(service, port, machine_port(port, machine)?)));
                }
            }
        } else if let Some(pod) = self.pod(proxy) {
            let selecting = selecting(&pod.namespace, &pod.labels);
            if selecting.is_empty() {
                self.loose(proxy, services, targets);
            }
            for service in selecting {
                once(service, targets, |port| container_port(port, |name, udp| pod.port(name, udp)));
            }
        } else {
            // The proxy is here before its pod: what it says of itself will do.
            let ports = pod_ports(proxy);
            for service in selecting(&proxy.namespace, &proxy.labels) {
                once(service, targets, |port| match &ports {
                    Some(ports) => container_port(port, |name, udp| {
                        let is_it = |own: &&PodPort| own.name == name && (own.protocol == "UDP") == udp;
                        ports.iter().find(is_it).and_then(|own| u32::try_from(own.container_port).ok())
                    }),
                    None => container_port(port, |_, _| None),
                });
            }
        }
    }

    /// Of several at one address the one of the proxy's name, else one of its namespace, else the first.
    fn machine(&self, proxy: &Proxy) -> Option<&Arc<Workload>> {
        let machines = self.machines.get(proxy.addresses.first()?)?;
        let (name, namespace) = proxy.name.split_once('.').unwrap_or_default();
        let mine = |machine: &&Arc<Workload>| machine.namespace == proxy.namespace;
        let same = |machine: &&Arc<Workload>| {
            mine(machine) && *machine.namespace == *namespace && *machine.name == *name
        };
        machines.iter().find(same).or_else(|| machines.iter().find(mine)).or_else(|| machines.first())
    }

    fn loose(&self, proxy: &Proxy, services: &Services, targets: &mut Vec<Target>) {
        let Some(address) = proxy.addresses.first() else { return };
        for loose in self.loose.get(address).into_iter().flatten() {
            let Some(service) = services.by_key.get(&loose.service) else { continue };
            let Some(port) = service.ports.iter().find(|port| port.name == loose.port_name) else { continue };
            if loose.service.namespace == proxy.namespace && service.registry == Registry::Kubernetes {
                targets.extend(target(service, port, loose.target_port));
            }
        }
    }
}

fn target(service: &Arc<Service>, port: &Port, target_port: u32) -> Option<Target> {
    Some(Target { service: ByPointer::from(service), port: port.clone(), target_port })
}

/// A port of the workload that two ports of the service lead to is one target, if both speak the same.
fn once(service: &Arc<Service>, targets: &mut Vec<Target>, number: impl Fn(&Port) -> Option<u32>) {
    let before = targets.len();
    for port in &service.ports {
        let Some(number) = number(port) else { continue };
        let same = |target: &Target| target.target_port == number && target.port.protocol == port.protocol;
        if !targets[before..].iter().any(same) {
            targets.extend(target(service, port, number));
        }
    }
}

fn container_port(port: &Port, named: impl Fn(&str, bool) -> Option<u32>) -> Option<u32> {
    match &port.target {
        Some(PortName::Name(name)) => named(name, port.protocol == Protocol::Udp),
        Some(PortName::Number(number)) => u32::try_from(*number).ok(),
        None => Some(port.number),
    }
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct PodPort {
    name: String,
    container_port: i64,
    protocol: String,
}

/// `POD_PORTS`, a text with JSON in it.
fn pod_ports(proxy: &Proxy) -> Option<Vec<PodPort>> {
    let text = proxy.metadata.get("POD_PORTS").and_then(Value::as_str)?;
    serde_json::from_str(text).ok().filter(|ports: &Vec<PodPort>| !ports.is_empty())
}
