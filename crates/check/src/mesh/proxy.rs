//! ProxyConfig: how proxies are started and whom they know.

use super::{connections, port};
use crate::{
    Findings,
    parts::client_tls,
    value::{Verdict, address::host_and_port, number},
};
use mizzen_api::proto::{
    Duration,
    istio::mesh::v1alpha1::{
        AuthenticationPolicy, PrivateKeyProvider, ProxyConfig, Tracing, private_key_provider::Provider,
        proxy_config::ClusterName, tracing::Tracer,
    },
};
use mizzen_text::At;

const SECOND: i128 = 1_000_000_000;
/// The address of the node, known when the proxy starts.
const HOST_IP: &str = "$(HOST_IP)";
const AUTO_ALLOCATE: &str = "ISTIO_META_DNS_AUTO_ALLOCATE";

pub(super) fn check(proxy: &ProxyConfig, at: &At<'_>, found: &mut Findings) {
    for (field, what, value) in
        [("configPath", "config path", &proxy.config_path), ("binaryPath", "binary path", &proxy.binary_path)]
    {
        if value.is_empty() {
            found.error(&at.field(field), format!("{what} must be set"));
        }
    }
    match &proxy.cluster_name {
        Some(ClusterName::ServiceCluster(name)) if name.is_empty() => {
            found.error(&at.field("serviceCluster"), "service cluster must be specified");
        }
        Some(ClusterName::ServiceCluster(_) | ClusterName::TracingServiceName(_)) => {}
        None => found.error(at, "one of serviceCluster or tracingServiceName must be specified"),
    }
    found.verdict(&at.field("drainDuration"), drain_duration(proxy.drain_duration.as_ref()));
    if proxy.discovery_address.is_empty() {
        found.error(
            &at.field("discoveryAddress"),
            "discovery address must be set to the proxy discovery service",
        );
    }
    addresses(proxy, at, found);
    if let Some(settings) = &proxy.tracing {
        tracing(settings, &at.field("tracing"), found);
    }
    if proxy.proxy_metadata.contains_key(AUTO_ALLOCATE) {
        found.warning(
            &at.field("proxyMetadata").field(AUTO_ALLOCATE),
            format!(
                "{AUTO_ALLOCATE} is deprecated; addresses are allocated to every ServiceEntry without it \
                 (see DNS auto allocation v2 in Istio's documentation)"
            ),
        );
    }
    found.verdict(&at.field("proxyAdminPort"), port(proxy.proxy_admin_port));
    found.verdict(&at.field("statusPort"), port(proxy.status_port));
    // INHERIT is in the list of the words, but nobody is there to inherit from.
    if !matches!(
        proxy.control_plane_auth_policy(),
        AuthenticationPolicy::None | AuthenticationPolicy::MutualTls
    ) {
        found.error(
            &at.field("controlPlaneAuthPolicy"),
            "unrecognized control plane auth policy: NONE and MUTUAL_TLS are allowed",
        );
    }
    if let Some(provider) = &proxy.private_key_provider {
        private_key_provider(provider, &at.field("privateKeyProvider"), found);
    }
    if let Some(settings) = &proxy.connection_settings {
        connections::check(settings, &at.field("connectionSettings"), found);
    }
}

fn drain_duration(length: Option<&Duration>) -> Verdict {
    let length = length.copied().unwrap_or_default();
    number::duration(&length).map_err(|wrong| format!("invalid drain duration: {wrong}"))?;
    if length.as_nanos() % SECOND != 0 {
        return Err("drain time only supports durations to seconds precision".to_owned());
    }
    Ok(())
}

/// Whom the proxy speaks to; what is empty is not spoken to.
fn addresses(proxy: &ProxyConfig, at: &At<'_>, found: &mut Findings) {
    let (metrics, log) = (at.field("envoyMetricsService"), at.field("envoyAccessLogService"));
    let plain = [
        ("discoveryAddress", &proxy.discovery_address),
        ("statsdUdpAddress", &proxy.statsd_udp_address),
        ("envoyMetricsServiceAddress", &proxy.envoy_metrics_service_address),
    ];
    let services = [(&metrics, &proxy.envoy_metrics_service), (&log, &proxy.envoy_access_log_service)];
    let services = services
        .into_iter()
        .filter_map(|(at, service)| Some((at.field("address"), &service.as_ref()?.address)));
    let all = plain.into_iter().map(|(field, address)| (at.field(field), address)).chain(services);
    for (at, address) in all.filter(|(_, address)| !address.is_empty()) {
        found.verdict(&at, host_and_port(address));
    }
}

fn tracing(tracing: &Tracing, at: &At<'_>, found: &mut Findings) {
    let on_node = |address: &str| host_and_port(&address.replacen(HOST_IP, "127.0.0.1", 1));
    match &tracing.tracer {
        Some(Tracer::Zipkin(zipkin)) => {
            found.verdict(&at.field("zipkin").field("address"), on_node(&zipkin.address));
        }
        Some(Tracer::Datadog(datadog)) => {
            found.verdict(&at.field("datadog").field("address"), on_node(&datadog.address));
        }
        Some(Tracer::Lightstep(lightstep)) => {
            let at = at.field("lightstep");
            if lightstep.address.is_empty() {
                found.error(&at.field("address"), "address is required");
            } else {
                found.verdict(&at.field("address"), host_and_port(&lightstep.address));
            }
            if lightstep.access_token.is_empty() {
                found.error(&at.field("accessToken"), "access token is required");
            }
        }
        Some(Tracer::Stackdriver(_) | Tracer::OpenCensusAgent(_)) | None => {}
    }
    if let Some(tls) = &tracing.tls_settings {
        client_tls::check("", tls, &at.field("tlsSettings"), found);
    }
}

fn private_key_provider(provider: &PrivateKeyProvider, at: &At<'_>, found: &mut Findings) {
    let (field, delay) = match &provider.provider {
        Some(Provider::Cryptomb(cryptomb)) => ("cryptomb", &cryptomb.poll_delay),
        Some(Provider::Qat(qat)) => ("qat", &qat.poll_delay),
        None => {
            found.error(at, "private key provider configuration is required: cryptomb or qat");
            return;
        }
    };
    let at = at.field(field);
    match delay {
        None => found.error(&at.field("pollDelay"), "pollDelay is required"),
        Some(delay) if delay.as_nanos() == 0 => {
            found.error(&at.field("pollDelay"), "pollDelay must be non zero");
        }
        Some(_) => {}
    }
}
