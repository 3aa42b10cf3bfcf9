//! What holds for the traffic to a host, a subset of it, or one of its ports.

use crate::{
    Findings,
    parts::{client_tls, connection_pool, load_balancer, outlier_detection},
    value::{
        host::{fqdn, is_ip},
        number::port,
    },
};
use mizzen_api::proto::istio::networking::v1alpha3::{
    ClientTlsSettings, ConnectionPoolSettings, LoadBalancerSettings, OutlierDetection, TrafficPolicy,
    traffic_policy::{PortTrafficPolicy, TunnelSettings, proxy_protocol::Version},
};
use mizzen_text::At;

pub(super) fn check(namespace: &str, policy: &TrafficPolicy, at: &At<'_>, found: &mut Findings) {
    let common = Common {
        outlier: policy.outlier_detection.as_ref(),
        pool: policy.connection_pool.as_ref(),
        balancer: policy.load_balancer.as_ref(),
        tls: policy.tls.as_ref(),
    };
    if common.is_empty()
        && policy.port_level_settings.is_empty()
        && policy.tunnel.is_none()
        && policy.proxy_protocol.is_none()
        && policy.retry_budget.is_none()
    {
        found.error(at, "traffic policy must have at least one field");
    }
    if policy.tunnel.is_some() && policy.proxy_protocol.is_some() {
        found.error(at, "tunnel and proxyProtocol must not be set together");
    }
    common.check(namespace, at, found);
    let ports = at.field("portLevelSettings");
    for (index, policy) in policy.port_level_settings.iter().enumerate() {
        let mut own = Findings::default();
        port_level(namespace, policy, &ports.index(index), &mut own);
        found.extend_errors(own);
    }
    if let Some(settings) = &policy.tunnel {
        tunnel(settings, &at.field("tunnel"), found);
    }
    if let Some(settings) = &policy.proxy_protocol
        && Version::try_from(settings.version).is_err()
    {
        let at = at.field("proxyProtocol");
        found.error(&at.field("version"), format!("proxy protocol version is invalid: {}", settings.version));
    }
}

/// What can be said of a single port as well.
struct Common<'a> {
    outlier: Option<&'a OutlierDetection>,
    pool: Option<&'a ConnectionPoolSettings>,
    balancer: Option<&'a LoadBalancerSettings>,
    tls: Option<&'a ClientTlsSettings>,
}

impl Common<'_> {
    fn is_empty(&self) -> bool {
        self.outlier.is_none() && self.pool.is_none() && self.balancer.is_none() && self.tls.is_none()
    }

    fn check(&self, namespace: &str, at: &At<'_>, found: &mut Findings) {
        if let Some(outlier) = self.outlier {
            outlier_detection::check(outlier, &at.field("outlierDetection"), found);
        }
        if let Some(pool) = self.pool {
            connection_pool::check(pool, &at.field("connectionPool"), found);
        }
        if let Some(balancer) = self.balancer {
            load_balancer::check(balancer, self.outlier, &at.field("loadBalancer"), found);
        }
        if let Some(tls) = self.tls {
            client_tls::check(namespace, tls, &at.field("tls"), found);
        }
    }
}

fn port_level(namespace: &str, policy: &PortTrafficPolicy, at: &At<'_>, found: &mut Findings) {
    if policy.port.is_none() {
        found.error(&at.field("port"), "portLevelSettings must have a valid port");
    }
    let common = Common {
        outlier: policy.outlier_detection.as_ref(),
        pool: policy.connection_pool.as_ref(),
        balancer: policy.load_balancer.as_ref(),
        tls: policy.tls.as_ref(),
    };
    if common.is_empty() {
        found.error(at, "port traffic policy must have at least one field");
    }
    common.check(namespace, at, found);
}

fn tunnel(tunnel: &TunnelSettings, at: &At<'_>, found: &mut Findings) {
    if !matches!(tunnel.protocol.as_str(), "" | "CONNECT" | "POST") {
        found.error(
            &at.field("protocol"),
            format!("tunnel protocol must be \"CONNECT\" or \"POST\", not {:?}", tunnel.protocol),
        );
    }
    if !is_ip(&tunnel.target_host)
        && let Err(why) = fqdn(&tunnel.target_host)
    {
        found.error(
            &at.field("targetHost"),
            format!("tunnel target host must be valid FQDN or IP address: {why}"),
        );
    }
    if let Err(why) = port(tunnel.target_port) {
        found.error(&at.field("targetPort"), format!("tunnel target port is invalid: {why}"));
    }
}
