//! The type that an `Any` names with `@type`.
//!
//! Istio refuses a type that was not linked into it, so what counts is what Istio 1.31 has, not what our descriptor set
//! has. The two tables are the difference; a test beside the real webhook holds them to it. What is linked into Istio by
//! chance (OpenAPI's types and the like) is not here: Envoy could do nothing with it.

use mizzen_api::proto::descriptors;
use prost_reflect::MessageDescriptor;

/// Packages that the descriptor set has and Istio has not: it was not told to link them.
const NOT_IN_ISTIO: &[&str] = &[
    "envoy.data.ai.v3",
    "envoy.extensions.config.validators.dynamic_modules.v3",
    "envoy.extensions.filters.http.aws_eventstream_parser.v3",
    "envoy.extensions.filters.http.body_size_limit.v3",
    "envoy.extensions.health_checkers.udp.v3",
    "envoy.extensions.http.ai_filters.request_info.v3",
    "envoy.extensions.http.early_header_mutation.dynamic_modules.v3",
    "envoy.extensions.http.header_formatters.dynamic_modules.v3",
    "envoy.extensions.internal_redirect.filter_state.v3",
    "envoy.extensions.queue_policy.fifo.v3",
    "envoy.extensions.rate_limit_descriptors.jwt_claim.v3",
    "envoy.extensions.router.cluster_specifiers.dynamic_modules.v3",
    "envoy.extensions.watchdog.backtrace_action.v3",
    "envoy.type",
];

/// What Istio has and the descriptor set has not: mostly Envoy's contributed extensions. By package.
const NAMES_ONLY: &[(&str, &str)] = &[
    (
        "cel.expr",
        "EnumValue ErrorSet EvalState EvalState.Result Explain Explain.ExprStep ExprValue ListValue \
         MapValue MapValue.Entry Status UnknownSet Value",
    ),
    ("envoy.extensions.clusters.mcp_multicluster.v3", "ClusterConfig.HeaderForwarding"),
    ("envoy.extensions.compression.qatzip.compressor.v3alpha", "Qatzip"),
    ("envoy.extensions.compression.qatzstd.compressor.v3alpha", "Qatzstd"),
    ("envoy.extensions.config.v3alpha", "KeyValueStoreXdsDelegateConfig"),
    ("envoy.extensions.filters.http.checksum.v3alpha", "ChecksumConfig ChecksumConfig.Checksum"),
    ("envoy.extensions.filters.http.dynamo.v3", "Dynamo"),
    ("envoy.extensions.filters.http.golang.v3alpha", "Config ConfigsPerRoute RouterPlugin"),
    ("envoy.extensions.filters.http.language.v3alpha", "Language"),
    ("envoy.extensions.filters.http.mcp_json_rest_bridge.v3", "CacheConfig"),
    ("envoy.extensions.filters.http.mcp_router.v3", "McpRouter.HeaderForwarding"),
    ("envoy.extensions.filters.http.oauth2.v3", "TokenCookieChunking"),
    ("envoy.extensions.filters.http.peak_ewma.v3alpha", "PeakEwmaConfig"),
    ("envoy.extensions.filters.http.sxg.v3alpha", "SXG"),
    ("envoy.extensions.filters.listener.postgres_inspector.v3alpha", "PostgresInspector StartupMetadata"),
    ("envoy.extensions.filters.network.client_ssl_auth.v3", "ClientSSLAuth"),
    ("envoy.extensions.filters.network.generic_proxy.codecs.kafka.v3", "KafkaCodecConfig"),
    ("envoy.extensions.filters.network.golang.v3alpha", "Config"),
    (
        "envoy.extensions.filters.network.kafka_broker.v3",
        "IdBasedBrokerRewriteRule IdBasedBrokerRewriteSpec KafkaBroker",
    ),
    (
        "envoy.extensions.filters.network.kafka_mesh.v3alpha",
        "ForwardingRule KafkaClusterDefinition KafkaMesh",
    ),
    ("envoy.extensions.filters.network.mysql_proxy.v3", "MySQLProxy"),
    ("envoy.extensions.filters.network.postgres_proxy.v3alpha", "PostgresProxy"),
    (
        "envoy.extensions.filters.network.rocketmq_proxy.v3",
        "RocketmqProxy Route RouteAction RouteConfiguration RouteMatch",
    ),
    ("envoy.extensions.filters.network.sip_proxy.router.v3alpha", "Router"),
    (
        "envoy.extensions.filters.network.sip_proxy.tra.v3alpha",
        "CreateRequest CreateResponse DeleteRequest DeleteResponse RetrieveRequest RetrieveResponse \
         SubscribeRequest SubscribeResponse TraServiceConfig TraServiceRequest TraServiceResponse \
         UpdateRequest UpdateResponse",
    ),
    (
        "envoy.extensions.filters.network.sip_proxy.v3alpha",
        "Cache CustomizedAffinity CustomizedAffinityEntry LocalService Route RouteAction \
         RouteConfiguration RouteMatch SipFilter SipProtocolOptions SipProxy SipProxy.SipSettings",
    ),
    ("envoy.extensions.load_balancing_policies.peak_ewma.v3alpha", "PeakEwma"),
    ("envoy.extensions.matching.input_matchers.hyperscan.v3alpha", "Hyperscan Hyperscan.Regex"),
    ("envoy.extensions.network.connection_balance.dlb.v3alpha", "Dlb"),
    ("envoy.extensions.network_filters.peer_metadata", "Config UpstreamConfig"),
    ("envoy.extensions.private_key_providers.cryptomb.v3alpha", "CryptoMbPrivateKeyMethodConfig"),
    ("envoy.extensions.private_key_providers.kae.v3alpha", "KaePrivateKeyMethodConfig"),
    ("envoy.extensions.private_key_providers.qat.v3alpha", "QatPrivateKeyMethodConfig"),
    ("envoy.extensions.regex_engines.hyperscan.v3alpha", "Hyperscan"),
    (
        "envoy.extensions.reverse_tunnel_reporters.v3alpha.clients.grpc_client",
        "GrpcClientConfig ReverseTunnel StreamReverseTunnelsRequest StreamReverseTunnelsResponse \
         TunnelInitiatorIdentity",
    ),
    (
        "envoy.extensions.reverse_tunnel_reporters.v3alpha.reporters",
        "EventReporterConfig ReverseConnectionReporterClient",
    ),
    ("envoy.extensions.router.cluster_specifier.golang.v3alpha", "Config"),
    ("envoy.extensions.stat_sinks.kafka.v3", "KafkaStatsSinkConfig"),
    ("envoy.extensions.stat_sinks.wasm_filter.v3", "WasmFilterStatsSinkConfig"),
    ("envoy.extensions.tap_sinks.udp_sink.v3alpha", "UdpSink"),
    ("envoy.extensions.upstreams.http.tcp.golang.v3alpha", "Config"),
    ("envoy.extensions.vcl.v3alpha", "VclSocketInterface"),
    (
        "google.api.expr.v1alpha1",
        "EnumValue ErrorSet EvalState EvalState.Result Explain Explain.ExprStep ExprValue ListValue \
         MapValue MapValue.Entry UnknownSet Value",
    ),
    (
        "io.istio.http.peer_metadata",
        "Config Config.Baggage Config.DiscoveryMethod Config.IstioHeaders Config.PropagationMethod \
         Config.UpstreamFilterState Config.WorkloadDiscovery",
    ),
    (
        "istio.envoy.config.filter.http.jwt_auth.v2alpha1",
        "DataSource HttpUri JwtAuthentication JwtHeader JwtRule RemoteJwks",
    ),
    ("istio.envoy.config.filter.network.tcp_cluster_rewrite.v2alpha1", "TcpClusterRewrite"),
    ("xds.core.v3", "Resource ResourceName"),
    (
        "xds.type.matcher.v3",
        "CelMatcher DoubleRangeMatcher DoubleRangeMatcher.RangeMatcher HttpAttributesCelMatchInput \
         IPMatcher IPMatcher.IPRangeMatcher Int32RangeMatcher Int32RangeMatcher.RangeMatcher \
         Int64RangeMatcher Int64RangeMatcher.RangeMatcher ServerNameMatcher \
         ServerNameMatcher.DomainMatcher",
    ),
    ("xds.type.v3", "DoubleRange Int32Range Int64Range"),
];

