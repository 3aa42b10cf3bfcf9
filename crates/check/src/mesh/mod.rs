//! Is the mesh's own configuration acceptable? In: a whole MeshConfig, ProxyConfig or MeshNetworks, with the defaults
//! already below it. Out: what Istio would refuse and what it would warn of, with paths from the top of the document.

mod connections;
mod networks;
mod providers;
mod proxy;
#[cfg(test)]
mod tests;
mod tls;

use crate::{
    Findings,
    parts::{connection_pool, locality, outlier_detection},
    value::{Verdict, host, label::is_dns_label, number},
};
use mizzen_api::proto::{
    Duration,
    istio::mesh::v1alpha1::{MeshConfig, MeshNetworks, ProxyConfig, mesh_config::DefaultTrafficPolicy},
};
use mizzen_text::At;

/// The longest wait for a connection.
const CONNECT_TIMEOUT: Duration = Duration::from_seconds(3_600);

pub fn mesh_config(mesh: &MeshConfig) -> Findings {
    let mut found = Findings::default();
    let at = At::TOP;
    found.verdict(&at.field("proxyListenPort"), port(mesh.proxy_listen_port));
    found.verdict(&at.field("connectTimeout"), connect_timeout(mesh.connect_timeout.as_ref()));
    // Nothing means for ever.
    if let Some(timeout) =
        mesh.protocol_detection_timeout.filter(|timeout| timeout.as_nanos() % 1_000_000 != 0)
    {
        found.error(
            &at.field("protocolDetectionTimeout"),
            format!("only durations to ms precision are supported, not {timeout}"),
        );
    }
    match &mesh.default_config {
        Some(config) => proxy::check(config, &at.field("defaultConfig"), &mut found),
        None => found.error(&at.field("defaultConfig"), "missing default config"),
    }
    // What fails is always found out in a mesh, so a failover needs no outlier detection beside it.
    if let Some(setting) = &mesh.locality_lb_setting {
        locality::check(setting, true, &at.field("localityLbSetting"), &mut found);
    }
    if let Some(setting) = &mesh.zone_aware_lb_setting {
        locality::zone_aware(setting, true, &at.field("zoneAwareLbSetting"), &mut found);
    }
    service_settings(mesh, &mut found);
    trust_domains(mesh, &mut found);
    providers::check(&mesh.extension_providers, &at.field("extensionProviders"), &mut found);
    tls::check(mesh, &mut found);
    if let Some(policy) = &mesh.default_traffic_policy {
        traffic_policy(policy, &at.field("defaultTrafficPolicy"), &mut found);
    }
    found
}

pub fn proxy_config(proxy: &ProxyConfig) -> Findings {
    let mut found = Findings::default();
    proxy::check(proxy, &At::TOP, &mut found);
    found
}

pub fn mesh_networks(networks: &MeshNetworks) -> Findings {
    let mut found = Findings::default();
    networks::check(networks, &mut found);
    found
}

fn port(number: i32) -> Verdict {
    u32::try_from(number)
        .map_or_else(|_| Err(format!("port number {number} must be in the range 1..65535")), number::port)
}

fn connect_timeout(timeout: Option<&Duration>) -> Verdict {
    let timeout = timeout.copied().unwrap_or_default();
    number::duration(&timeout)?;
    if timeout > CONNECT_TIMEOUT {
        return Err(format!("time {timeout} must be at most {CONNECT_TIMEOUT}"));
    }
    Ok(())
}

fn service_settings(mesh: &MeshConfig, found: &mut Findings) {
    let list = At::TOP.field("serviceSettings");
    for (index, settings) in mesh.service_settings.iter().enumerate() {
        let at = list.index(index);
        let hosts = at.field("hosts");
        for (index, name) in settings.hosts.iter().enumerate() {
            found.verdict(&hosts.index(index), host::wildcard_domain(name));
        }
    }
}

fn trust_domains(mesh: &MeshConfig, found: &mut Findings) {
    found.verdict(&At::TOP.field("trustDomain"), trust_domain(&mesh.trust_domain));
    let aliases = At::TOP.field("trustDomainAliases");
    for (index, alias) in mesh.trust_domain_aliases.iter().enumerate() {
        found.verdict(&aliases.index(index), trust_domain(alias));
    }
}

/// A domain name of any length, whose last label may be a number.
fn trust_domain(name: &str) -> Verdict {
    if name.is_empty() {
        return Err("empty domain name not allowed".to_owned());
    }
    let labels = name.strip_suffix('.').unwrap_or(name);
    if labels.split('.').all(is_dns_label) {
        Ok(())
    } else {
        Err(format!("trust domain name {name:?} invalid"))
    }
}

/// As in a DestinationRule, where upstream has since grown stricter about HTTP/2's pings and warns of an old field.
fn traffic_policy(policy: &DefaultTrafficPolicy, at: &At<'_>, found: &mut Findings) {
    if let Some(pool) = &policy.connection_pool {
        let mut pool = *pool;
        if let Some(http) = &mut pool.http {
            http.http2_keep_alive = None;
        }
        connection_pool::check(&pool, &at.field("connectionPool"), found);
    }
    if let Some(outlier) = &policy.outlier_detection {
        let mut of_outlier = Findings::default();
        outlier_detection::check(outlier, &at.field("outlierDetection"), &mut of_outlier);
        found.extend_errors(of_outlier);
    }
}
