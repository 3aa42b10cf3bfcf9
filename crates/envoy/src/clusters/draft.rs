//! A cluster while it is built: Envoy's message, and beside it what has to be put into it at the end.

use super::Client;
use crate::{
    Resource,
    endpoints::Assignment,
    message::{any, from_ads, seconds},
    metadata::{ISTIO, Metadata, Value},
};
use mizzen_mesh::{Key, Port, ProxyKind, Service};
use mizzen_proto::{
    envoy::{
        config::{
            cluster::v3::{
                Cluster, Filter,
                cluster::{ClusterDiscoveryType, CommonLbConfig, DiscoveryType, EdsClusterConfig, LbPolicy},
            },
            core::v3::{
                ConfigSource, Http1ProtocolOptions, Http2ProtocolOptions, TypedExtensionConfig,
                http1_protocol_options::{HeaderKeyFormat, header_key_format::HeaderFormat},
            },
        },
        extensions::{
            http::header_formatters::preserve_case::v3::PreserveCaseFormatterConfig,
            upstreams::http::v3::{
                HttpProtocolOptions,
                http_protocol_options::{
                    ExplicitHttpConfig, UpstreamProtocolOptions, UseDownstreamHttpConfig,
                    explicit_http_config::ProtocolConfig,
                },
            },
        },
    },
    google::protobuf::Any,
};
use prost::{Message, Name};
use std::sync::Arc;

pub(super) struct Draft {
    pub(super) cluster: Cluster,
    pub(super) http: Option<HttpProtocolOptions>,
    pub(super) metadata: Option<Metadata>,
    pub(super) assignment: Option<Assignment>,
}

/// What of a cluster is not written into Envoy's message, which keeps maps in no order. Two messages of one type one behind the other are
/// one message with the fields of both.
#[derive(Clone, PartialEq, prost::Message)]
struct Rest {
    #[prost(message, optional, tag = "25")]
    metadata: Option<Metadata>,
    #[prost(message, optional, tag = "33")]
    load_assignment: Option<Assignment>,
}

impl Draft {
    pub(super) fn new(name: String, kind: DiscoveryType) -> Self {
        let cluster = Cluster {
            alt_stat_name: format!("{name};"),
            name,
            cluster_discovery_type: Some(ClusterDiscoveryType::Type(kind.into())),
            ..Cluster::default()
        };
        Self { cluster, http: None, metadata: None, assignment: None }
    }

    /// Of a service: with balancing, and metadata that telemetry reads.
    pub(super) fn of_service(name: String, kind: DiscoveryType, client: &Client, port: &Port) -> Self {
        let mut draft = Self::new(name, kind);
        draft.cluster.common_lb_config = Some(CommonLbConfig::default());
        draft.speak(client, port);
        draft
    }

    pub(super) fn kind(&self) -> DiscoveryType {
        match self.cluster.cluster_discovery_type {
            Some(ClusterDiscoveryType::Type(kind)) => {
                DiscoveryType::try_from(kind).unwrap_or(DiscoveryType::Static)
            }
            _ => DiscoveryType::Static,
        }
    }

    pub(super) fn is_original_destination(&self) -> bool {
        self.kind() == DiscoveryType::OriginalDst
    }

    pub(super) fn lb_config(&mut self) -> &mut CommonLbConfig {
        self.cluster.common_lb_config.get_or_insert_default()
    }

    pub(super) fn http(&mut self) -> &mut HttpProtocolOptions {
        self.http.get_or_insert_default()
    }

    pub(super) fn set(&mut self, key: &str, value: Value) {
        self.metadata.get_or_insert_default().set(ISTIO, key, value);
    }

