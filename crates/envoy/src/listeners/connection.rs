//! `connectionSettings` of a proxy's configuration: limits and timeouts of connections from clients.

use super::message::{duration, number};
use mizzen_mesh::ProxyKind;
use mizzen_proto::{
    Duration,
    envoy::{
        config::core::v3::{HttpProtocolOptions, http_protocol_options},
        extensions::filters::network::http_connection_manager::v3::{
            HttpConnectionManager, http_connection_manager::PathWithEscapedSlashesAction as EnvoySlashes,
        },
    },
    google::protobuf::UInt32Value,
    istio::mesh::v1alpha1::{
        MeshConfig, ProxyConfig,
        proxy_config::{
            ConnectionSettings,
            connection_settings::{HeadersWithUnderscoresAction, PathWithEscapedSlashesAction, Profile},
        },
    },
};

/// Those that hold for the proxy: its own, else the mesh's; a router with the profile EDGE is careful where they say
/// nothing.
pub(super) fn settings(
    config: &ProxyConfig,
    mesh: &MeshConfig,
    kind: ProxyKind,
) -> Option<ConnectionSettings> {
    let own = config.connection_settings.as_ref();
    let mut settings = *own.or_else(|| mesh.default_config.as_ref()?.connection_settings.as_ref())?;
    if kind == ProxyKind::Router && settings.profile == i32::from(Profile::Edge) {
        let minute = || Duration::from_seconds(60);
        settings.listener_per_connection_buffer_limit_bytes.get_or_insert(32 << 10);
        settings.http_idle_timeout.get_or_insert_with(|| Duration::from_seconds(60 * 60));
        settings.http_stream_idle_timeout.get_or_insert_with(|| Duration::from_seconds(5 * 60));
        settings.http_request_timeout.get_or_insert_with(|| Duration::from_seconds(5 * 60));
        settings.http_request_headers_timeout.get_or_insert_with(minute);
        settings.http_max_concurrent_streams.get_or_insert(100);
        settings.http2_initial_stream_window_size.get_or_insert(64 << 10);
        settings.http2_initial_connection_window_size.get_or_insert(1 << 20);
        settings.http_merge_slashes.get_or_insert(true);
        if settings.http_headers_with_underscores_action == 0 {
            settings.http_headers_with_underscores_action =
                HeadersWithUnderscoresAction::HeadersWithUnderscoresRejectRequest.into();
        }
        if settings.http_path_with_escaped_slashes_action == 0 {
            settings.http_path_with_escaped_slashes_action =
                PathWithEscapedSlashesAction::UnescapeAndRedirect.into();
        }
    }
    Some(settings)
}

/// A negative number is none.
pub(super) fn positive(value: Option<i32>) -> Option<UInt32Value> {
    value.and_then(|value| u32::try_from(value).ok()).and_then(number)
}

pub(super) fn apply(settings: &ConnectionSettings, manager: &mut HttpConnectionManager) {
    let underscores =
        HeadersWithUnderscoresAction::try_from(settings.http_headers_with_underscores_action).ok();
    let underscores = underscores.filter(|action| i32::from(*action) != 0);
    if settings.http_idle_timeout.is_some()
        || settings.http_max_connection_duration.is_some()
        || settings.http_max_stream_duration.is_some()
        || underscores.is_some()
    {
        let options = manager.common_http_protocol_options.get_or_insert_with(HttpProtocolOptions::default);
        set(&mut options.idle_timeout, settings.http_idle_timeout);
        set(&mut options.max_connection_duration, settings.http_max_connection_duration);
        set(&mut options.max_stream_duration, settings.http_max_stream_duration);
        if let Some(action) = underscores {
            use http_protocol_options::HeadersWithUnderscoresAction as Envoy;
            options.headers_with_underscores_action = match action {
                HeadersWithUnderscoresAction::HeadersWithUnderscoresRejectRequest => Envoy::RejectRequest,
                HeadersWithUnderscoresAction::HeadersWithUnderscoresDropHeader => Envoy::DropHeader,
                _ => Envoy::Allow,
            }
            .into();
        }
    }
    set(&mut manager.stream_idle_timeout, settings.http_stream_idle_timeout);
    set(&mut manager.request_timeout, settings.http_request_timeout);
    set(&mut manager.request_headers_timeout, settings.http_request_headers_timeout);
    set(&mut manager.drain_timeout, settings.http_drain_timeout);
    let (streams, stream_window, connection_window) = (
        settings.http_max_concurrent_streams,
        settings.http2_initial_stream_window_size,
        settings.http2_initial_connection_window_size,
    );
    if streams.is_some() || stream_window.is_some() || connection_window.is_some() {
        let options = manager.http2_protocol_options.get_or_insert_default();
        options.max_concurrent_streams = positive(streams);
        options.initial_stream_window_size = positive(stream_window);
        options.initial_connection_window_size = positive(connection_window);
    }
    if let Some(merge) = settings.http_merge_slashes {
        manager.merge_slashes = merge;
    }
    let slashes = PathWithEscapedSlashesAction::try_from(settings.http_path_with_escaped_slashes_action).ok();
    if let Some(action) = slashes.filter(|action| i32::from(*action) != 0) {
        manager.path_with_escaped_slashes_action = match action {
            PathWithEscapedSlashesAction::RejectRequest => EnvoySlashes::RejectRequest,
            PathWithEscapedSlashesAction::UnescapeAndRedirect => EnvoySlashes::UnescapeAndRedirect,
            PathWithEscapedSlashesAction::UnescapeAndForward => EnvoySlashes::UnescapeAndForward,
            _ => EnvoySlashes::KeepUnchanged,
        }
        .into();
    }
}

fn set(field: &mut Option<mizzen_proto::google::protobuf::Duration>, value: Option<Duration>) {
    if let Some(value) = value {
        *field = Some(duration(value));
    }
}
