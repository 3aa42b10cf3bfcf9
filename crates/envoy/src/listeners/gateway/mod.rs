//! What a router listens on: plain HTTP servers and TCP servers of the gateways that select it. (Servers that end TLS, or pass it on by
//! name, are later work: they have no chain yet.)

use super::{
    address,
    base::{Base, is_true},
    chain::Routed,
    connection,
    http::{Http, Routes, Side},
    inspectors,
    message::{number, seconds},
    outbound::{self, exact_balance},
};
use crate::{Context, Resource};
use mizzen_mesh::{
    ByPointer, Host, Protocol,
    config::{L4Routes, Listened, Server},
};
use mizzen_proto::{
    envoy::config::{
        core::v3::TrafficDirection,
        listener::v3::{FilterChain, Listener},
    },
    istio::networking::v1alpha3::L4MatchAttributes,
};
use std::{collections::HashSet, sync::Arc};

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Inputs {
    base: ByPointer<Base>,
    /// Empty: everywhere.
    bind: String,
    port: u32,
    to: To,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum To {
    Http { route: String, web: bool },
    Tcp { routed: Box<Routed>, port: u32 },
}

pub(super) fn build(context: &Context<'_>, base: &Arc<Base>, resources: &mut Vec<Arc<Resource>>) {
    let merged = context.snapshot.gateways().for_router(context.proxy);
    if merged.ports.is_empty() {
        return;
    }
    let unprivileged = is_true(context.proxy.metadata("UNPRIVILEGED_POD").as_ref());
    let mut taken = HashSet::new();
    for listened in &merged.ports {
        let port = listened.port;
        if !(1..=65_535).contains(&port) || (unprivileged && port < 1024) {
            continue;
        }
        let Some(to) = to(context, listened) else { continue };
        // Of two plain servers on one address and port only one can be told from the other: the first has it.
        if !taken.insert((&listened.bind, port)) {
            continue;
        }
        let inputs = Inputs { base: ByPointer::from(base), bind: listened.bind.clone(), port, to };
        resources.push(context.memo.listeners.gateway.get(&inputs, listener));
    }
}

fn to(context: &Context<'_>, listened: &Listened) -> Option<To> {
    if listened.protocol.is_http() {
        let web = listened.protocol == Protocol::GrpcWeb;
        return Some(To::Http { route: listened.route_name.clone(), web });
    }
    let server = listened.servers.first().filter(|server| server.spec.tls.is_none())?;
    tcp(context, server)
}

/// The first rule for bytes of a VirtualService that is bound to the server's gateway and has one of its hosts.
fn tcp(context: &Context<'_>, server: &Server) -> Option<To> {
    let (gateway, port) = (&*server.gateway_name, server.port.number);
    let holds = |when: &L4MatchAttributes| {
        (when.port == 0 || when.port == port)
            && (when.gateways.is_empty() || when.gateways.iter().any(|named| named == gateway))
    };
    for routes in context.snapshot.virtual_services().l4_for_gateway(gateway, &context.proxy.namespace()) {
        if !shares_host(server, &routes) {
            continue;
        }
        for rule in routes.tcp.iter().filter(|rule| !rule.route.is_empty()) {
            if rule.r#match.is_empty() || rule.r#match.iter().any(holds) {
                let named: Arc<str> = server.port.name.as_str().into();
                let port_of = (port, &named, server.protocol);
                let routed = outbound::routed(context, context.scope(), &routes, &rule.route, port_of)?;
                return Some(To::Tcp { routed: Box::new(routed), port });
            }
        }
    }
    None
}

fn shares_host(server: &Server, routes: &L4Routes) -> bool {
    server.spec.hosts.iter().any(|host| {
        let (namespace, host) = match host.split_once('/') {
            Some((namespace, host)) => (Some(namespace), host),
            None => (None, host.as_str()),
        };
        namespace.is_none_or(|namespace| namespace == &*routes.key.namespace)
            && routes.hosts.iter().any(|routed| Host(host).matches(Host(routed)))
    })
}

fn listener(inputs: &Inputs) -> Arc<Resource> {
    let base = &*inputs.base;
    let bind = match (inputs.bind.as_str(), &base.local) {
        ("", Some(address)) => address,
        ("", None) => base.families.wildcard(),
        (bind, _) => bind,
    };
    let name = address::name(bind, inputs.port);
    let filters = match &inputs.to {
        To::Http { route, web } => vec![base.http(Http {
            side: Side::Gateway,
            stat_prefix: format!("outbound_{name};"),
            routes: Routes::Named(route.clone()),
            web: *web,
            http2: false,
            forward: false,
        })],
        To::Tcp { routed, port } => base.tcp(outbound::to_routed(base, routed, *port)),
    };
    let topology = base.config.gateway_topology.as_ref();
    let proxied = topology.is_some_and(|topology| topology.proxy_protocol.is_some());
    let settings = base.connection.as_ref();
    let listener = Listener {
        address: Some(address::address(bind, inputs.port)),
        traffic_direction: TrafficDirection::Outbound.into(),
        listener_filters: if proxied { vec![inspectors::proxy_protocol()] } else { Vec::new() },
        filter_chains: vec![FilterChain {
            filters,
            transport_socket_connect_timeout: seconds(15),
            ..FilterChain::default()
        }],
        max_connections_to_accept_per_socket_event: number(1),
        connection_balance_config: base.outbound_balance.then(exact_balance),
        access_log: base.logs.listener.clone(),
        per_connection_buffer_limit_bytes: settings
            .and_then(|settings| connection::positive(settings.listener_per_connection_buffer_limit_bytes)),
        name: name.clone(),
        ..Listener::default()
    };
    Resource::encode(name, &listener)
}
