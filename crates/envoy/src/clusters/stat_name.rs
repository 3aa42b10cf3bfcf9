//! The names under which clusters are counted, by a pattern of the mesh configuration.

use mizzen_mesh::{Port, Registry, Service};

/// `target_port` is 0 for clients.
pub(super) fn stat_name(
    pattern: &str,
    service: &Service,
    subset: &str,
    port: &Port,
    target_port: u32,
) -> String {
    let (short, name) = match service.registry {
        Registry::Kubernetes => (format!("{}.{}", service.name, service.namespace()), &*service.name),
        Registry::External => (service.host().to_owned(), service.host()),
    };
    let mut prefix = pattern
        .replace("%SERVICE%", &short)
        .replace("%SERVICE_NAME%", name)
        .replace("%SERVICE_FQDN%", service.host())
        .replace("%SUBSET_NAME%", subset)
        .replace("%TARGET_PORT%", &target_port.to_string())
        .replace("%SERVICE_PORT%", &port.number.to_string())
        .replace("%SERVICE_PORT_NAME%", &port.name);
    // Envoy ends a name at its statistics' delimiter.
    prefix.push(';');
    prefix
}

#[cfg(test)]
mod tests {
    use super::stat_name;
    use mizzen_mesh::{Port, Protocol, Registry, Resolution, Service, ServiceKey, TrafficDistribution, Visibility};
    use std::sync::Arc;

    fn mk_service(registry: Registry) -> Service {
        Service {
            key: ServiceKey { host: "reviews.shop.svc.cluster.local".into(), namespace: "shop".into() },
            name: "reviews".into(),
            registry,
            ports: Vec::new(),
            addresses: Vec::new(),
            allocated: Vec::new(),
            resolution: Resolution::Endpoints,
            external: false,
            visibility: Visibility::Public,
            created: Arc::default(),
            labels: Arc::default(),
            selector: Arc::default(),
            subject_alt_names: Vec::new(),
            external_name: Arc::default(),
            publish_not_ready: false,
            session_affinity: false,
            node_local: false,
            traffic_distribution: TrafficDistribution::Any,
            external_addresses: Vec::new(),
            headless: false,
            kind: Arc::default(),
        }
    }

    #[test]
    fn every_placeholder_is_replaced() {
        let port = Port { name: "http-web".into(), number: 80, protocol: Protocol::Http, target: None };
        for (pattern, registry, expected) in [
            ("%SERVICE%", Registry::Kubernetes, "reviews.shop;"),
            ("%SERVICE%", Registry::External, "reviews.shop.svc.cluster.local;"),
            ("%SERVICE_NAME%", Registry::Kubernetes, "reviews;"),
            ("%SERVICE_NAME%", Registry::External, "reviews.shop.svc.cluster.local;"),
            ("%SERVICE_FQDN%_%SERVICE_PORT%", Registry::Kubernetes, "reviews.shop.svc.cluster.local_80;"),
            ("%SERVICE_PORT_NAME%.%SUBSET_NAME%.%TARGET_PORT%", Registry::Kubernetes, "http-web.v1.8080;"),
            ("%OTHER%", Registry::Kubernetes, "%OTHER%;"),
        ] {
            assert_eq!(stat_name(pattern, &mk_service(registry), "v1", &port, 8080), expected, "{pattern}");
        }
    }
}
