//! The HTTP connection manager: what is the same on both sides of a sidecar and on a router, and what is not.

use super::{
    address::Range,
    base::Base,
    connection, http_filters,
    message::{any, duration, flag, network_filter, seconds},
};
use mizzen_proto::{
    envoy::{
        config::{
            core::v3::{
                AggregatedConfigSource, ApiVersion, ConfigSource, Http1ProtocolOptions, Http2ProtocolOptions,
                HttpProtocolOptions, TypedExtensionConfig,
                config_source::ConfigSourceSpecifier,
                http1_protocol_options::{HeaderKeyFormat, header_key_format::HeaderFormat},
            },
            listener::v3::Filter,
            route::v3::RouteConfiguration,
        },
        extensions::{
            filters::network::http_connection_manager::v3::{
                HttpConnectionManager, Rds, RequestIdExtension,
                http_connection_manager::{
                    ForwardClientCertDetails, InternalAddressConfig, PathWithEscapedSlashesAction,
                    RouteSpecifier, ServerHeaderTransformation, SetCurrentClientCertDetails, UpgradeConfig,
                },
            },
            http::header_formatters::preserve_case::v3::PreserveCaseFormatterConfig,
            request_id::uuid::v3::UuidRequestIdConfig,
        },
    },
    istio::mesh::v1alpha1::{
        ForwardClientCertDetails as Asked, mesh_config::proxy_path_normalization::NormalizationType,
        network::network_endpoints::Ne, proxy_config::ProxyHeaders,
    },
};

pub(super) const MANAGER: &str = "envoy.filters.network.http_connection_manager";

/// Where a connection manager stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Side {
    /// Before the workload.
    Inbound,
    /// Behind the workload.
    Outbound,
    /// On a router.
    Gateway,
}

pub(super) enum Routes {
    /// Sent apart, by this name.
    Named(String),
    Inline(Box<RouteConfiguration>),
}

pub(super) struct Http {
    pub(super) side: Side,
    pub(super) stat_prefix: String,
    pub(super) routes: Routes,
    /// gRPC-Web is translated.
    pub(super) web: bool,
    /// HTTP/2 is known to come.
    pub(super) http2: bool,
    /// Clients use the listener as their HTTP proxy.
    pub(super) forward: bool,
}

impl Base {
    pub(super) fn http(&self, http: Http) -> Filter {
        network_filter(MANAGER, any(&self.manager(http)))
    }

    fn manager(&self, http: Http) -> HttpConnectionManager {
        let none = ProxyHeaders::default();
        let headers = self.config.proxy_headers.as_ref().unwrap_or(&none);
        let mut manager = HttpConnectionManager {
            stat_prefix: http.stat_prefix,
            access_log: self.logs.http.clone(),
            tracing: self.tracing.clone(),
            http_filters: http_filters::all(self, http.side, http.web),
            use_remote_address: flag(http.side == Side::Gateway),
            upgrade_configs: vec![UpgradeConfig {
                upgrade_type: "websocket".to_owned(),
                ..Default::default()
            }],
            stream_idle_timeout: seconds(0),
            append_x_forwarded_port: headers.x_forwarded_port.and_then(|port| port.enabled).unwrap_or(false),
            request_id_extension: Some(RequestIdExtension {
                typed_config: Some(any(&UuidRequestIdConfig {
                    use_request_id_for_trace_sampling: flag(true),
                    ..UuidRequestIdConfig::default()
                })),
            }),
            proxy_100_continue: true,
            common_http_protocol_options: self.idle.map(|idle| HttpProtocolOptions {
                idle_timeout: Some(duration(idle)),
                ..HttpProtocolOptions::default()
            }),
            http2_protocol_options: http.http2.then(Http2ProtocolOptions::default),
            route_specifier: Some(match http.routes {
                Routes::Named(route_config_name) => {
                    RouteSpecifier::Rds(Rds { config_source: Some(aggregated()), route_config_name })
                }
                Routes::Inline(routes) => RouteSpecifier::RouteConfig(*routes),
            }),
            ..HttpConnectionManager::default()
        };
        self.normalize_paths(&mut manager);
        self.name_server(headers, http.side, &mut manager);
        self.forward_certificates(headers, http.side, &mut manager);
        manager.http_protocol_options = self.http1(headers, http.side, http.forward);
        if let Some(settings) = &self.connection {
            connection::apply(settings, &mut manager);
        }
        if http.side == Side::Gateway {
            manager.internal_address_config = self.internal_addresses();
        }
        manager
    }

    fn normalize_paths(&self, manager: &mut HttpConnectionManager) {
        let asked = self.mesh.path_normalization.as_ref().map_or(0, |paths| paths.normalization);
        let asked = NormalizationType::try_from(asked).unwrap_or(NormalizationType::Default);
        manager.normalize_path = flag(asked != NormalizationType::None);
        manager.merge_slashes =
            matches!(asked, NormalizationType::MergeSlashes | NormalizationType::DecodeAndMergeSlashes);
        manager.path_with_escaped_slashes_action = match asked {
            NormalizationType::DecodeAndMergeSlashes => PathWithEscapedSlashesAction::UnescapeAndForward,
            _ => PathWithEscapedSlashesAction::KeepUnchanged,
        }
        .into();
    }

