//! One listener of a service's address, or of all HTTP on a port.

use super::entries::{Binds, Entry};
use crate::{
    Resource,
    listeners::{
        address,
        base::Base,
        chain::{Chain, Routed, To},
        http::{Http, Routes, Side},
        inspectors,
        message::{duration, flag, number, seconds},
        metadata,
        stat_name::Named,
        tcp::{Tcp, Upstream},
    },
    names,
};
use mizzen_mesh::{ByPointer, Protocol, Service, config::DestinationRule};
use mizzen_proto::envoy::config::{
    core::v3::TrafficDirection,
    listener::v3::{
        Filter, FilterChain, FilterChainMatch, Listener,
        listener::{
            ConnectionBalanceConfig,
            connection_balance_config::{BalanceType, ExactBalance},
        },
    },
};
use std::sync::Arc;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(in crate::listeners) struct Inputs {
    base: ByPointer<Base>,
    binds: Binds,
    port: u32,
    chains: Arc<[Chain]>,
}

impl Inputs {
    pub(super) fn new(base: &Arc<Base>, entry: &Entry) -> Self {
        let Entry { binds, port, chains } = entry.clone();
        Self { base: ByPointer::from(base), binds, port, chains }
    }
}

pub(super) fn build(inputs: &Inputs) -> Arc<Resource> {
    let base = &*inputs.base;
    let one: [&str; 1];
    let all: Vec<&str>;
    let binds: &[&str] = match &inputs.binds {
        Binds::Wildcards => base.families.wildcards(),
        Binds::Localhosts => {
            all = base.localhosts();
            &all
        }
        Binds::At(address) => {
            one = [address];
            &one
        }
        Binds::AtAll(addresses) => {
            all = addresses.iter().map(|address| &**address).collect();
            &all
        }
    };
    let bound = inputs.binds == Binds::Localhosts;
    let name = address::name(binds.first().copied().unwrap_or_default(), inputs.port);
    let mut listener = frame(base, &name, binds, inputs.port, bound);
    let chains = &inputs.chains;
    if chains.iter().any(|chain| !chain.when.server_names.is_empty()) {
        listener.listener_filters.push(inspectors::tls());
    }
    if chains.iter().any(|chain| chain.when.http) {
        listener.listener_filters.push(inspectors::http());
        // Only an inspector may wait for bytes.
        listener.listener_filters_timeout = base.mesh.protocol_detection_timeout.map(duration);
    }
    for chain in &**chains {
        let mut built = FilterChain {
            transport_socket_connect_timeout: seconds(15),
            filters: filters(base, &name, inputs.port, chain),
            metadata: match &chain.to {
                To::Routed(routed) if routed.named => Some(metadata::of_virtual_service(&routed.by.key)),
                _ => None,
            },
            ..FilterChain::default()
        };
        // What takes everything is the default: chains that match in part only must not hide it.
        if chain.when.is_always() {
            listener.default_filter_chain = Some(built);
        } else {
            built.filter_chain_match = Some(chain.when.message());
            listener.filter_chains.push(built);
        }
    }
    if listener.filter_chains.is_empty() {
        listener.filter_chains.extend(listener.default_filter_chain.take());
    } else if listener.default_filter_chain.is_none() {
        listener.default_filter_chain = Some(FilterChain {
            filter_chain_match: Some(FilterChainMatch::default()),
            name: "PassthroughFilterChain".to_owned(),
            filters: vec![base.tcp_to(&base.unknown_traffic())],
            ..FilterChain::default()
        });
    }
    Resource::encode(name, &listener)
}

/// A listener without its chains.
pub(super) fn frame(base: &Base, name: &str, binds: &[&str], port: u32, bound: bool) -> Listener {
    Listener {
        name: name.to_owned(),
        address: binds.first().map(|bind| address::address(bind, port)),
        additional_addresses: address::additional(binds.get(1..).unwrap_or_default(), port),
        traffic_direction: TrafficDirection::Outbound.into(),
        continue_on_listener_filters_timeout: true,
        connection_balance_config: base.outbound_balance.then(exact_balance),
        bind_to_port: if bound { None } else { flag(false) },
        max_connections_to_accept_per_socket_event: if bound { number(1) } else { None },
        listener_filters_timeout: seconds(0),
        ..Listener::default()
    }
}

pub(in crate::listeners) fn exact_balance() -> ConnectionBalanceConfig {
    ConnectionBalanceConfig { balance_type: Some(BalanceType::ExactBalance(ExactBalance {})) }
}

fn filters(base: &Base, listener: &str, port: u32, chain: &Chain) -> Vec<Filter> {
    match &chain.to {
        To::Http { web, only } => vec![base.http(Http {
            side: Side::Outbound,
            stat_prefix: format!("outbound_{listener};"),
            routes: Routes::Named(match only {
                Some(service) => format!("{}:{port}", service.host()),
                None => port.to_string(),
            }),
            web: *web,
            http2: false,
            forward: false,
        })],
        To::Service { service, protocol, rule } => {
            base.tcp(to_service(base, service, port, *protocol, rule.as_deref()))
        }
        To::Routed(routed) => base.tcp(to_routed(base, routed, port)),
    }
}

fn to_service<'a>(
    base: &Base,
    service: &Service,
    port: u32,
    protocol: Protocol,
    rule: Option<&'a DestinationRule>,
) -> Tcp<'a> {
    let cluster = names::outbound(port, "", service.host());
    // The port's name is not part of it here.
    let named = Named { host: service.host(), service: Some(service), subset: "", port, port_name: "" };
    Tcp {
        stat_prefix: named.after(&base.mesh.outbound_cluster_stat_name, &cluster),
        to: Upstream::Cluster(cluster),
        protocol,
        rule: rule.map(|rule| &rule.spec),
        subset: "",
        peers: false,
    }
}

pub(in crate::listeners) fn to_routed<'a>(base: &Base, routed: &'a Routed, port: u32) -> Tcp<'a> {
    let rule = routed.rule.as_deref().map(|rule| &rule.spec);
    let (stat_prefix, to, subset) = match routed.clusters.as_slice() {
        [(cluster, _)] if routed.single => {
            let pattern = match &routed.service {
                Some(_) => base.mesh.outbound_cluster_stat_name.as_str(),
                None => "",
            };
            let named = Named {
                host: &routed.host,
                service: routed.service.as_deref(),
                subset: &routed.subset,
                port,
                port_name: &routed.port_name,
            };
            (named.after(pattern, cluster), Upstream::Cluster(cluster.to_string()), &*routed.subset)
        }
        clusters => {
            let key = &routed.by.key;
            let weighted = clusters.iter().map(|(cluster, weight)| (cluster.to_string(), *weight)).collect();
            (format!("{}.{}", key.name, key.namespace), Upstream::Weighted(weighted), "")
        }
    };
    Tcp { stat_prefix, to, protocol: routed.protocol, rule, subset, peers: false }
}
