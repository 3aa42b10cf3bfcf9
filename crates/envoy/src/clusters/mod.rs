//! Clusters: where requests can go. In: what a proxy sees of the mesh. Out: one cluster for each port of each service
//! and each subset of it, one for each of its own ports, and those that are always there.
//!
//! A service's clusters are built together and kept by their `outbound::Inputs`; after a change the walk over all
//! services finds the others where they were.

mod balancer;
mod client;
mod draft;
mod fixed;
mod inbound;
mod outbound;
mod outlier;
mod pool;
mod stat_name;
mod tls;

pub use client::{Certificates, Client};

use crate::{Context, Resource, memo::Table};
use mizzen_mesh::{ByPointer, Interception, ProxyKind};
use std::sync::Arc;

/// What was built, by what it was built from.
#[derive(Debug, Default)]
pub struct Built {
    outbound: Table<outbound::Inputs, Arc<[Arc<Resource>]>>,
    inbound: Table<inbound::Inputs, Arc<Resource>>,
    fixed: Table<fixed::Inputs, Arc<Resource>>,
}

impl Built {
    pub fn sweep(&self) {
        self.outbound.sweep();
        self.inbound.sweep();
        self.fixed.sweep();
    }
}

/// All clusters of the proxy.
pub fn build(context: &Context<'_>) -> Vec<Arc<Resource>> {
    let scope = context.scope();
    let client = Arc::new(Client::ask(context));
    let memo = &context.memo.clusters;
    let mut clusters = Vec::with_capacity(2 * scope.services().len() + 8);
    for visible in scope.services() {
        if let Some(inputs) = outbound::Inputs::of(context, &client, visible) {
            clusters.extend_from_slice(&memo.outbound.get(&inputs, outbound::build));
        }
    }
    let mut add = |inputs: fixed::Inputs| clusters.push(memo.fixed.get(&inputs, fixed::build));
    let mesh = ByPointer::from(&context.settings().mesh);
    add(fixed::Inputs::BlackHole { mesh });
    if client.kind == ProxyKind::Sidecar {
        let families = context.proxy.families();
        add(fixed::Inputs::Passthrough { client: Arc::clone(&client) });
        add(fixed::Inputs::InboundPassthrough { client: Arc::clone(&client), families });
        // Nothing is redirected to such a proxy, so nothing comes in by a service's port.
        if context.proxy.interception() != Interception::None {
            for inputs in inbound::Inputs::all(context, &client, scope, families) {
                clusters.push(memo.inbound.get(&inputs, inbound::build));
            }
        }
    }
    clusters
}