    pub(super) fn say_services<'a>(&mut self, services: impl Iterator<Item = &'a Service>) {
        let describe = |service: &Service| {
            Value::object([
                ("host", Value::text(service.host())),
                ("name", Value::text(&*service.name)),
                ("namespace", Value::text(service.namespace())),
            ])
        };
        self.set("services", Value::list(services.map(describe).collect()));
    }

    /// Which DestinationRule made it so.
    pub(super) fn say_rule(&mut self, rule: Option<&Key>) {
        if let Some(Key { namespace, name, .. }) = rule {
            let path = format!("/apis/networking.istio.io/v1/namespaces/{namespace}/destination-rule/{name}");
            self.set("config", Value::text(path));
        }
    }

    /// The protocol that the port's name says.
    fn speak(&mut self, client: &Client, port: &Port) {
        let unknown = port.protocol.is_unknown();
        if port.protocol.is_http2() {
            self.use_http2();
            return;
        }
        if client.preserve_case && (port.protocol.is_http() || unknown) {
            self.http().upstream_protocol_options =
                Some(explicit(ProtocolConfig::HttpProtocolOptions(preserve_case())));
        }
        // A gateway's clients choose HTTP/2 by ALPN whatever the service behind can do.
        if unknown && client.kind == ProxyKind::Sidecar {
            self.use_protocol_of_request();
        }
    }

    pub(super) fn use_http2(&mut self) {
        let http2 = || explicit(ProtocolConfig::Http2ProtocolOptions(Http2ProtocolOptions::default()));
        self.http().upstream_protocol_options.get_or_insert_with(http2);
    }

    /// What the client speaks is spoken to the service, too.
    pub(super) fn use_protocol_of_request(&mut self) {
        let http1 = match self.http().upstream_protocol_options.take() {
            Some(UpstreamProtocolOptions::ExplicitHttpConfig(ExplicitHttpConfig {
                protocol_config: Some(ProtocolConfig::HttpProtocolOptions(http1)),
            })) => http1,
            _ => Http1ProtocolOptions::default(),
        };
        self.http().upstream_protocol_options = Some(protocol_of_request(http1));
    }

    /// HTTP/2 and nothing else.
    pub(super) fn http2(&mut self) -> Option<&mut Http2ProtocolOptions> {
        match self.http.as_mut()?.upstream_protocol_options.as_mut()? {
            UpstreamProtocolOptions::ExplicitHttpConfig(ExplicitHttpConfig {
                protocol_config: Some(ProtocolConfig::Http2ProtocolOptions(http2)),
            }) => Some(http2),
            _ => None,
        }
    }

    /// Endpoints come apart, if it wants any.
    pub(super) fn subscribe(&mut self) {
        if self.kind() == DiscoveryType::Eds {
            self.cluster.eds_cluster_config = Some(EdsClusterConfig {
                service_name: self.cluster.name.clone(),
                eds_config: Some(ConfigSource { initial_fetch_timeout: Some(seconds(0)), ..from_ads() }),
            });
        }
    }

    pub(super) fn exchange_metadata(&mut self) {
        self.cluster.filters.push(metadata_exchange());
    }

    pub(super) fn finish(mut self) -> Arc<Resource> {
        if self.is_original_destination() {
            self.cluster.lb_policy = LbPolicy::ClusterProvided.into();
        }
        if let Some(mut options) = self.http {
            let http1 = || explicit(ProtocolConfig::HttpProtocolOptions(Http1ProtocolOptions::default()));
            options.upstream_protocol_options.get_or_insert_with(http1);
            self.cluster
                .typed_extension_protocol_options
                .insert(HttpProtocolOptions::full_name(), any(&options));
        }
        let mut body = Vec::new();
        let rest = Rest { metadata: self.metadata, load_assignment: self.assignment };
        body.reserve(self.cluster.encoded_len() + rest.encoded_len());
        // A Vec takes whatever is written.
        let _ = self.cluster.encode(&mut body);
        let _ = rest.encode(&mut body);
        Arc::new(Resource::new(self.cluster.name, body))
    }
}

fn explicit(config: ProtocolConfig) -> UpstreamProtocolOptions {
    UpstreamProtocolOptions::ExplicitHttpConfig(ExplicitHttpConfig { protocol_config: Some(config) })
}

pub(super) fn protocol_of_request(http1: Http1ProtocolOptions) -> UpstreamProtocolOptions {
    UpstreamProtocolOptions::UseDownstreamProtocolConfig(UseDownstreamHttpConfig {
        http_protocol_options: Some(http1),
        http2_protocol_options: Some(Http2ProtocolOptions::default()),
        ..UseDownstreamHttpConfig::default()
    })
}

pub(super) fn preserve_case() -> Http1ProtocolOptions {
    let formatter = TypedExtensionConfig {
        name: "preserve_case".to_owned(),
        typed_config: Some(any(&PreserveCaseFormatterConfig::default())),
    };
    Http1ProtocolOptions {
        header_key_format: Some(HeaderKeyFormat {
            header_format: Some(HeaderFormat::StatefulFormatter(formatter)),
        }),
        ..Http1ProtocolOptions::default()
    }
}

/// `udpa.type.v1.TypedStruct`, with ordered fields.
#[derive(Clone, PartialEq, prost::Message)]
struct TypedStruct {
    #[prost(string, tag = "1")]
    type_url: String,
    #[prost(message, optional, tag = "2")]
    value: Option<crate::metadata::Struct>,
}

/// Istio's filter that tells the peers of each other.
fn metadata_exchange() -> Filter {
    let fields = [("protocol", Value::text("istio-peer-exchange")), ("enable_discovery", Value::yes(true))];
    let config = TypedStruct {
        type_url: "type.googleapis.com/envoy.tcp.metadataexchange.config.MetadataExchange".to_owned(),
        value: Some(crate::metadata::Struct::of(fields)),
    };
    Filter {
        name: "istio.metadata_exchange".to_owned(),
        typed_config: Some(Any {
            type_url: "type.googleapis.com/udpa.type.v1.TypedStruct".to_owned(),
            value: config.encode_to_vec(),
        }),
        ..Filter::default()
    }
}
