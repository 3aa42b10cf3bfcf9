//! Limits that every proxy puts on its connections.

use crate::Findings;
use mizzen_api::proto::istio::mesh::v1alpha1::proxy_config::ConnectionSettings;
use mizzen_text::At;

/// The window that HTTP/2 begins with.
const WINDOW: i32 = 65_535;

pub(super) fn check(settings: &ConnectionSettings, at: &At<'_>, found: &mut Findings) {
    for (field, number, least) in [
        ("listenerPerConnectionBufferLimitBytes", settings.listener_per_connection_buffer_limit_bytes, 0),
        ("clusterPerConnectionBufferLimitBytes", settings.cluster_per_connection_buffer_limit_bytes, 0),
        ("httpMaxConcurrentStreams", settings.http_max_concurrent_streams, 1),
        ("http2InitialStreamWindowSize", settings.http2_initial_stream_window_size, WINDOW),
        ("http2InitialConnectionWindowSize", settings.http2_initial_connection_window_size, WINDOW),
        ("listenerConnectionLimit", settings.listener_connection_limit, 1),
        ("globalDownstreamConnectionLimit", settings.global_downstream_connection_limit, 1),
    ] {
        if let Some(number) = number.filter(|number| *number < least) {
            found.error(&at.field(field), format!("{field} must be at least {least}, not {number}"));
        }
    }
    for (field, length) in [
        ("httpIdleTimeout", &settings.http_idle_timeout),
        ("httpMaxConnectionDuration", &settings.http_max_connection_duration),
        ("httpDrainTimeout", &settings.http_drain_timeout),
        ("httpRequestTimeout", &settings.http_request_timeout),
        ("httpRequestHeadersTimeout", &settings.http_request_headers_timeout),
        ("httpStreamIdleTimeout", &settings.http_stream_idle_timeout),
        ("httpMaxStreamDuration", &settings.http_max_stream_duration),
    ] {
        if let Some(length) = length.as_ref().filter(|length| length.as_nanos() < 0) {
            found.error(&at.field(field), format!("{field} must be non-negative, not {length}"));
        }
    }
}
