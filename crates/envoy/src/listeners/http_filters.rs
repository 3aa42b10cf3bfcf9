//! The HTTP filters of a connection manager, in Istio's order.

use super::{
    base::Base,
    http::Side,
    message::{any, http_filter},
    own_filters,
};
use crate::Filters;
use mizzen_proto::{
    envoy::{
        config::core::v3::{DataSource, SubstitutionFormatString, data_source, substitution_format_string},
        extensions::filters::{
            common::set_filter_state::v3::{
                FilterStateValue,
                filter_state_value::{Key, SharedWithUpstream, Value},
            },
            http::{
                cors::v3::Cors,
                fault::v3::HttpFault,
                grpc_stats::v3::{FilterConfig as GrpcStats, filter_config::PerMethodStatSpecifier},
                grpc_web::v3::GrpcWeb,
                router::v3::Router,
                set_filter_state::v3::Config as SetFilterState,
            },
            network::http_connection_manager::v3::HttpFilter,
        },
    },
    google::protobuf::BoolValue,
};

pub(super) const GRPC_STATS: &str = "envoy.filters.http.grpc_stats";
pub(super) const GRPC_WEB: &str = "envoy.filters.http.grpc_web";
pub(super) const FAULT: &str = "envoy.filters.http.fault";
pub(super) const CORS: &str = "envoy.filters.http.cors";
pub(super) const ROUTER: &str = "envoy.filters.http.router";
/// Has the place of `istio.alpn` in a stock proxy.
pub(super) const ALPN: &str = "envoy.filters.http.set_filter_state";

/// `web`: gRPC-Web is translated. (Authorization, JWT and extensions will stand before gRPC's, telemetry before the
/// router.)
pub(super) fn all(base: &Base, side: Side, web: bool) -> Vec<HttpFilter> {
    let headers = base.config.proxy_headers.as_ref();
    let options = &base.options;
    let mut filters = Vec::with_capacity(8);
    if options.filters == Filters::Istio && options.metadata_exchange {
        filters.push(own_filters::http_metadata_exchange(side, headers));
    }
    if web {
        filters.push(http_filter(GRPC_WEB, any(&GrpcWeb {})));
    }
    filters.push(http_filter(
        GRPC_STATS,
        any(&GrpcStats {
            emit_filter_state: true,
            per_method_stat_specifier: Some(PerMethodStatSpecifier::StatsForAllMethods(BoolValue {
                value: false,
            })),
            ..GrpcStats::default()
        }),
    ));
    if options.alpn && side != Side::Inbound {
        filters.push(match options.filters {
            Filters::Stock => http_filter(ALPN, any(&stock_alpn())),
            Filters::Istio => own_filters::alpn(),
        });
    }
    filters.push(http_filter(FAULT, any(&HttpFault::default())));
    filters.push(http_filter(CORS, any(&Cors {})));
    let silent = headers.and_then(|headers| headers.envoy_debug_headers.as_ref()?.disabled).unwrap_or(false);
    filters.push(http_filter(ROUTER, any(&Router { suppress_envoy_headers: silent, ..Router::default() })));
    filters
}

/// Tells the server's proxy, inside mutual TLS, that HTTP comes. Of the names that Istio offers only those that stand for no
/// real protocol are used: the server picks none of them and finds out by itself whether it is HTTP/1 or HTTP/2. A cluster outside of
/// the mesh says in its metadata what to offer there.
fn stock_alpn() -> SetFilterState {
    let offer = |text: &str, skip_if_empty| FilterStateValue {
        key: Some(Key::ObjectKey("envoy.network.application_protocols".to_owned())),
        value: Some(Value::FormatString(SubstitutionFormatString {
            format: Some(substitution_format_string::Format::TextFormatSource(DataSource {
                specifier: Some(data_source::Specifier::InlineString(text.to_owned())),
                ..DataSource::default()
            })),
            omit_empty_values: true,
            ..SubstitutionFormatString::default()
        })),
        shared_with_upstream: SharedWithUpstream::Once.into(),
        skip_if_empty,
        ..FilterStateValue::default()
    };
    SetFilterState {
        on_request_headers: vec![
            offer("istio-http/1.1,istio", false),
            offer("%METADATA(CLUSTER:istio:alpn)%", true),
        ],
        ..SetFilterState::default()
    }
}
