//! Services and endpoints as istiod prints its own structures.

use mizzen_mesh::{
    Endpoint, Health, Labels, Protocol, Registry, Resolution, Service, Snapshot, TlsMode, Visibility,
};
use serde_json::{Map, Value, json};

pub(super) fn services(snapshot: &Snapshot) -> Vec<Value> {
    snapshot.services.all.iter().map(|found| service(found, &snapshot.settings.cluster)).collect()
}

fn service(service: &Service, cluster: &str) -> Value {
    let kubernetes = service.registry == Registry::Kubernetes;
    let list = |items: &[std::sync::Arc<str>]| items.iter().map(|item| json!(**item)).collect::<Vec<_>>();
    let by_cluster = |items: &[std::sync::Arc<str>]| match items.is_empty() {
        true => Value::Null,
        false => json!({ cluster: list(items) }),
    };
    let export_to = match &service.visibility {
        Visibility::Public => Value::Null,
        Visibility::Nobody => json!({ "~": {} }),
        Visibility::Namespaces(names) => names.iter().map(|name| (name.to_string(), json!({}))).collect(),
    };
    let mut shown = json!({
        "Attributes": {
            "ServiceRegistry": if kubernetes { "Kubernetes" } else { "External" },
            "Name": *service.name,
            "Namespace": service.namespace(),
            "Labels": labels(&service.labels),
            "ExportTo": export_to,
            "LabelSelectors": labels(&service.selector),
            "Aliases": null,
            "ClusterExternalAddresses": { "Addresses": by_cluster(&service.external_addresses) },
            "ClusterExternalPorts": null,
            "Type": *service.kind,
            "ExternalName": *service.external_name,
            "NodeLocal": service.node_local,
            "ObjectName": if kubernetes { "" } else { &*service.object },
            "PublishNotReadyAddresses": service.publish_not_ready,
        },
        "ports": service.ports.iter().map(port).collect::<Vec<_>>(),
        "creationTime": *service.created,
        "hostname": service.host(),
        "clusterVIPs": { "Addresses": by_cluster(&service.addresses) },
        "defaultAddress": service.addresses.first().map_or("0.0.0.0", |first| &**first),
        "Resolution": resolution(service.resolution),
        "MeshExternal": service.external,
    });
    for address in &service.allocated {
        let family =
            if address.contains(':') { "autoAllocatedIPv6Address" } else { "autoAllocatedIPv4Address" };
        shown[family] = json!(**address);
    }
    shown
}

fn port(port: &mizzen_mesh::Port) -> Value {
    json!({ "name": *port.name, "port": port.number, "protocol": protocol(port.protocol) })
}

fn labels(labels: &Labels) -> Value {
    match labels.is_empty() {
        true => Value::Null,
        false => labels.iter().map(|(name, value)| (name.to_string(), json!(**value))).collect(),
    }
}

/// Istio's numbers.
fn resolution(resolution: Resolution) -> u8 {
    match resolution {
        Resolution::Endpoints => 0,
        Resolution::Dns => 1,
        Resolution::Passthrough => 2,
        Resolution::DnsRoundRobin => 3,
        Resolution::Alias => 4,
        Resolution::DynamicDns => 5,
    }
}

fn protocol(protocol: Protocol) -> &'static str {
    match protocol {
        Protocol::Http => "HTTP",
        Protocol::Http2 => "HTTP2",
        Protocol::Grpc => "GRPC",
        Protocol::GrpcWeb => "GRPC-Web",
        Protocol::Https => "HTTPS",
        Protocol::Tcp => "TCP",
        Protocol::Tls => "TLS",
        Protocol::Udp => "UDP",
        Protocol::Mongo => "Mongo",
        Protocol::Redis => "Redis",
        Protocol::Mysql => "MySQL",
        Protocol::Hbone => "HBONE",
        Protocol::DoubleHbone => "DOUBLE-HBONE",
        Protocol::Unsupported => "UnsupportedProtocol",
    }
}

/// Host → namespace → where it is known from → endpoints.
pub(super) fn shards(snapshot: &Snapshot) -> Value {
    let mut hosts: Map<String, Value> = Map::new();
    for (key, endpoints) in snapshot.endpoints.iter() {
        let registry = match snapshot.services.by_key.get(key).map(|service| service.registry) {
            Some(Registry::External) => "External",
            Some(Registry::Kubernetes) | None => "Kubernetes",
        };
        let mut shards: Map<String, Value> = Map::new();
        for found in &endpoints.endpoints {
            let shard = shards.entry(format!("{registry}/{}", found.cluster)).or_insert_with(|| json!([]));
            if let Value::Array(shard) = shard {
                shard.push(endpoint(found));
            }
        }
        let accounts: Map<String, Value> =
            endpoints.accounts.iter().map(|account| (account.to_string(), json!({}))).collect();
        let host = hosts.entry(key.host.to_string()).or_insert_with(|| json!({}));
        host[&*key.namespace] = json!({ "Shards": shards, "ServiceAccounts": accounts });
    }
    Value::Object(hosts)
}

fn endpoint(endpoint: &Endpoint) -> Value {
    let health = match endpoint.health {
        Health::Unknown => 0,
        Health::Healthy => 1,
        Health::Unhealthy => 2,
        Health::Draining => 3,
        Health::Terminating => 4,
    };
    let locality = &endpoint.locality;
    let locality = [&locality.region, &locality.zone, &locality.subzone].map(|part| &**part).join("/");
    json!({
        "Labels": labels(&endpoint.labels),
        "Addresses": endpoint.addresses.iter().map(|address| &**address).collect::<Vec<_>>(),
        "ServicePortName": *endpoint.port_name,
        "ServiceAccount": *endpoint.service_account,
        "Network": *endpoint.network,
        "Locality": { "Label": locality.trim_end_matches('/'), "ClusterID": *endpoint.cluster },
        "EndpointPort": endpoint.port,
        "LbWeight": endpoint.weight,
        "TLSMode": if endpoint.tls == TlsMode::Istio { "istio" } else { "disabled" },
        "Namespace": *endpoint.namespace,
        "WorkloadName": *endpoint.workload,
        "HostName": *endpoint.hostname,
        "SubDomain": *endpoint.subdomain,
        "HealthStatus": health,
        "NodeName": *endpoint.node,
    })
}
