//! A Kubernetes Service → a service of the mesh.

use crate::{
    Port, Protocol, Registry, Resolution, Service, ServiceKey, TrafficDistribution, Visibility, input,
    input::PortName,
    registry::{facts::Facts, names::Names},
};
use std::sync::Arc;

const EXPORT_TO: &str = "networking.istio.io/exportTo";
const TRAFFIC_DISTRIBUTION: &str = "networking.istio.io/traffic-distribution";
const CANONICAL_ACCOUNTS: &str = "alpha.istio.io/canonical-serviceaccounts";
const KUBERNETES_ACCOUNTS: &str = "alpha.istio.io/kubernetes-serviceaccounts";
const READ: [&str; 4] = [EXPORT_TO, TRAFFIC_DISTRIBUTION, CANONICAL_ACCOUNTS, KUBERNETES_ACCOUNTS];

/// What nothing reads is not kept: an annotation may hold the whole object again.
pub(in crate::registry) fn trim(service: &mut input::Service) {
    service.metadata.annotations.retain(|key, _| READ.contains(&key.as_str()));
    service.metadata.uid.clear();
    service.metadata.resource_version.clear();
}

/// The reason, if it cannot be one.
pub(in crate::registry) fn service(
    object: &input::Service,
    facts: &Facts,
    names: &mut Names,
) -> Result<Service, String> {
    let input::Service { metadata, spec, status } = object;
    if metadata.name.is_empty() || metadata.namespace.is_empty() {
        return Err("a Service needs a name and a namespace".to_owned());
    }
    let annotation = |key: &str| metadata.annotations.get(key).map_or("", String::as_str);
    let external_name = if spec.kind == "ExternalName" { spec.external_name.as_str() } else { "" };
    let headless = spec.cluster_ip == "None";
    let resolution = match (headless, external_name) {
        (true, _) => Resolution::Passthrough,
        (false, "") => Resolution::Endpoints,
        (false, _) => Resolution::Alias,
    };
    let addresses = match spec.cluster_ip.as_str() {
        "" | "None" => Vec::new(),
        _ if spec.cluster_ips.len() > 1 => spec.cluster_ips.iter().map(|ip| Arc::from(ip.as_str())).collect(),
        address => vec![Arc::from(address)],
    };
    let ports = spec.ports.iter().map(|port| self::port(port, names)).collect::<Result<_, _>>()?;
    let namespace = names.text(&metadata.namespace);
    let export_to: Vec<&str> = listed(annotation(EXPORT_TO)).map(str::trim).collect();
    Ok(Service {
        key: ServiceKey {
            host: format!("{}.{namespace}.svc.{}", metadata.name, facts.settings.domain).into(),
            namespace: Arc::clone(&namespace),
        },
        name: names.text(&metadata.name),
        object: names.text(&metadata.name),
        registry: Registry::Kubernetes,
        ports,
        addresses,
        allocated: Vec::new(),
        resolution,
        external: !external_name.is_empty(),
        visibility: Visibility::read(&export_to, &namespace, &facts.settings.mesh.default_service_export_to),
        created: names.text(&metadata.creation_timestamp),
        labels: names.map(&metadata.labels),
        selector: names.map(&spec.selector),
        subject_alt_names: accounts(
            annotation(CANONICAL_ACCOUNTS),
            annotation(KUBERNETES_ACCOUNTS),
            &namespace,
            facts,
        ),
        external_name: names.text(external_name),
        publish_not_ready: spec.publish_not_ready_addresses,
        session_affinity: spec.session_affinity == "ClientIP",
        node_local: spec.internal_traffic_policy == "Local",
        traffic_distribution: wish(
            &spec.traffic_distribution,
            annotation(TRAFFIC_DISTRIBUTION),
            &namespace,
            facts,
        ),
        external_addresses: external_addresses(spec, status),
        headless,
        kind: names.text(&spec.kind),
    })
}

fn port(port: &input::ServicePort, names: &mut Names) -> Result<Port, String> {
    let Some(number) = u16::try_from(port.port).ok().filter(|number| *number > 0) else {
        return Err(format!("the port {} of {:?} is not between 1 and 65535", port.port, port.name));
    };
    let app_protocol = port.app_protocol.as_deref();
    Ok(Port {
        name: names.text(&port.name),
        number: number.into(),
        protocol: Protocol::of_port(number.into(), &port.name, &port.protocol, app_protocol),
        // 0 and nothing are what the API server would have filled in.
        target: port.target_port.clone().filter(|target| *target != PortName::Number(0)),
    })
}

fn listed(text: &str) -> impl Iterator<Item = &str> {
    text.split(',').filter(move |_| !text.is_empty())
}

fn accounts(canonical: &str, kubernetes: &str, namespace: &str, facts: &Facts) -> Vec<Arc<str>> {
    let kubernetes = listed(kubernetes).map(|account| facts.account(namespace, account).into());
    listed(canonical).map(Arc::from).chain(kubernetes).collect()
}

/// What the service says goes before its annotation, and that before its namespace's.
fn wish(spec: &str, annotation: &str, namespace: &str, facts: &Facts) -> TrafficDistribution {
    const WORDS: [&str; 3] = ["PreferClose", "PreferSameZone", "PreferSameNode"];
    match TrafficDistribution::parse(spec).filter(|_| WORDS.contains(&spec)) {
        Some(wish) => wish,
        None if annotation.is_empty() => facts.traffic_distribution(namespace),
        None => TrafficDistribution::parse(annotation).unwrap_or_default(),
    }
}

fn external_addresses(spec: &input::ServiceSpec, status: &input::ServiceStatus) -> Vec<Arc<str>> {
    let balancers = status.load_balancer.ingress.iter().filter(|_| spec.kind == "LoadBalancer");
    let of = |ingress: &input::LoadBalancerIngress| {
        let address = if ingress.ip.is_empty() { &ingress.hostname } else { &ingress.ip };
        (!address.is_empty()).then(|| Arc::from(address.as_str()))
    };
    balancers.filter_map(of).chain(spec.external_ips.iter().map(|ip| Arc::from(ip.as_str()))).collect()
}
