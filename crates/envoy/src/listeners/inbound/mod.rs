//! What a sidecar listens on for its workload's callers: `virtualInbound`, with filter chains for each port that a service of the workload
//! names, and for all others together. Where nothing is redirected and the proxy has a local address, a listener for each of
//! those ports on the workload's address instead.

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
use std::{collections::BTreeMap, net::IpAddr, sync::Arc};

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Inputs {
    base: ByPointer<Base>,
    /// The workload's own address; without it everything is redirected to one port.
    at: Option<IpAddr>,
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
    // Of the callers of such a proxy Istio knows nothing: what would come in by a service's port goes past it.
    let at = match (interception, &base.local) {
        (Interception::None, None) => return,
        (Interception::None, Some(_)) => proxy.addresses().first().copied(),
        _ => None,
    };
    let peer = context.snapshot.authentication().own(proxy);
    let targets = proxy.targets();
    let ports = ports(context, &targets, &peer, conflicts);
    let named = |port: u32| targets.iter().any(|target| target.target_port == port);
    let mut others = vec![(0, peer.port(0))];
    others.extend(peer.ports.iter().map(|(&port, &mode)| (port, mode)).filter(|&(port, _)| !named(port)));
    let text = |key| proxy.metadata(key).filter(|text| !text.is_empty());
    let inputs = Inputs {
        base: ByPointer::from(base),
        at,
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
    let built = &context.memo.listeners.inbound;
    if interception == Interception::None {
        let alone = inputs.ports.iter().map(|port| Inputs {
            ports: vec![port.clone()],
            others: Vec::new(),
            ..inputs.clone()
        });
        resources.extend(alone.map(|inputs| built.get(&inputs, listener)));
    } else {
        resources.push(built.get(&inputs, listener));
    }
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
    let mut listener_filters = Vec::new();
    let (name, bind, port, filter_chains);
    match (inputs.at, inputs.ports.first()) {
        (Some(at), Some(first)) => {
            (bind, port) = (at.to_string(), first.number);
            name = address::name(&bind, port);
            filter_chains = chains::named(inputs);
        }
        _ => {
            bind = base.families.wildcard().to_owned();
            port = u32::try_from(base.mesh.proxy_inbound_listen_port).unwrap_or_default();
            name = names::VIRTUAL_INBOUND.to_owned();
            filter_chains = chains::all(inputs, port);
            listener_filters.push(inspectors::original_destination());
        }
    }
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
        name: name.clone(),
        address: Some(address::address(&bind, port)),
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
    Resource::encode(name, &listener)
}
