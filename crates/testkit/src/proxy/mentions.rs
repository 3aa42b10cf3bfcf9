//! Which names a cluster or a listener makes its proxy ask for.
//!
//! Envoy's messages are large and hold little of interest here: these have the same numbers and only the fields that lead
//! there, so everything else is skipped unread.

use prost::Message;

use super::kind::Kind;

const HTTP_CONNECTION_MANAGER: &str =
    "type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager";
/// Of `DiscoveryType`.
const EDS: i32 = 3;

#[derive(Message)]
struct Cluster {
    #[prost(string, tag = "1")]
    name: String,
    #[prost(int32, optional, tag = "2")]
    discovery: Option<i32>,
    #[prost(message, optional, tag = "3")]
    eds: Option<Eds>,
}

#[derive(Message)]
struct Eds {
    #[prost(string, tag = "2")]
    service_name: String,
}

#[derive(Message)]
struct Listener {
    #[prost(message, repeated, tag = "3")]
    chains: Vec<Chain>,
    #[prost(message, optional, tag = "25")]
    default_chain: Option<Chain>,
}

#[derive(Message)]
struct Chain {
    #[prost(message, repeated, tag = "3")]
    filters: Vec<Filter>,
}

#[derive(Message)]
struct Filter {
    #[prost(message, optional, tag = "4")]
    configuration: Option<Configuration>,
}

#[derive(Message)]
struct Configuration {
    #[prost(string, tag = "1")]
    url: String,
    #[prost(bytes = "bytes", tag = "2")]
    value: bytes::Bytes,
}

#[derive(Message)]
struct ConnectionManager {
    #[prost(message, optional, tag = "3")]
    routes: Option<Routes>,
}

#[derive(Message)]
struct Routes {
    #[prost(string, tag = "2")]
    name: String,
}

/// Names of endpoints for a cluster, of routes for a listener; nothing for the others, nor for what cannot be decoded.
pub fn mentions(kind: Kind, resource: &[u8]) -> Vec<String> {
    match kind {
        Kind::Clusters => Cluster::decode(resource).ok().and_then(endpoints).into_iter().collect(),
        Kind::Listeners => Listener::decode(resource).map(routes).unwrap_or_default(),
        Kind::Endpoints | Kind::Routes => Vec::new(),
    }
}

fn endpoints(cluster: Cluster) -> Option<String> {
    if cluster.discovery != Some(EDS) {
        return None;
    }
    let named = cluster.eds.map(|eds| eds.service_name).filter(|name| !name.is_empty());
    Some(named.unwrap_or(cluster.name))
}

fn routes(listener: Listener) -> Vec<String> {
    let chains = listener.chains.into_iter().chain(listener.default_chain);
    let configurations = chains.flat_map(|chain| chain.filters).filter_map(|filter| filter.configuration);
    configurations
        .filter(|configuration| configuration.url == HTTP_CONNECTION_MANAGER)
        .filter_map(|configuration| ConnectionManager::decode(configuration.value).ok()?.routes)
        .map(|routes| routes.name)
        .collect()
}

#[cfg(test)]
mod tests {
    use envoy_types::{
        pb::envoy::{
            config::{
                cluster::v3::{
                    Cluster,
                    cluster::{ClusterDiscoveryType, DiscoveryType, EdsClusterConfig},
                },
                listener::v3::{Filter, FilterChain, Listener, filter::ConfigType},
            },
            extensions::filters::network::http_connection_manager::v3::{
                HttpConnectionManager, Rds, http_connection_manager::RouteSpecifier,
            },
        },
        util::pack_any,
    };
    use prost::Message;

    use super::{Kind, mentions};

    fn cluster(kind: DiscoveryType, service: &str) -> Vec<u8> {
        let cluster = Cluster {
            name: "a".to_owned(),
            cluster_discovery_type: Some(ClusterDiscoveryType::Type(kind.into())),
            eds_cluster_config: Some(EdsClusterConfig {
                service_name: service.to_owned(),
                ..Default::default()
            }),
            ..Default::default()
        };
        cluster.encode_to_vec()
    }

    #[test]
    fn only_a_cluster_that_says_so_has_endpoints_of_its_own() {
        let ask = |bytes: Vec<u8>| mentions(Kind::Clusters, &bytes);
        assert_eq!(ask(cluster(DiscoveryType::Eds, "")), ["a"]);
        assert_eq!(ask(cluster(DiscoveryType::Eds, "b")), ["b"]);
        assert!(ask(cluster(DiscoveryType::StrictDns, "b")).is_empty());
        assert!(ask(cluster(DiscoveryType::Static, "")).is_empty());
    }

    #[test]
    fn a_listener_names_routes_in_any_of_its_chains() {
        let chain = |name: &str| FilterChain {
            filters: vec![Filter {
                config_type: Some(ConfigType::TypedConfig(pack_any(HttpConnectionManager {
                    route_specifier: Some(RouteSpecifier::Rds(Rds {
                        route_config_name: name.to_owned(),
                        ..Default::default()
                    })),
                    ..Default::default()
                }))),
                ..Default::default()
            }],
            ..Default::default()
        };
        let listener = Listener {
            filter_chains: vec![chain("80"), FilterChain::default(), chain("81")],
            default_filter_chain: Some(chain("82")),
            ..Default::default()
        };
        assert_eq!(mentions(Kind::Listeners, &listener.encode_to_vec()), ["80", "81", "82"]);
        assert!(mentions(Kind::Listeners, b"\xff\xff").is_empty(), "what cannot be decoded mentions nothing");
    }
}
