//! The filter chains of `virtualInbound`.

use super::{
    Inputs,
    matches::{Does, InboundMatch, matches},
    routes,
};
use crate::{
    listeners::{
        address,
        base::Base,
        http::{Http, Routes, Side},
        message::number,
        stat_name::Named,
        tcp::{self, Tcp, Upstream},
        transport,
    },
    names,
};
use mizzen_mesh::{Protocol, Service, config::MtlsMode};
use mizzen_proto::envoy::config::listener::v3::{Filter, FilterChain, FilterChainMatch};

/// What the chains of one port have in common.
struct Chains<'a> {
    inputs: &'a Inputs,
    base: &'a Base,
    /// 0: any.
    port: u32,
    mode: MtlsMode,
    protocol: Protocol,
    cluster: String,
    /// Nothing for ports that no service names.
    of: Option<(&'a Service, u32, &'a str)>,
}

pub(super) fn all(inputs: &Inputs, own_port: u32) -> Vec<FilterChain> {
    let base = &*inputs.base;
    let mut filters = Vec::from_iter(base.peer_exchange());
    filters.push(tcp::black_hole());
    // Who connects to the port itself would be passed on to it for ever.
    let loops = FilterChain {
        name: "virtualInbound-blackhole".to_owned(),
        filter_chain_match: Some(FilterChainMatch {
            destination_port: number(own_port),
            ..FilterChainMatch::default()
        }),
        filters,
        ..FilterChain::default()
    };
    let mut chains = vec![loops];
    for &(port, mode) in &inputs.others {
        let cluster = names::INBOUND_PASSTHROUGH.to_owned();
        Chains { inputs, base, port, mode, protocol: Protocol::Unsupported, cluster, of: None }
            .build(&mut chains);
    }
    chains.extend(named(inputs));
    chains
}

/// Those of the ports that services name.
pub(super) fn named(inputs: &Inputs) -> Vec<FilterChain> {
    let mut chains = Vec::new();
    for port in &inputs.ports {
        Chains {
            inputs,
            base: &inputs.base,
            port: port.number,
            mode: port.mode,
            protocol: port.protocol,
            cluster: names::inbound(port.number),
            of: Some((&port.service, port.service_port, &port.service_port_name)),
        }
        .build(&mut chains);
    }
    chains
}

impl Chains<'_> {
    fn build(&self, chains: &mut Vec<FilterChain>) {
        for when in matches(self.protocol, self.mode) {
            chains.push(self.chain(when));
        }
    }

    fn chain(&self, when: &InboundMatch) -> FilterChain {
        let peers = when.does == Does::Tcp && self.base.peer_exchange().is_some();
        FilterChain {
            name: match (self.of, when.does) {
                (Some(_), _) => self.name(),
                (None, Does::Http) => "virtualInbound-catchall-http".to_owned(),
                (None, Does::Tcp) => names::VIRTUAL_INBOUND.to_owned(),
            },
            filter_chain_match: Some(FilterChainMatch {
                application_protocols: when.protocols.iter().map(|&name| name.to_owned()).collect(),
                transport_protocol: when.transport.to_owned(),
                destination_port: if self.port == 0 { None } else { number(self.port) },
                ..FilterChainMatch::default()
            }),
            filters: match when.does {
                Does::Http => self.http(),
                Does::Tcp => self.tcp(),
            },
            transport_socket: if when.terminates {
                transport::server(&self.base.mesh, self.mode, &self.inputs.files, peers)
            } else {
                None
            },
            ..FilterChain::default()
        }
    }

    fn name(&self) -> String {
        address::name(self.base.families.wildcard(), self.port)
    }

    fn http(&self) -> Vec<Filter> {
        let mut filters = Vec::from_iter(self.base.peer_exchange());
        let (host, port) = self.of.map_or(("", 0), |(service, port, _)| (service.host(), port));
        filters.push(self.base.http(Http {
            side: Side::Inbound,
            stat_prefix: match self.of {
                Some(_) => format!("inbound_{};", self.name()),
                None => format!("{};", self.cluster),
            },
            routes: Routes::Inline(Box::new(routes::all(&self.cluster, host, port, self.protocol))),
            web: self.protocol == Protocol::GrpcWeb,
            http2: self.protocol.is_http2(),
            forward: false,
        }));
        filters
    }

    fn tcp(&self) -> Vec<Filter> {
        let (service, port, port_name) = match self.of {
            Some((service, port, name)) => (Some(service), port, name),
            None => (None, 0, names::VIRTUAL_INBOUND),
        };
        let named = Named { host: service.map_or("", Service::host), service, subset: "", port, port_name };
        self.base.tcp(Tcp {
            stat_prefix: named.after(&self.base.mesh.inbound_cluster_stat_name, &self.cluster),
            to: Upstream::Cluster(self.cluster.clone()),
            protocol: self.protocol,
            rule: None,
            subset: "",
            peers: true,
        })
    }
}
