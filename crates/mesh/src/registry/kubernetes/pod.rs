//! A pod, kept small, and as a workload.

use super::owner::owner;
use crate::{
    Labels, Locality, NamedPort, TlsMode, Workload, WorkloadKind, input,
    registry::{ObjectKey, facts::Facts, names::Names},
};
use std::sync::Arc;

const TLS_MODE: &str = "security.istio.io/tlsMode";

/// What the mesh needs of a pod. The object itself is not kept.
#[derive(Debug, PartialEq)]
pub(in crate::registry) struct Pod {
    labels: Arc<Labels>,
    account: Arc<str>,
    node: Arc<str>,
    addresses: Vec<Arc<str>>,
    hostname: Arc<str>,
    subdomain: Arc<str>,
    owner: Arc<str>,
    ports: Arc<[NamedPort]>,
    /// It serves: entries that select it count it.
    pub(in crate::registry) serves: bool,
}

impl Pod {
    /// Nothing for a failed one: it is over, though its object stays.
    pub(in crate::registry) fn read(pod: &input::Pod, names: &mut Names) -> Option<Self> {
        let input::Pod { metadata, spec, status, .. } = pod;
        if status.phase == "Failed" {
            return None;
        }
        let mut addresses: Vec<Arc<str>> = Vec::with_capacity(1);
        for ip in std::iter::once(&status.pod_ip).chain(status.pod_ips.iter().map(|ip| &ip.ip)) {
            if !ip.is_empty() && !addresses.iter().any(|known| **known == **ip) {
                addresses.push(names.text(ip));
            }
        }
        let ready =
            status.conditions.iter().any(|condition| condition.kind == "Ready" && condition.status == "True");
        let hostname = match (spec.subdomain.as_str(), spec.hostname.as_str()) {
            ("", _) => "",
            (_, "") => &metadata.name,
            (_, hostname) => hostname,
        };
        // Kubernetes' own default, which files have not been through.
        let account =
            if spec.service_account_name.is_empty() { "default" } else { &spec.service_account_name };
        Some(Self {
            serves: ready && !status.pod_ip.is_empty() && !pod.deleting && status.phase != "Succeeded",
            labels: names.map(&metadata.labels),
            account: names.text(account),
            node: names.text(&spec.node_name),
            addresses,
            hostname: names.text(hostname),
            subdomain: names.text(&spec.subdomain),
            owner: names.text(owner(pod)),
            ports: ports(&spec.containers, &spec.init_containers, names),
        })
    }

    pub(in crate::registry) fn node(&self) -> &str {
        &self.node
    }

    pub(in crate::registry) fn workload(
        &self,
        key: &ObjectKey,
        facts: &Facts,
        names: &mut Names,
    ) -> Workload {
        let locality = Locality::of_labels(&self.labels)
            .or_else(|| facts.nodes.get(&self.node).cloned())
            .unwrap_or_default();
        let address = self.addresses.first().map_or("", |address| address);
        let network = facts.network(address, &self.labels, names);
        Workload {
            kind: WorkloadKind::Pod,
            name: Arc::clone(&key.name),
            namespace: Arc::clone(&key.namespace),
            owner: Arc::clone(&self.owner),
            addresses: self.addresses.clone(),
            labels: facts.labels(&self.labels, &locality, &self.node, &network, names),
            service_account: names.text(&facts.account(&key.namespace, &self.account)),
            locality,
            network,
            cluster: Arc::clone(&facts.settings.cluster),
            node: Arc::clone(&self.node),
            hostname: Arc::clone(&self.hostname),
            subdomain: Arc::clone(&self.subdomain),
            ports: Arc::clone(&self.ports),
            weight: 0,
            tls: match self.labels.get(TLS_MODE) {
                Some(mode) if &**mode == "istio" => TlsMode::Istio,
                _ => TlsMode::Disabled,
            },
        }
    }
}

/// Of the containers, and of those init containers that go on running; the first of a name counts.
fn ports(containers: &[input::Container], init: &[input::Container], names: &mut Names) -> Arc<[NamedPort]> {
    let mut ports: Vec<NamedPort> = Vec::new();
    let sidecars = init.iter().filter(|container| container.restart_policy == "Always");
    for port in containers.iter().chain(sidecars).flat_map(|container| &container.ports) {
        let udp = match port.protocol.as_str() {
            "" | "TCP" => false,
            "UDP" => true,
            _ => continue,
        };
        let Some(number) = u16::try_from(port.container_port).ok().filter(|number| *number > 0) else {
            continue;
        };
        if !port.name.is_empty() && !ports.iter().any(|known| *known.name == *port.name && known.udp == udp) {
            ports.push(NamedPort { name: names.text(&port.name), number: number.into(), udp });
        }
    }
    names.ports(&ports)
}
