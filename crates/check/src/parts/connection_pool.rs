//! How many connections and requests there may be at a time, and for how long.

use crate::{Findings, value::number::duration};
use mizzen_api::proto::{
    Duration,
    istio::networking::v1alpha3::{
        ConnectionPoolSettings,
        connection_pool_settings::{HttpSettings, TcpSettings, http_settings::H2UpgradePolicy},
    },
};
use mizzen_text::At;

pub(crate) fn check(pool: &ConnectionPoolSettings, at: &At<'_>, found: &mut Findings) {
    if pool.http.is_none() && pool.tcp.is_none() {
        found.error(at, "connection pool must have at least one field: http or tcp");
    }
    if let Some(settings) = &pool.http {
        http(settings, &at.field("http"), found);
    }
    if let Some(settings) = &pool.tcp {
        tcp(settings, &at.field("tcp"), found);
    }
}

fn http(http: &HttpSettings, at: &At<'_>, found: &mut Findings) {
    for (field, number) in [
        ("http1MaxPendingRequests", http.http1_max_pending_requests),
        ("http2MaxRequests", http.http2_max_requests),
        ("maxRequestsPerConnection", http.max_requests_per_connection),
        ("maxRetries", http.max_retries),
        ("maxConcurrentStreams", http.max_concurrent_streams),
    ] {
        not_negative(field, number, at, found);
    }
    length("idleTimeout", http.idle_timeout.as_ref(), at, found);
    if http.h2_upgrade_policy() == H2UpgradePolicy::Upgrade && http.use_client_protocol {
        found.error(
            &at.field("useClientProtocol"),
            "use client protocol must not be true when h2UpgradePolicy is UPGRADE",
        );
    }
    if let Some(keepalive) = &http.http2_keep_alive {
        let at = at.field("http2KeepAlive");
        for (field, length) in [("interval", &keepalive.interval), ("timeout", &keepalive.timeout)] {
            match length {
                Some(length) => found.verdict(&at.field(field), duration(length)),
                None => found.error(&at.field(field), format!("http2 keepalive {field} is required")),
            }
        }
    }
}

fn tcp(tcp: &TcpSettings, at: &At<'_>, found: &mut Findings) {
    not_negative("maxConnections", tcp.max_connections, at, found);
    length("connectTimeout", tcp.connect_timeout.as_ref(), at, found);
    length("maxConnectionDuration", tcp.max_connection_duration.as_ref(), at, found);
    // Nothing means no timeout at all.
    let idle = tcp.idle_timeout.as_ref().filter(|length| length.as_nanos() / 1_000_000 != 0);
    length("idleTimeout", idle, at, found);
    if let Some(keepalive) = &tcp.tcp_keepalive {
        let at = at.field("tcpKeepalive");
        length("time", keepalive.time.as_ref(), &at, found);
        length("interval", keepalive.interval.as_ref(), &at, found);
    }
}

fn length(field: &str, length: Option<&Duration>, at: &At<'_>, found: &mut Findings) {
    if let Some(length) = length {
        found.verdict(&at.field(field), duration(length));
    }
}

fn not_negative(field: &str, number: i32, at: &At<'_>, found: &mut Findings) {
    if number < 0 {
        found.error(&at.field(field), format!("{field} must be non-negative, not {number}"));
    }
}