pub(super) enum Type {
    Described(MessageDescriptor),
    /// It is a type, but what is in it is not known here.
    Named,
}

/// By a type URL: what stands behind the last slash is the message's full name.
pub(super) fn find(url: &str) -> Option<Type> {
    let name = url.rsplit('/').next().unwrap_or(url);
    match descriptors().get_message_by_name(name) {
        Some(message) => {
            (!NOT_IN_ISTIO.contains(&message.package_name())).then_some(Type::Described(message))
        }
        None => is_named(name).then_some(Type::Named),
    }
}

fn is_named(full_name: &str) -> bool {
    NAMES_ONLY.iter().any(|(package, names)| {
        full_name
            .strip_prefix(package)
            .and_then(|rest| rest.strip_prefix('.'))
            .is_some_and(|name| names.split(' ').any(|known| known == name))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_type_is_found_by_what_stands_behind_the_last_slash() {
        let router = "envoy.extensions.filters.http.router.v3.Router";
        for url in [router.to_owned(), format!("type.googleapis.com/{router}"), format!("a/b/{router}")] {
            assert!(matches!(find(&url), Some(Type::Described(_))), "{url}");
        }
        assert!(matches!(find("a/io.istio.http.peer_metadata.Config"), Some(Type::Named)));
        for url in [
            "",
            "/",
            "a/envoy.config.filter.http.lua.v2.Lua",
            "a/io.istio.http.peer_metadata.",
            "xds.type.v3",
        ] {
            assert!(find(url).is_none(), "{url}");
        }
    }

    #[test]
    fn the_tables_tell_the_difference_to_the_descriptor_set_and_no_more() {
        for (package, names) in NAMES_ONLY {
            for name in names.split(' ') {
                let full_name = format!("{package}.{name}");
                assert!(descriptors().get_message_by_name(&full_name).is_none(), "{full_name} is described");
            }
        }
        for package in NOT_IN_ISTIO {
            assert!(
                descriptors().all_messages().any(|message| message.package_name() == *package),
                "{package}"
            );
        }
    }
}
