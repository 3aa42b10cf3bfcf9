//! The listener that a workload can use as its HTTP proxy, if the mesh or the proxy has a port for it.

use super::listener::frame;
use crate::{
    Context, Resource,
    listeners::{
        address,
        base::Base,
        http::{Http, Routes, Side},
        message::seconds,
        reserved,
    },
};
use mizzen_mesh::ByPointer;
use mizzen_proto::envoy::config::listener::v3::FilterChain;
use std::sync::Arc;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(in crate::listeners) struct Inputs {
    base: ByPointer<Base>,
    port: u32,
}

pub(super) fn inputs(context: &Context<'_>, base: &Arc<Base>) -> Option<Inputs> {
    let own = context.proxy.metadata("HTTP_PROXY_PORT").and_then(|text| reserved::port(&text));
    let port = own.or_else(|| u32::try_from(context.mesh().proxy_http_port).ok())?;
    (1..=65_535).contains(&port).then(|| Inputs { base: ByPointer::from(base), port })
}

pub(super) fn build(inputs: &Inputs) -> Arc<Resource> {
    let (base, port) = (&*inputs.base, inputs.port);
    let binds = &base.localhosts();
    let name = address::name(binds[0], port);
    let mut listener = frame(base, &name, binds, port, true);
    listener.filter_chains.push(FilterChain {
        transport_socket_connect_timeout: seconds(15),
        filters: vec![base.http(Http {
            side: Side::Outbound,
            stat_prefix: format!("outbound_{name};"),
            routes: Routes::Named("http_proxy".to_owned()),
            web: false,
            http2: false,
            forward: true,
        })],
        ..FilterChain::default()
    });
    Resource::encode(name, &listener)
}
