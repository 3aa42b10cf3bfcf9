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
