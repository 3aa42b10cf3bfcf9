//! Network filters that pass bytes on.

use super::{
    base::Base,
    message::{any, duration, network_filter},
    own_filters,
};
use crate::Filters;
use mizzen_mesh::Protocol;
use mizzen_proto::{
    envoy::{
        config::listener::v3::Filter,
        extensions::filters::network::{
            mongo_proxy::v3::MongoProxy,
            tcp_proxy::v3::{
                TcpProxy,
                tcp_proxy::{
                    ClusterSpecifier, TunnelingConfig, WeightedCluster, weighted_cluster::ClusterWeight,
                },
            },
        },
        r#type::v3::{HashPolicy, hash_policy},
    },
    istio::networking::v1alpha3::{
        DestinationRule, TrafficPolicy,
        load_balancer_settings::{LbPolicy, consistent_hash_lb::HashKey},
    },
};

pub(super) const TCP_PROXY: &str = "envoy.filters.network.tcp_proxy";

pub(super) enum Upstream {
    Cluster(String),
    /// Names with weights; none is 0.
    Weighted(Vec<(String, u32)>),
}

pub(super) struct Tcp<'a> {
    pub(super) stat_prefix: String,
    pub(super) to: Upstream,
    pub(super) protocol: Protocol,
    /// Of the one that it goes to; of the first of several.
    pub(super) rule: Option<&'a DestinationRule>,
    pub(super) subset: &'a str,
    /// The client's proxy may tell who it is.
    pub(super) peers: bool,
}

impl Base {
    pub(super) fn tcp(&self, tcp: Tcp<'_>) -> Vec<Filter> {
        let policy = tcp.rule.and_then(|rule| rule.traffic_policy.as_ref());
        let pool = policy.and_then(|policy| policy.connection_pool.as_ref()?.tcp.as_ref());
        let mut filters = Vec::with_capacity(2);
        if tcp.peers {
            filters.extend(self.peer_exchange());
        }
        if tcp.protocol == Protocol::Mongo {
            let config = MongoProxy { stat_prefix: tcp.stat_prefix.clone(), ..MongoProxy::default() };
            filters.push(network_filter("envoy.filters.network.mongo_proxy", any(&config)));
        }
        let config = TcpProxy {
            stat_prefix: tcp.stat_prefix,
            cluster_specifier: Some(match tcp.to {
                Upstream::Cluster(name) => ClusterSpecifier::Cluster(name),
                Upstream::Weighted(clusters) => ClusterSpecifier::WeightedClusters(WeightedCluster {
                    clusters: clusters
                        .into_iter()
                        .map(|(name, weight)| ClusterWeight { name, weight, ..ClusterWeight::default() })
                        .collect(),
                }),
            }),
            idle_timeout: pool.and_then(|pool| pool.idle_timeout).or(self.idle).map(duration),
            max_downstream_connection_duration: pool
                .and_then(|pool| pool.max_connection_duration)
                .map(duration),
            access_log: self.logs.tcp.clone(),
            hash_policy: if by_source(tcp.rule, tcp.subset) { vec![source_hash()] } else { Vec::new() },
            tunneling_config: tunnel(tcp.rule, tcp.subset),
            ..TcpProxy::default()
        };
        filters.push(network_filter(TCP_PROXY, any(&config)));
        filters
    }

    /// To a cluster that is no service.
    pub(super) fn tcp_to(&self, cluster: &str) -> Filter {
        network_filter(
            TCP_PROXY,
            any(&TcpProxy {
                idle_timeout: self.idle.map(duration),
                access_log: self.logs.tcp.clone(),
                ..plain(cluster)
            }),
        )
    }

    pub(super) fn peer_exchange(&self) -> Option<Filter> {
        let wanted = self.options.filters == Filters::Istio && self.options.metadata_exchange;
        wanted.then(own_filters::tcp_metadata_exchange)
    }
}

/// To nowhere, without a trace.
pub(super) fn black_hole() -> Filter {
    network_filter(TCP_PROXY, any(&plain(crate::names::BLACK_HOLE)))
}

fn plain(cluster: &str) -> TcpProxy {
    TcpProxy {
        stat_prefix: cluster.to_owned(),
        cluster_specifier: Some(ClusterSpecifier::Cluster(cluster.to_owned())),
        ..TcpProxy::default()
    }
}

/// Whether a client's address chooses its server. A load balancer of the subset replaces that of the whole rule.
fn by_source(rule: Option<&DestinationRule>, subset: &str) -> bool {
    let Some(rule) = rule else { return false };
    let hashed = |policy: Option<&TrafficPolicy>| {
        let balancer = policy?.load_balancer.as_ref()?;
        Some(match &balancer.lb_policy {
            Some(LbPolicy::ConsistentHash(hash)) => matches!(hash.hash_key, Some(HashKey::UseSourceIp(true))),
            _ => false,
        })
    };
    let named = rule.subsets.iter().find(|candidate| candidate.name == subset);
    named
        .and_then(|subset| hashed(subset.traffic_policy.as_ref()))
        .or_else(|| hashed(rule.traffic_policy.as_ref()))
        .unwrap_or(false)
}

fn source_hash() -> HashPolicy {
    HashPolicy { policy_specifier: Some(hash_policy::PolicySpecifier::SourceIp(hash_policy::SourceIp {})) }
}

fn tunnel(rule: Option<&DestinationRule>, subset: &str) -> Option<TunnelingConfig> {
    let rule = rule?;
    let policy = if subset.is_empty() {
        rule.traffic_policy.as_ref()
    } else {
        rule.subsets.iter().find(|candidate| candidate.name == subset)?.traffic_policy.as_ref()
    };
    let tunnel = policy?.tunnel.as_ref()?;
    let (host, port) = (&tunnel.target_host, tunnel.target_port);
    Some(TunnelingConfig {
        hostname: if host.contains(':') { format!("[{host}]:{port}") } else { format!("{host}:{port}") },
        use_post: tunnel.protocol == "POST",
        ..TunnelingConfig::default()
    })
}
