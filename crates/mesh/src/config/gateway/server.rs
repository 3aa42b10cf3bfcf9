//! One server of a Gateway.

use crate::{Key, Protocol};
use mizzen_api::proto::istio::networking::v1alpha3::{self, server_tls_settings::TlSmode};
use std::{collections::BTreeSet, sync::Arc};

#[derive(Debug, PartialEq)]
pub struct Server {
    /// The Gateway that it is of.
    pub gateway: Key,
    /// `namespace/name`, as VirtualServices name it.
    pub gateway_name: Arc<str>,
    pub port: v1alpha3::Port,
    pub protocol: Protocol,
    /// Hosts as `namespace/host` (only VirtualServices of that namespace) or `host` (of all): `.` and `*` are resolved.
    pub spec: v1alpha3::Server,
}

impl Server {
    /// Nothing if it has no port.
    pub(super) fn read(gateway: &Key, spec: &v1alpha3::Server) -> Option<Self> {
        let port = spec.port.clone()?;
        let mut spec = spec.clone();
        let mut hosts = Vec::with_capacity(spec.hosts.len());
        for host in &spec.hosts {
            match host.split_once('/') {
                Some((".", host)) => hosts.push(format!("{}/{host}", gateway.namespace)),
                Some(("*", "*")) => {
                    hosts = vec!["*".to_owned()];
                    break;
                }
                Some(("*", host)) => hosts.push(host.to_owned()),
                _ => hosts.push(host.clone()),
            }
        }
        spec.hosts = hosts;
        Some(Self {
            gateway: gateway.clone(),
            gateway_name: format!("{}/{}", gateway.namespace, gateway.name).into(),
            protocol: Protocol::parse(&port.protocol),
            port,
            spec,
        })
    }

    /// TLS is not taken off here.
    pub fn is_passthrough(&self) -> bool {
        let mode = self.spec.tls.as_ref().map(v1alpha3::ServerTlsSettings::mode);
        matches!(mode, Some(TlSmode::Passthrough | TlSmode::AutoPassthrough))
    }

    /// HTTP, or HTTPS that is taken off here.
    pub fn is_http(&self) -> bool {
        self.protocol.is_http() || (self.protocol == Protocol::Https && !self.is_passthrough())
    }

    /// TLS in whatever way. A plain HTTP server may have settings, too: they redirect to HTTPS.
    pub fn is_tls(&self) -> bool {
        self.spec.tls.is_some() && !self.protocol.is_http()
    }

    /// Of its routes, on the port that the router listens on; empty if it has none.
    pub fn route_name(&self, port: u32) -> String {
        let bind = if self.spec.bind.is_empty() { String::new() } else { format!(".{}", self.spec.bind) };
        if self.protocol.is_http() {
            format!("http.{port}{bind}")
        } else if self.is_http() {
            let Self { gateway, port, .. } = self;
            format!("https.{}.{}.{}.{}{bind}", port.number, port.name, gateway.name, gateway.namespace)
        } else {
            String::new()
        }
    }

    /// The names that a client asks for in TLS, sorted.
    pub fn sni_hosts(&self) -> BTreeSet<&str> {
        self.spec.hosts.iter().map(|host| host.split('/').nth(1).unwrap_or(host)).collect()
    }
}
