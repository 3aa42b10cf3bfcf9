//! Clusters: where requests can go. In: what a proxy sees of the mesh. Out: one cluster for each port of each service
//! and each subset of it, one for each of its own ports, and those that are always there.
//!
//! A service's clusters are built together and kept by their `outbound::Inputs`; after a change the walk over all
//! services finds the others where they were. All proxies that see the same share that walk and add their own ports.

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

use crate::{Context, Resource, local, memo::Table};
use mizzen_mesh::{ByPointer, Interception, ProxyKind};
use mizzen_xds::{ResourceSet, Subscription, Type};
use std::{collections::BTreeMap, sync::Arc};

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

/// All clusters of the proxy: those that many have in common, and those of its own workload.
pub fn set(context: &Context<'_>) -> ResourceSet {
    ResourceSet::over(context.shared.clusters.get(context, outbound), own(context))
}

/// Those that do not depend on what the proxy's own workload serves.
fn outbound(context: &Context<'_>) -> ResourceSet {
    let client = Arc::new(Client::ask(context));
    let memo = &context.memo.clusters;
    let services = context.scope().services();
    let mut clusters = Vec::with_capacity(2 * services.len() + 8);
    for visible in services {
        if let Some(inputs) = outbound::Inputs::of(context, &client, visible) {
            clusters.extend_from_slice(&memo.outbound.get(&inputs, outbound::build));
        }
    }
    let mut add = |inputs: fixed::Inputs| clusters.push(memo.fixed.get(&inputs, fixed::build));
    add(fixed::Inputs::BlackHole { mesh: ByPointer::from(&context.settings().mesh) });
    if client.kind == ProxyKind::Sidecar {
        let families = context.proxy.families();
        add(fixed::Inputs::Passthrough { client: Arc::clone(&client) });
        add(fixed::Inputs::InboundPassthrough { client, families });
    }
    ResourceSet::new(Type::Cluster, Subscription::everything(), clusters)
}

/// One for each port that the proxy's own workload serves.
fn own(context: &Context<'_>) -> Vec<Arc<Resource>> {
    let proxy = context.proxy;
    let bound = proxy.interception() == Interception::None;
    // Nothing is redirected to a proxy without interception, so nothing comes in by a service's port, unless it listens there itself.
    if proxy.kind() != ProxyKind::Sidecar || (bound && local::address(proxy).is_none()) {
        return Vec::new();
    }
    let client = Arc::new(Client::ask(context));
    let apps = if bound { local::apps(proxy) } else { BTreeMap::new() };
    let inputs = inbound::Inputs::all(context, &client, &apps);
    inputs.iter().map(|inputs| context.memo.clusters.inbound.get(inputs, inbound::build)).collect()
}
