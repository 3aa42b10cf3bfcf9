//! Connections: how many, for how long, and what is spoken on them.

use super::draft::Draft;
use crate::{
    message::{duration, number, percent},
    policy::Policy,
};
use mizzen_mesh::Port;
use mizzen_proto::{
    envoy::config::{
        cluster::v3::{
            CircuitBreakers, UpstreamConnectionOptions,
            circuit_breakers::{Thresholds, thresholds},
        },
        core::v3::{self, KeepaliveSettings, TcpKeepalive},
    },
    google::protobuf::UInt32Value,
    istio::{
        mesh::v1alpha1::{MeshConfig, mesh_config},
        networking::v1alpha3::{
            ConnectionPoolSettings,
            connection_pool_settings::{HttpSettings, http_settings::H2UpgradePolicy, tcp_settings},
            traffic_policy::RetryBudget,
        },
    },
};

/// Whether HTTP/1 requests go on as HTTP/2: as the rule says, else as the mesh says for ports that are HTTP for sure.
pub(super) fn upgrades(pool: Option<&ConnectionPoolSettings>, port: &Port, mesh: &MeshConfig) -> bool {
    if let Some(http) = pool.and_then(|pool| pool.http.as_ref()) {
        if http.use_client_protocol {
            return false;
        }
        match H2UpgradePolicy::try_from(http.h2_upgrade_policy) {
            Ok(H2UpgradePolicy::Upgrade) => return true,
            Ok(H2UpgradePolicy::DoNotUpgrade) => return false,
            _ => {}
        }
    }
    port.protocol.is_http() && mesh.h2_upgrade_policy == i32::from(mesh_config::H2UpgradePolicy::Upgrade)
}

pub(super) fn apply(draft: &mut Draft, mesh: &MeshConfig, policy: &Policy<'_>) {
    let tcp = policy.pool.and_then(|pool| pool.tcp);
    let http = policy.pool.and_then(|pool| pool.http).unwrap_or_default();
    draft.cluster.connect_timeout =
        tcp.and_then(|tcp| tcp.connect_timeout).or(mesh.connect_timeout).and_then(duration);
    draft.cluster.circuit_breakers = Some(CircuitBreakers {
        thresholds: vec![Thresholds {
            max_connections: limit(tcp.map_or(0, |tcp| tcp.max_connections)),
            max_pending_requests: limit(http.http1_max_pending_requests),
            max_requests: limit(http.http2_max_requests),
            max_retries: limit(http.max_retries),
            retry_budget: policy.retry_budget.map(retry_budget),
            ..Thresholds::default()
        }],
        ..CircuitBreakers::default()
    });
    keep_alive(draft, mesh.tcp_keepalive.as_ref());
    keep_alive(draft, tcp.as_ref().and_then(|tcp| tcp.tcp_keepalive.as_ref()));
    options(draft, policy, &http);
    if http.use_client_protocol {
        draft.use_protocol_of_request();
    }
}

/// Envoy's own limits are low, and too low while many pods come and go: what is not said is unlimited.
fn limit(said: i32) -> Option<UInt32Value> {
    Some(number(positive(said).unwrap_or(u32::MAX)))
}

fn positive(said: i32) -> Option<u32> {
    u32::try_from(said).ok().filter(|&said| said > 0)
}

fn options(draft: &mut Draft, policy: &Policy<'_>, http: &HttpSettings) {
    let tcp = policy.pool.and_then(|pool| pool.tcp).unwrap_or_default();
    let idle = http.idle_timeout.or(tcp.idle_timeout).and_then(duration);
    let longest = tcp.max_connection_duration.and_then(duration);
    let requests = positive(http.max_requests_per_connection);
    let streams = positive(http.max_concurrent_streams);
    if idle.is_none()
        && longest.is_none()
        && requests.is_none()
        && streams.is_none()
        && http.http2_keep_alive.is_none()
    {
        return;
    }
    let common: &mut v3::HttpProtocolOptions =
        draft.http().common_http_protocol_options.get_or_insert_default();
    common.idle_timeout = idle.or(common.idle_timeout);
    common.max_connection_duration = longest;
    common.max_requests_per_connection = requests.map(number);
    if let Some(http2) = draft.http2() {
        http2.max_concurrent_streams = streams.map(number);
        http2.connection_keepalive = http.http2_keep_alive.as_ref().map(|keep| KeepaliveSettings {
            interval: keep.interval.and_then(duration),
            timeout: keep.timeout.and_then(duration),
            ..KeepaliveSettings::default()
        });
    }
}

/// Called for the mesh first: what the rule says goes over it, value by value.
fn keep_alive(draft: &mut Draft, said: Option<&tcp_settings::TcpKeepalive>) {
    let Some(said) = said else { return };
    let options: &mut UpstreamConnectionOptions =
        draft.cluster.upstream_connection_options.get_or_insert_default();
    let keep: &mut TcpKeepalive = options.tcp_keepalive.get_or_insert_default();
    let whole = |length: mizzen_proto::Duration| u32::try_from(length.seconds).ok().map(number);
    if said.probes > 0 {
        keep.keepalive_probes = Some(number(said.probes));
    }
    keep.keepalive_time = said.time.and_then(whole).or(keep.keepalive_time);
    keep.keepalive_interval = said.interval.and_then(whole).or(keep.keepalive_interval);
}

fn retry_budget(said: RetryBudget) -> thresholds::RetryBudget {
    const PERCENT: f64 = 20.0;
    const AT_LEAST: u32 = 3;
    thresholds::RetryBudget {
        budget_percent: Some(percent(said.percent.unwrap_or(PERCENT))),
        budget_interval: said.budget_interval.and_then(duration),
        min_retry_concurrency: Some(number(match said.min_retry_concurrency {
            0 => AT_LEAST,
            said => said,
        })),
    }
}