    /// Outbound it has Envoy's own name, as it always had.
    fn name_server(&self, headers: &ProxyHeaders, side: Side, manager: &mut HttpConnectionManager) {
        let default = if side == Side::Outbound { "" } else { "istio-envoy" };
        (manager.server_name, manager.server_header_transformation) = match &headers.server {
            Some(server) if server.disabled == Some(true) => {
                (String::new(), ServerHeaderTransformation::PassThrough.into())
            }
            Some(server) if !server.value.is_empty() => (server.value.clone(), 0),
            _ => (default.to_owned(), 0),
        };
        if headers.request_id.and_then(|id| id.disabled) == Some(true) {
            manager.generate_request_id = flag(false);
        }
    }

    /// `x-forwarded-client-cert`: what servers learn of their clients' certificates.
    fn forward_certificates(&self, headers: &ProxyHeaders, side: Side, manager: &mut HttpConnectionManager) {
        let topology = self.config.gateway_topology.as_ref();
        match side {
            Side::Outbound => {}
            Side::Inbound => {
                let asked = headers.set_current_client_cert_details.unwrap_or_default();
                manager.forward_client_cert_details =
                    forwarding(headers.forwarded_client_cert, ForwardClientCertDetails::AppendForward).into();
                manager.set_current_client_cert_details = Some(SetCurrentClientCertDetails {
                    subject: flag(asked.subject.unwrap_or(true)),
                    uri: asked.uri.unwrap_or(true),
                    dns: asked.dns.unwrap_or(true),
                    cert: asked.cert.unwrap_or(false),
                    chain: asked.chain.unwrap_or(false),
                    ..SetCurrentClientCertDetails::default()
                });
            }
            Side::Gateway => {
                let asked = topology.map_or(0, |topology| topology.forward_client_cert_details);
                let details = forwarding(asked, ForwardClientCertDetails::SanitizeSet);
                manager.forward_client_cert_details = details.into();
                manager.xff_num_trusted_hops = topology.map_or(0, |topology| topology.num_trusted_proxies);
                if matches!(
                    details,
                    ForwardClientCertDetails::AppendForward | ForwardClientCertDetails::SanitizeSet
                ) {
                    manager.set_current_client_cert_details = Some(SetCurrentClientCertDetails {
                        subject: flag(true),
                        uri: true,
                        dns: true,
                        cert: true,
                        ..SetCurrentClientCertDetails::default()
                    });
                }
            }
        }
    }

    fn http1(&self, headers: &ProxyHeaders, side: Side, forward: bool) -> Option<Http1ProtocolOptions> {
        let keep_case = headers.preserve_http1_header_case == Some(true);
        if !(keep_case || self.http10 || forward || side == Side::Gateway) {
            return None;
        }
        Some(Http1ProtocolOptions {
            allow_absolute_url: if forward { flag(true) } else { None },
            accept_http_10: self.http10,
            header_key_format: keep_case.then(|| HeaderKeyFormat {
                header_format: Some(HeaderFormat::StatefulFormatter(TypedExtensionConfig {
                    name: "preserve_case".to_owned(),
                    typed_config: Some(any(&PreserveCaseFormatterConfig::default())),
                })),
            }),
            ..Http1ProtocolOptions::default()
        })
    }

    /// The mesh's networks are inside.
    fn internal_addresses(&self) -> Option<InternalAddressConfig> {
        let endpoints = self.networks.networks.values().flat_map(|network| &network.endpoints);
        let mut ranges: Vec<Range> = endpoints
            .filter_map(|endpoints| match endpoints.ne.as_ref()? {
                Ne::FromCidr(text) => Range::parse(text),
                Ne::FromRegistry(_) => None,
            })
            .collect();
        ranges.sort();
        (!ranges.is_empty()).then(|| InternalAddressConfig {
            cidr_ranges: ranges.into_iter().map(Range::message).collect(),
            ..InternalAddressConfig::default()
        })
    }
}

fn forwarding(asked: i32, default: ForwardClientCertDetails) -> ForwardClientCertDetails {
    match Asked::try_from(asked) {
        Ok(Asked::Sanitize) => ForwardClientCertDetails::Sanitize,
        Ok(Asked::ForwardOnly) => ForwardClientCertDetails::ForwardOnly,
        Ok(Asked::AppendForward) => ForwardClientCertDetails::AppendForward,
        Ok(Asked::SanitizeSet) => ForwardClientCertDetails::SanitizeSet,
        Ok(Asked::AlwaysForwardOnly) => ForwardClientCertDetails::AlwaysForwardOnly,
        Ok(Asked::Undefined) | Err(_) => default,
    }
}

fn aggregated() -> ConfigSource {
    ConfigSource {
        config_source_specifier: Some(ConfigSourceSpecifier::Ads(AggregatedConfigSource::default())),
        initial_fetch_timeout: seconds(0),
        resource_api_version: ApiVersion::V3.into(),
        ..ConfigSource::default()
    }
}
