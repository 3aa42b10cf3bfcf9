//! Ports that a proxy uses for itself on every address.

use crate::Context;

#[derive(Clone, Debug)]
pub(super) struct Reserved(Vec<u32>);

impl Reserved {
    pub(super) fn new(context: &Context<'_>) -> Self {
        let mesh = context.mesh();
        let of_mesh = [mesh.proxy_listen_port, mesh.proxy_inbound_listen_port];
        let mut ports: Vec<u32> = of_mesh.into_iter().filter_map(|port| u32::try_from(port).ok()).collect();
        for key in [
            "ENVOY_STATUS_PORT",
            "ENVOY_PROMETHEUS_PORT",
            "ENVOY_SECURE_METRICS_PORT",
            "ENVOY_SECURE_MERGED_METRICS_PORT",
        ] {
            ports.extend(context.proxy.metadata(key).and_then(|text| port(&text)));
        }
        Self(ports)
    }

    pub(super) fn contains(&self, port: u32) -> bool {
        self.0.contains(&port)
    }
}

/// A port in a node's metadata. Numbers come over the wire as floating ones (`15021.0`), others are texts.
pub(super) fn port(text: &str) -> Option<u32> {
    let whole = text.strip_suffix(".0").unwrap_or(text);
    whole.parse().ok().filter(|port| (1..=65_535).contains(port))
}
