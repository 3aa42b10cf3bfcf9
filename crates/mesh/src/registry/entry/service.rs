//! A ServiceEntry → services, one for each of its hosts and addresses.

use crate::{
    Port, Protocol, Registry, Resolution, Service, ServiceKey, TrafficDistribution, Visibility,
    input::PortName,
    registry::{facts::Facts, names::Names, networks::Range},
};
use mizzen_api::{
    Metadata, Object,
    proto::istio::networking::v1alpha3::{
        ServiceEntry, ServicePort,
        service_entry::{Location, Resolution as Entry},
    },
};
use serde_json::Value;
use std::{net::IpAddr, sync::Arc};

/// The reason, if it cannot be one.
pub(in crate::registry) fn services(
    object: &Object,
    entry: &ServiceEntry,
    facts: &Facts,
    names: &mut Names,
) -> Result<Vec<Service>, String> {
    let metadata = &object.metadata;
    if entry.hosts.iter().all(String::is_empty) {
        return Err("a ServiceEntry needs a host".to_owned());
    }
    let ports = entry.ports.iter().map(|port| self::port(port, names)).collect::<Result<Vec<_>, _>>()?;
    let addresses: Vec<Arc<str>> = entry.addresses.iter().filter_map(|text| address(text)).collect();
    if addresses.is_empty() && !entry.addresses.is_empty() {
        return Err(format!("none of the addresses is one: {}", entry.addresses.join(", ")));
    }
    let namespace = names.text(&metadata.namespace);
    let labels = names.map(&metadata.labels);
    let selector = match &entry.workload_selector {
        Some(selector) => names.map(&selector.labels),
        None => Arc::default(),
    };
    let like = |host: &str, addresses: Vec<Arc<str>>, allocated| Service {
        key: ServiceKey { host: host.into(), namespace: Arc::clone(&namespace) },
        name: host.into(),
        object: metadata.name.as_str().into(),
        registry: Registry::External,
        ports: ports.clone(),
        addresses,
        allocated,
        resolution: Resolution::of(entry),
        external: entry.location() == Location::MeshExternal,
        visibility: Visibility::read(
            &entry.export_to,
            &namespace,
            &facts.settings.mesh.default_service_export_to,
        ),
        created: metadata.creation_timestamp.as_str().into(),
        labels: Arc::clone(&labels),
        selector: Arc::clone(&selector),
        subject_alt_names: entry.subject_alt_names.iter().map(|name| Arc::from(name.as_str())).collect(),
        external_name: Arc::default(),
        publish_not_ready: false,
        session_affinity: false,
        node_local: false,
        traffic_distribution: wish(metadata, facts),
        external_addresses: Vec::new(),
        headless: false,
        kind: Arc::default(),
    };
    let mut services = Vec::with_capacity(entry.hosts.len() * addresses.len().max(1));
    for host in entry.hosts.iter().filter(|host| !host.is_empty()) {
        if addresses.is_empty() {
            services.push(like(host, Vec::new(), allocated(object, entry, host)));
        }
        services.extend(addresses.iter().map(|address| like(host, vec![Arc::clone(address)], Vec::new())));
    }
    Ok(services)
}

fn port(port: &ServicePort, names: &mut Names) -> Result<Port, String> {
    let number = |number: u32| u16::try_from(number).ok().filter(|number| *number > 0);
    if number(port.number).is_none() || (port.target_port != 0 && number(port.target_port).is_none()) {
        return Err(format!(
            "the port {} (target {}) of {:?} is not between 1 and 65535",
            port.number, port.target_port, port.name
        ));
    }
    Ok(Port {
        name: names.text(&port.name),
        number: port.number,
        protocol: Protocol::parse(&port.protocol),
        target: i32::try_from(port.target_port).ok().filter(|target| *target > 0).map(PortName::Number),
    })
}

/// An address or a range; a range of one address is that address.
fn address(text: &str) -> Option<Arc<str>> {
    if text.parse::<IpAddr>().is_ok() {
        return Some(text.into());
    }
    let range = Range::parse(text)?;
    Some(if range.length == range.bits() { range.address.to_string().into() } else { text.into() })
}

impl Resolution {
    pub(in crate::registry) fn of(entry: &ServiceEntry) -> Self {
        match entry.resolution() {
            Entry::None => Self::Passthrough,
            Entry::Static => Self::Endpoints,
            Entry::Dns => Self::Dns,
            Entry::DnsRoundRobin => Self::DnsRoundRobin,
            Entry::DynamicDns => Self::DynamicDns,
        }
    }
}

fn wish(metadata: &Metadata, facts: &Facts) -> TrafficDistribution {
    match metadata.annotations.get("networking.istio.io/traffic-distribution").map_or("", String::as_str) {
        "" => facts.traffic_distribution(&metadata.namespace),
        text => TrafficDistribution::parse(text).unwrap_or_default(),
    }
}

/// What a controller gave the host, IPv4 first. A controller may have written it before the user had an address or asked for none.
fn allocated(object: &Object, entry: &ServiceEntry, host: &str) -> Vec<Arc<str>> {
    let refused = object
        .metadata
        .labels
        .get("networking.istio.io/enable-autoallocate-ip")
        .is_some_and(|value| value.eq_ignore_ascii_case("false"));
    if refused || entry.resolution() == Entry::None {
        return Vec::new();
    }
    let listed = object.status.as_ref().and_then(|status| status.get("addresses")).and_then(Value::as_array);
    let (mut v4, mut v6) = (None, None);
    for address in listed.into_iter().flatten() {
        if address.get("host").and_then(Value::as_str) != Some(host) {
            continue;
        }
        match address.get("value").and_then(Value::as_str).and_then(|value| value.parse().ok()) {
            Some(IpAddr::V4(address)) => v4 = Some(address.to_string().into()),
            Some(IpAddr::V6(address)) => v6 = Some(address.to_string().into()),
            None => {}
        }
    }
    v4.into_iter().chain(v6).collect()
}
