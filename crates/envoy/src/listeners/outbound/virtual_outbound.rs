//! `virtualOutbound`: where redirected connections come in. It hands them to the listener of their destination; what has none is
//! unknown traffic.

use crate::{
    Resource,
    listeners::{
        address,
        base::Base,
        message::{flag, number},
        tcp,
    },
    names,
};
use mizzen_mesh::{ByPointer, Interception};
use mizzen_proto::envoy::config::{
    core::v3::TrafficDirection,
    listener::v3::{FilterChain, FilterChainMatch, Listener},
};
use std::sync::Arc;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(in crate::listeners) struct Inputs {
    base: ByPointer<Base>,
    transparent: bool,
}

impl Inputs {
    pub(super) fn new(base: &Arc<Base>, interception: Interception) -> Self {
        Self { base: ByPointer::from(base), transparent: interception == Interception::Tproxy }
    }
}

pub(super) fn build(inputs: &Inputs) -> Arc<Resource> {
    let base = &*inputs.base;
    let port = u32::try_from(base.mesh.proxy_listen_port).unwrap_or_default();
    // Who connects to the port itself would be passed on to it for ever.
    let loops = FilterChain {
        name: "virtualOutbound-blackhole".to_owned(),
        filter_chain_match: Some(FilterChainMatch {
            destination_port: number(port),
            ..FilterChainMatch::default()
        }),
        filters: vec![tcp::black_hole()],
        ..FilterChain::default()
    };
    let unknown = FilterChain {
        name: "virtualOutbound-catchall-tcp".to_owned(),
        filters: vec![base.tcp_to(&base.unknown_traffic())],
        ..FilterChain::default()
    };
    let listener = Listener {
        name: names::VIRTUAL_OUTBOUND.to_owned(),
        address: Some(address::address(base.families.wildcard(), port)),
        transparent: if inputs.transparent { flag(true) } else { None },
        use_original_dst: flag(true),
        filter_chains: vec![loops, unknown],
        traffic_direction: TrafficDirection::Outbound.into(),
        max_connections_to_accept_per_socket_event: number(1),
        access_log: base.logs.listener.clone(),
        ..Listener::default()
    };
    Resource::encode(names::VIRTUAL_OUTBOUND, &listener)
}
