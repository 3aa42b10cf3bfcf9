//! The routes of an inbound port, which stand in the listener itself: all to the workload, without a timeout.

use crate::listeners::message::{flag, number, seconds};
use mizzen_mesh::Protocol;
use mizzen_proto::envoy::config::route::v3::{
    Decorator, RetryPolicy, Route, RouteAction, RouteConfiguration, RouteMatch, VirtualHost,
    route::Action,
    route_action::{ClusterSpecifier, MaxStreamDuration},
    route_match::PathSpecifier,
};

/// `host` and `port` are the service's, for spans.
pub(super) fn all(cluster: &str, host: &str, port: u32, protocol: Protocol) -> RouteConfiguration {
    // A stream of gRPC cannot be sent again.
    let again = !matches!(protocol, Protocol::Grpc | Protocol::GrpcWeb);
    let action = RouteAction {
        cluster_specifier: Some(ClusterSpecifier::Cluster(cluster.to_owned())),
        timeout: seconds(0),
        max_stream_duration: Some(MaxStreamDuration {
            max_stream_duration: seconds(0),
            grpc_timeout_header_max: seconds(0),
            ..MaxStreamDuration::default()
        }),
        retry_policy: again.then(|| RetryPolicy {
            retry_on: "reset-before-request".to_owned(),
            num_retries: number(2),
            ..RetryPolicy::default()
        }),
        ..RouteAction::default()
    };
    let operation =
        if host.contains(':') { format!("[{host}]:{port}/*") } else { format!("{host}:{port}/*") };
    let route = Route {
        name: "default".to_owned(),
        r#match: Some(RouteMatch {
            path_specifier: Some(PathSpecifier::Prefix("/".to_owned())),
            ..RouteMatch::default()
        }),
        decorator: Some(Decorator { operation, ..Decorator::default() }),
        action: Some(Action::Route(action)),
        ..Route::default()
    };
    RouteConfiguration {
        name: cluster.to_owned(),
        virtual_hosts: vec![VirtualHost {
            name: format!("inbound|http|{port}"),
            domains: vec!["*".to_owned()],
            routes: vec![route],
            ..VirtualHost::default()
        }],
        validate_clusters: flag(false),
        ..RouteConfiguration::default()
    }
}
