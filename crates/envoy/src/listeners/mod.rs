//! Listeners: what a proxy takes, and which filters it passes through.
//!
//! What all listeners of a proxy have in common is a `base::Base`; a walk over what the proxy sees then says
//! which listeners there are and what each is made of. That is a key, and only a new one is built.

mod access_log;
mod address;
mod base;
mod chain;
mod connection;
mod gateway;
mod http;
mod http_filters;
mod inbound;
mod inspectors;
mod message;
mod metadata;
mod outbound;
mod own_filters;
mod reserved;
mod sorted;
mod spans;
mod stat_name;
mod tcp;
mod transport;

pub use inbound::Conflict as InboundConflict;
pub use outbound::Conflict as OutboundConflict;
pub(crate) use outbound::Walked as Outbound;

use crate::{Context, Resource, memo::Table};
use mizzen_mesh::ProxyKind;
use std::sync::Arc;

/// What was built already.
#[derive(Debug, Default)]
pub struct Built {
    bases: Table<base::Inputs, Arc<base::Base>>,
    outbound: Table<outbound::Inputs, Arc<Resource>>,
    virtual_outbound: Table<outbound::VirtualInputs, Arc<Resource>>,
    http_proxy: Table<outbound::ProxyInputs, Arc<Resource>>,
    inbound: Table<inbound::Inputs, Arc<Resource>>,
    gateway: Table<gateway::Inputs, Arc<Resource>>,
}

impl Built {
    pub fn sweep(&self) {
        self.bases.sweep();
        self.outbound.sweep();
        self.virtual_outbound.sweep();
        self.http_proxy.sweep();
        self.inbound.sweep();
        self.gateway.sweep();
    }
}

/// All listeners of a proxy, and what found no place in them.
#[derive(Debug, Default)]
pub struct Listeners {
    pub resources: Vec<Arc<Resource>>,
    pub outbound_conflicts: Vec<OutboundConflict>,
    pub inbound_conflicts: Vec<InboundConflict>,
}

/// All listeners of the proxy.
pub fn build(context: &Context<'_>) -> Vec<Arc<Resource>> {
    all(context).resources
}

pub fn all(context: &Context<'_>) -> Listeners {
    let mut listeners = Listeners::default();
    let inputs = base::Inputs::new(context);
    let base = context.memo.listeners.bases.get(&inputs, base::Base::new);
    match context.proxy.kind() {
        // Without a port to redirect to there is nothing that a sidecar could do.
        ProxyKind::Sidecar if context.mesh().proxy_listen_port > 0 => {
            outbound::build(context, &base, &mut listeners.resources, &mut listeners.outbound_conflicts);
            inbound::build(context, &base, &mut listeners.resources, &mut listeners.inbound_conflicts);
        }
        ProxyKind::Sidecar => {}
        ProxyKind::Router => gateway::build(context, &base, &mut listeners.resources),
    }
    listeners
}
