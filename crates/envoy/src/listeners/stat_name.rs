//! Names of statistics after a pattern of the mesh configuration (`outboundClusterStatName` and its like).

use mizzen_mesh::{Registry, Service};

/// What a pattern may name.
pub(super) struct Named<'a> {
    pub(super) host: &'a str,
    /// Where the host is one of the registry.
    pub(super) service: Option<&'a Service>,
    pub(super) subset: &'a str,
    pub(super) port: u32,
    pub(super) port_name: &'a str,
}

impl Named<'_> {
    /// `otherwise` where there is no pattern.
    pub(super) fn after(&self, pattern: &str, otherwise: &str) -> String {
        if pattern.is_empty() {
            return otherwise.to_owned();
        }
        let of_cluster = self.service.filter(|service| service.registry == Registry::Kubernetes);
        let (short, name) = match of_cluster {
            Some(service) => (format!("{}.{}", service.name, service.namespace()), service.name.to_string()),
            None => (self.host.to_owned(), self.host.to_owned()),
        };
        pattern
            .replace("%SERVICE%", &short)
            .replace("%SERVICE_NAME%", &name)
            .replace("%SERVICE_FQDN%", self.host)
            .replace("%SUBSET_NAME%", self.subset)
            .replace("%TARGET_PORT%", "0")
            .replace("%SERVICE_PORT%", &self.port.to_string())
            .replace("%SERVICE_PORT_NAME%", self.port_name)
    }
}
