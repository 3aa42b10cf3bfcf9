//! What a sidecar listens on for its workload's callers: `virtualInbound`, with filter chains for each port that a service of the workload
//! names, and for all others together.

mod chains;
mod matches;
mod routes;

use super::{
    address,
    base::{Base, is_true},
    inspectors::{self, Needs},
    message::{duration, flag, number},
    outbound::exact_balance,
    reserved::Reserved,
    transport::Files,
};
use crate::{Context, Resource, names};
use mizzen_mesh::{
    ByPointer, Interception, Protocol, Service, Target,
    config::{MtlsMode, Peer},
};
use mizzen_proto::envoy::config::{core::v3::TrafficDirection, listener::v3::Listener};
use std::{collections::BTreeMap, sync::Arc};

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Inputs {
    base: ByPointer<Base>,
    transparent: bool,
    balance: bool,
    files: Files,
    /// The ports that no service names; 0 for all but those that have their own mode.
    others: Vec<(u32, MtlsMode)>,
    ports: Vec<InboundPort>,
}

/// A port of the workload.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct InboundPort {
    /// Where the workload listens.
    number: u32,
    mode: MtlsMode,
    protocol: Protocol,
    /// Whose port it is, for names and statistics.
    service: ByPointer<Service>,
    service_port: u32,
    service_port_name: Arc<str>,
}

/// Two services that say different things of one port of the workload. The older one's word holds.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Conflict {
    pub port: u32,
    pub accepted: Arc<str>,
    pub rejected: Arc<str>,
}

pub(super) fn build(
    context: &Context<'_>,
    base: &Arc<Base>,
    resources: &mut Vec<Arc<Resource>>,
    conflicts: &mut Vec<Conflict>,
) {
    let proxy = context.proxy;
    let interception = proxy.interception();
    if interception == Interception::None {
        return;
    }
    let peer = context.snapshot.authentication().own(proxy);
    let targets = proxy.targets();
    let ports = ports(context, &targets, &peer, conflicts);
    let named = |port: u32| targets.iter().any(|target| target.target_port == port);
    let mut others = vec![(0, peer.port(0))];
    others.extend(peer.ports.iter().map(|(&port, &mode)| (port, mode)).filter(|&(port, _)| !named(port)));
    let text = |key| proxy.metadata(key).filter(|text| !text.is_empty());
    let inputs = Inputs {
        base: ByPointer::from(base),
        transparent: interception == Interception::Tproxy,
        balance: is_true(proxy.metadata("INBOUND_LISTENER_EXACT_BALANCE").as_ref()),
        files: Files {
            certificate: text("TLS_SERVER_CERT_CHAIN"),
            key: text("TLS_SERVER_KEY"),
            root: text("TLS_SERVER_ROOT_CERT"),
        },
        others,
        ports,
    };
    resources.push(context.memo.listeners.inbound.get(&inputs, listener));
}

/// By number. Of several services with one target port the first, which is the oldest, has it.
fn ports(
    context: &Context<'_>,
    targets: &[Target],
    peer: &Peer,
    conflicts: &mut Vec<Conflict>,
) -> Vec<InboundPort> {
    let reserved = Reserved::new(context);
    let mut ports: BTreeMap<u32, InboundPort> = BTreeMap::new();
    for target in targets {
        let number = target.target_port;
        if !(1..=65_535).contains(&number) || reserved.contains(number) {
            continue;
        }
        if let Some(first) = ports.get(&number) {
            let other_host = first.service.host() != target.service.host();
            if other_host && first.protocol != target.port.protocol {
                conflicts.push(Conflict {
                    port: number,
                    accepted: Arc::clone(&first.service.key.host),
                    rejected: Arc::clone(&target.service.key.host),
                });
            }
            continue;
        }
        ports.insert(
            number,
            InboundPort {
                number,
                mode: peer.port(number),
                protocol: target.port.protocol,
                service: target.service.clone(),
                service_port: target.port.number,
                service_port_name: Arc::clone(&target.port.name),
            },
        );
    }
    ports.into_values().collect()
}

fn listener(inputs: &Inputs) -> Arc<Resource> {
    let base = &*inputs.base;
    let port = u32::try_from(base.mesh.proxy_inbound_listen_port).unwrap_or_default();
    let filter_chains = chains::all(inputs, port);
    let mut listener_filters = vec![inspectors::original_destination()];
    if inputs.transparent {
        listener_filters.push(inspectors::original_source());
    }
    let mut needs: BTreeMap<u32, Needs> = BTreeMap::new();
    for when in filter_chains.iter().filter_map(|chain| chain.filter_chain_match.as_ref()) {
        let needs = needs.entry(when.destination_port.as_ref().map_or(0, |port| port.value)).or_default();
        needs.tls |= when.transport_protocol == super::chain::TLS;
        needs.http |=
            when.application_protocols.iter().any(|name| super::chain::PLAIN_HTTP.contains(&name.as_str()));
    }
    listener_filters.extend(inspectors::by_port(&needs));
    let listener = Listener {
        name: names::VIRTUAL_INBOUND.to_owned(),
        address: Some(address::address(base.families.wildcard(), port)),
        traffic_direction: TrafficDirection::Inbound.into(),
        continue_on_listener_filters_timeout: true,
        max_connections_to_accept_per_socket_event: number(1),
        connection_balance_config: inputs.balance.then(exact_balance),
        transparent: if inputs.transparent { flag(true) } else { None },
        access_log: base.logs.listener.clone(),
        filter_chains,
        listener_filters,
        listener_filters_timeout: base.mesh.protocol_detection_timeout.map(duration),
        ..Listener::default()
    };
    Resource::encode(names::VIRTUAL_INBOUND, &listener)
}
