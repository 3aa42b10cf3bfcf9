//! Names that Envoy gave to its filters, before and today.

pub(super) const HTTP_CONNECTION_MANAGER: &str = "envoy.filters.network.http_connection_manager";
pub(super) const HTTP_CONNECTION_MANAGER_BEFORE: &str = "envoy.http_connection_manager";

const RENAMED: &[(&str, &str)] = &[
    ("envoy.buffer", "envoy.filters.http.buffer"),
    ("envoy.client_ssl_auth", "envoy.filters.network.client_ssl_auth"),
    ("envoy.cors", "envoy.filters.http.cors"),
    ("envoy.csrf", "envoy.filters.http.csrf"),
    // The network filter was called so, too.
    ("envoy.ext_authz", "envoy.filters.http.ext_authz"),
    ("envoy.fault", "envoy.filters.http.fault"),
    ("envoy.grpc_http1_bridge", "envoy.filters.http.grpc_http1_bridge"),
    ("envoy.grpc_json_transcoder", "envoy.filters.http.grpc_json_transcoder"),
    ("envoy.grpc_web", "envoy.filters.http.grpc_web"),
    ("envoy.gzip", "envoy.filters.http.gzip"),
    ("envoy.health_check", "envoy.filters.http.health_check"),
    (HTTP_CONNECTION_MANAGER_BEFORE, HTTP_CONNECTION_MANAGER),
    ("envoy.http_dynamo_filter", "envoy.filters.http.dynamo"),
    ("envoy.ip_tagging", "envoy.filters.http.ip_tagging"),
    ("envoy.listener.http_inspector", "envoy.filters.listener.http_inspector"),
    ("envoy.listener.original_dst", "envoy.filters.listener.original_dst"),
    ("envoy.listener.original_src", "envoy.filters.listener.original_src"),
    ("envoy.listener.proxy_protocol", "envoy.filters.listener.proxy_protocol"),
    ("envoy.listener.tls_inspector", "envoy.filters.listener.tls_inspector"),
    ("envoy.lua", "envoy.filters.http.lua"),
    ("envoy.mongo_proxy", "envoy.filters.network.mongo_proxy"),
    ("envoy.rate_limit", "envoy.filters.http.ratelimit"),
    ("envoy.ratelimit", "envoy.filters.network.ratelimit"),
    ("envoy.redis_proxy", "envoy.filters.network.redis_proxy"),
    ("envoy.router", "envoy.filters.http.router"),
    ("envoy.squash", "envoy.filters.http.squash"),
    ("envoy.tcp_proxy", "envoy.filters.network.tcp_proxy"),
];

/// What a filter is called that had this name before.
pub(super) fn name_today(name: &str) -> Option<&'static str> {
    RENAMED.iter().find(|(before, _)| *before == name).map(|(_, today)| *today)
}
