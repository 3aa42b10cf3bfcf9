//! Filters that only Istio's build of Envoy has. Their messages are not in Envoy's API: what is sent is their JSON in a
//! `TypedStruct`, or the few fields that are needed.

use super::{http::Side, message, sorted};
use mizzen_proto::{
    envoy::{
        config::listener::v3::Filter, extensions::filters::network::http_connection_manager::v3::HttpFilter,
    },
    google::protobuf::Any,
    istio::mesh::v1alpha1::proxy_config::{ProxyHeaders, proxy_headers::MetadataExchangeMode},
};
use prost::Message;
use serde_json::{Value, json};

const METADATA_EXCHANGE: &str = "istio.metadata_exchange";

#[derive(Clone, PartialEq, prost::Message)]
struct TypedStruct {
    #[prost(string, tag = "1")]
    type_url: String,
    #[prost(message, optional, tag = "2")]
    value: Option<sorted::Struct>,
}

fn typed(r#type: &str, config: &Value) -> Any {
    let typed = TypedStruct {
        type_url: format!("type.googleapis.com/{type}"),
        value: config.as_object().map(sorted::Struct::new),
    };
    Any { type_url: "type.googleapis.com/udpa.type.v1.TypedStruct".to_owned(), value: typed.encode_to_vec() }
}

/// Peers tell each other who they are, in headers.
pub(super) fn http_metadata_exchange(side: Side, headers: Option<&ProxyHeaders>) -> HttpFilter {
    let discovery = json!([{"istio_headers": {}}, {"workload_discovery": {}}]);
    let only_inside = headers
        .and_then(|headers| headers.metadata_exchange_headers.as_ref())
        .is_some_and(|asked| asked.mode == i32::from(MetadataExchangeMode::InMesh));
    let config = match side {
        Side::Inbound => json!({
            "downstream_discovery": discovery,
            "downstream_propagation": [{"istio_headers": {}}],
        }),
        _ if only_inside => json!({
            "upstream_discovery": discovery,
            "upstream_propagation": [{"istio_headers": {"skip_external_clusters": true}}],
        }),
        _ => json!({"upstream_discovery": discovery, "upstream_propagation": [{"istio_headers": {}}]}),
    };
    message::http_filter(METADATA_EXCHANGE, typed("io.istio.http.peer_metadata.Config", &config))
}

/// The same, ahead of what a TCP connection carries.
pub(super) fn tcp_metadata_exchange() -> Filter {
    let config = json!({"protocol": "istio-peer-exchange", "enable_discovery": true});
    let config = typed("envoy.tcp.metadataexchange.config.MetadataExchange", &config);
    message::network_filter(METADATA_EXCHANGE, config)
}

#[derive(Clone, PartialEq, prost::Message)]
struct AlpnConfig {
    #[prost(message, repeated, tag = "1")]
    alpn_override: Vec<AlpnOverride>,
}

#[derive(Clone, PartialEq, prost::Message)]
struct AlpnOverride {
    /// 0: HTTP/1.0, 1: HTTP/1.1, 2: HTTP/2
    #[prost(int32, tag = "1")]
    upstream_protocol: i32,
    #[prost(string, repeated, tag = "2")]
    alpn_override: Vec<String>,
}

/// Offers, inside mutual TLS, the protocol that is spoken to the server.
pub(super) fn alpn() -> HttpFilter {
    let offers = [
        ["istio-http/1.0", "istio", "http/1.0"],
        ["istio-http/1.1", "istio", "http/1.1"],
        ["istio-h2", "istio", "h2"],
    ];
    let alpn_override = (0..).zip(offers).map(|(upstream_protocol, offer)| AlpnOverride {
        upstream_protocol,
        alpn_override: offer.map(str::to_owned).into(),
    });
    let config = AlpnConfig { alpn_override: alpn_override.collect() };
    message::http_filter(
        "istio.alpn",
        Any {
            type_url: "type.googleapis.com/istio.envoy.config.filter.http.alpn.v2alpha1.FilterConfig"
                .to_owned(),
            value: config.encode_to_vec(),
        },
    )
}
