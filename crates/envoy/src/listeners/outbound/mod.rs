//! What a sidecar listens on for its workload's calls: `virtualOutbound`, which is where redirected connections come in, and a listener for
//! each address and port of a service that they are handed to.
//!
//! The walk over all services decides only which listeners there are and what each is made of, and is shared by
//! all proxies that see the same; a listener is built when what it is made of is new.

mod entries;
mod http_proxy;
mod l4;
mod listener;
mod virtual_outbound;
mod walk;

pub use entries::Conflict;
pub(crate) use entries::Walked;
pub(super) use http_proxy::Inputs as ProxyInputs;
pub(super) use l4::routed;
pub(super) use listener::{Inputs, exact_balance, to_routed};
pub(super) use virtual_outbound::Inputs as VirtualInputs;

use super::base::Base;
use crate::{Context, Resource};
use mizzen_mesh::Interception;
use std::sync::Arc;

pub(super) fn build(
    context: &Context<'_>,
    base: &Arc<Base>,
    resources: &mut Vec<Arc<Resource>>,
    conflicts: &mut Vec<Conflict>,
) {
    let interception = context.proxy.interception();
    let walked = context.shared.listeners.get(context, walk::all);
    let built = &context.memo.listeners;
    resources.reserve(walked.entries.len() + 2);
    for entry in &walked.entries {
        let inputs = Inputs::new(base, entry);
        resources.push(built.outbound.get(&inputs, listener::build));
    }
    conflicts.extend(walked.conflicts.iter().cloned());
    if let Some(inputs) = http_proxy::inputs(context, base) {
        resources.push(built.http_proxy.get(&inputs, http_proxy::build));
    }
    if interception != Interception::None {
        let inputs = VirtualInputs::new(base, interception);
        resources.push(built.virtual_outbound.get(&inputs, virtual_outbound::build));
    }
}
