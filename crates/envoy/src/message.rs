//! The small messages that every kind of resource is full of: packed extensions, durations, wrapped numbers, addresses,
//! secrets.

use mizzen_proto::{
    Duration,
    envoy::{
        config::core::v3::{
            Address, AggregatedConfigSource, ApiConfigSource, ApiVersion, ConfigSource, GrpcService, Pipe,
            SocketAddress, TransportSocket, address,
            api_config_source::ApiType,
            config_source::ConfigSourceSpecifier,
            grpc_service::{EnvoyGrpc, TargetSpecifier},
            socket_address::PortSpecifier,
            transport_socket::ConfigType,
        },
        extensions::transport_sockets::{raw_buffer::v3::RawBuffer, tls::v3::SdsSecretConfig},
        r#type::v3::Percent,
    },
    google::protobuf::{self, Any, UInt32Value, UInt64Value},
};
use prost::{Message, Name};

/// An extension's configuration.
pub fn any<M: Message + Name>(message: &M) -> Any {
    Any { type_url: M::type_url(), value: message.encode_to_vec() }
}

pub fn number(value: u32) -> UInt32Value {
    UInt32Value { value }
}

pub fn long(value: u64) -> UInt64Value {
    UInt64Value { value }
}

pub fn percent(value: f64) -> Percent {
    Percent { value }
}

/// Envoy refuses negative durations; they count as not said.
pub fn duration(from: Duration) -> Option<protobuf::Duration> {
    (from.as_nanos() >= 0).then_some(protobuf::Duration { seconds: from.seconds, nanos: from.nanos })
}

pub fn seconds(seconds: i64) -> protobuf::Duration {
    protobuf::Duration { seconds, nanos: 0 }
}

pub fn socket_address(host: &str, port: u32) -> SocketAddress {
    SocketAddress {
        address: host.to_owned(),
        port_specifier: Some(PortSpecifier::PortValue(port)),
        ..SocketAddress::default()
    }
}

/// `host` may be a path, as `unix://…` or from its first slash.
pub fn address(host: &str, port: u32) -> Address {
    let path = host.strip_prefix("unix://").or_else(|| host.starts_with(['/', '@']).then_some(host));
    Address {
        address: Some(match path {
            Some(path) => address::Address::Pipe(Pipe { path: path.to_owned(), ..Pipe::default() }),
            None => address::Address::SocketAddress(socket_address(host, port)),
        }),
    }
}

pub fn transport_socket<M: Message + Name>(name: &str, config: &M) -> TransportSocket {
    TransportSocket { name: name.to_owned(), config_type: Some(ConfigType::TypedConfig(any(config))) }
}

/// No encryption.
pub fn raw_buffer() -> TransportSocket {
    transport_socket("envoy.transport_sockets.raw_buffer", &RawBuffer {})
}

/// From the stream that this resource itself came by.
pub fn from_ads() -> ConfigSource {
    ConfigSource {
        config_source_specifier: Some(ConfigSourceSpecifier::Ads(AggregatedConfigSource {})),
        resource_api_version: ApiVersion::V3.into(),
        ..ConfigSource::default()
    }
}

/// The proxy's own certificate and what it trusts are called these.
pub const DEFAULT_SECRET: &str = "default";
pub const ROOT_SECRET: &str = "ROOTCA";

/// A secret that the proxy's agent serves.
pub fn agent_secret(name: &str) -> SdsSecretConfig {
    let grpc = GrpcService {
        target_specifier: Some(TargetSpecifier::EnvoyGrpc(EnvoyGrpc {
            cluster_name: "sds-grpc".to_owned(),
            ..EnvoyGrpc::default()
        })),
        ..GrpcService::default()
    };
    let api = ApiConfigSource {
        api_type: ApiType::Grpc.into(),
        transport_api_version: ApiVersion::V3.into(),
        grpc_services: vec![grpc],
        set_node_on_first_message_only: true,
        ..ApiConfigSource::default()
    };
    SdsSecretConfig {
        name: name.to_owned(),
        sds_config: Some(ConfigSource {
            config_source_specifier: Some(ConfigSourceSpecifier::ApiConfigSource(api)),
            // What cannot work without these waits for them for ever.
            initial_fetch_timeout: matches!(name, DEFAULT_SECRET | ROOT_SECRET).then(|| seconds(0)),
            resource_api_version: ApiVersion::V3.into(),
            ..ConfigSource::default()
        }),
    }
}
