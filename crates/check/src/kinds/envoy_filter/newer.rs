//! Fields and names of enums in which Envoy's API as linked into Istio 1.31 differs from our descriptor set. What is in
//! a field that only Istio knows is not looked at.

use prost_reflect::FieldDescriptor;

/// Istio knows them, the descriptor set does not.
const FIELDS: &[(&str, &str)] = &[
    ("envoy.config.core.v3.HealthCheck", "name"),
    ("envoy.config.core.v3.HealthCheck.HttpHealthCheck", "use_alpn_protocol"),
    ("envoy.config.metrics.v3.DogStatsdSink", "scale_histogram_units_to_milliseconds"),
    ("envoy.config.metrics.v3.StatsdSink", "scale_histogram_units_to_milliseconds"),
    (
        "envoy.extensions.bootstrap.reverse_tunnel.downstream_socket_interface.v3.DownstreamReverseConnectionSocketInterface.HttpHandshakeConfig",
        "handshake_timeout",
    ),
    ("envoy.extensions.clusters.mcp_multicluster.v3.ClusterConfig.McpBackend", "header_forwarding"),
    ("envoy.extensions.common.ratelimit.v3.RateLimitDescriptor.RateLimitOverride", "unit_multiplier"),
    ("envoy.extensions.filters.http.ai_protocol_manager.v3.RequestHandling", "reserialize_body"),
    ("envoy.extensions.filters.http.ai_protocol_manager.v3.RequestPerRoute", "llm_protocol"),
    ("envoy.extensions.filters.http.ai_protocol_manager.v3.ResponsePerRoute", "llm_protocol"),
    ("envoy.extensions.filters.http.ai_protocol_manager.v3.TokenUsageExtraction", "default_llm_protocol"),
    ("envoy.extensions.filters.http.basic_auth.v3.BasicAuth", "realm"),
    ("envoy.extensions.filters.http.basic_auth.v3.BasicAuthPerRoute", "realm"),
    ("envoy.extensions.filters.http.ext_authz.v3.ExtAuthz", "clear_route_cache_headers"),
    ("envoy.extensions.filters.http.gcp_authn.v3.Audience.AccessToken", "scopes"),
    ("envoy.extensions.filters.http.gcp_authn.v3.Audience.BoundAccessToken", "scopes"),
    ("envoy.extensions.filters.http.header_mutation.v3.Mutations", "formatters"),
    ("envoy.extensions.filters.http.lua.v3.Lua", "shared_vm_id"),
    ("envoy.extensions.filters.http.lua.v3.LuaPerRoute", "shared_vm_id"),
    ("envoy.extensions.filters.http.mcp.v3.Mcp", "max_supported_protocol_version"),
    ("envoy.extensions.filters.http.mcp_json_rest_bridge.v3.ServerInfo", "server_discovery_cache_config"),
    ("envoy.extensions.filters.http.mcp_router.v3.McpRouter.McpBackend", "header_forwarding"),
    ("envoy.extensions.filters.http.oauth2.v3.OAuth2Config", "token_cookie_chunking"),
    (
        "envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager",
        "record_route_resolution_stats",
    ),
    ("envoy.extensions.filters.network.reverse_tunnel.v3.ReverseTunnel", "handshake_timeout"),
    ("envoy.extensions.filters.udp.udp_proxy.v3.UdpProxyConfig.UdpTunnelingConfig", "formatters"),
    (
        "envoy.extensions.load_balancing_policies.load_aware_locality.v3.LoadAwareLocality",
        "oob_reporting_config",
    ),
    (
        "envoy.extensions.stat_sinks.graphite_statsd.v3.GraphiteStatsdSink",
        "scale_histogram_units_to_milliseconds",
    ),
    ("envoy.service.ratelimit.v3.RateLimitResponse.RateLimit", "unit_multiplier"),
    ("envoy.tcp.metadataexchange.config.MetadataExchange", "additional_labels"),
    ("envoy.type.tracing.v3.CustomTag", "value_type"),
];

/// Likewise.
const ENUM_NAMES: &[(&str, &str)] = &[
    ("envoy.data.core.v3.HealthCheckerType", "UDP"),
    ("envoy.extensions.http.injected_credentials.oauth2.v3.OAuth2.AuthType", "TLS_CLIENT_AUTH"),
];

/// The descriptor set knows them, Istio does not.
const RENAMED_SINCE: &[&str] = &[
    "envoy.extensions.filters.http.ai_protocol_manager.v3.RequestPerRoute.api_protocol",
    "envoy.extensions.filters.http.ai_protocol_manager.v3.ResponsePerRoute.api_protocol",
    "envoy.extensions.filters.http.ai_protocol_manager.v3.TokenUsageExtraction.default_api_protocol",
];

/// A field by one of its two spellings.
pub(super) fn is_field(message: &str, name: &str) -> bool {
    FIELDS.iter().any(|(of, field)| *of == message && is_spelling(name, field))
}

pub(super) fn is_enum_name(of: &str, name: &str) -> bool {
    ENUM_NAMES.contains(&(of, name))
}

pub(super) fn is_in_istio(field: &FieldDescriptor) -> bool {
    !RENAMED_SINCE.contains(&field.full_name())
}

/// `a_field` or `aField`.
fn is_spelling(name: &str, field: &str) -> bool {
    if name == field {
        return true;
    }
    let mut rest = name.chars();
    let mut after_underscore = false;
    for letter in field.chars() {
        if letter == '_' {
            after_underscore = true;
            continue;
        }
        let wanted = if after_underscore { letter.to_ascii_uppercase() } else { letter };
        if rest.next() != Some(wanted) {
            return false;
        }
        after_underscore = false;
    }
    rest.next().is_none()
}

#[cfg(test)]
mod tests {
    use super::*;
    use mizzen_api::proto::descriptors;

    #[test]
    fn a_field_has_two_spellings() {
        for (name, good) in [
            ("shared_vm_id", true),
            ("sharedVmId", true),
            ("sharedvmid", false),
            ("sharedVmIds", false),
            ("sharedVm", false),
        ] {
            assert_eq!(is_field("envoy.extensions.filters.http.lua.v3.Lua", name), good, "{name}");
        }
        assert!(!is_field("envoy.extensions.filters.http.router.v3.Router", "shared_vm_id"));
    }

    #[test]
    fn the_tables_tell_the_difference_to_the_descriptor_set_and_no_more() {
        for (message, field) in FIELDS {
            let described = descriptors().get_message_by_name(message).unwrap();
            assert!(described.get_field_by_name(field).is_none(), "{message} has {field}");
        }
        for (of, name) in ENUM_NAMES {
            let described = descriptors().get_enum_by_name(of).unwrap();
            assert!(described.get_value_by_name(name).is_none(), "{of} has {name}");
        }
        for full_name in RENAMED_SINCE {
            let (message, field) = full_name.rsplit_once('.').unwrap();
            let described = descriptors().get_message_by_name(message).unwrap();
            assert!(described.get_field_by_name(field).is_some(), "{full_name}");
        }
    }
}
