//! Route configurations: which cluster an HTTP request goes to.
//!
//! In: the name of a configuration. Out: its bytes. The bulk of them are virtual hosts, one for each service and port; each is
//! built and encoded once for a key of its inputs, and a configuration is these put together, so that one changed
//! VirtualService encodes one virtual host of a thousand.

mod assembly;
mod configuration;
pub(crate) mod domains;
mod environment;
mod host;
mod listing;
mod names;
mod outline;
mod plan;
mod router;
mod shared;
mod sidecar;
mod translate;
mod virtual_service;
mod wanted;
mod wire;

use crate::{Context, Resource};
use mizzen_mesh::{ByPointer, ProxyKind, config::VirtualService};
use shared::Shared;
use std::{fmt, sync::Arc};

/// What was built already. The upper ones are made of the lower ones and hold them.
#[derive(Default)]
pub struct Built {
    configurations: configuration::Configurations,
    assemblies: Shared<assembly::Inputs, assembly::Assembly>,
    listings: Shared<listing::Inputs, listing::Listing>,
    hosts: Shared<host::Inputs, host::Host>,
    routes: Shared<virtual_service::Inputs, virtual_service::Routes>,
    outlines: Shared<ByPointer<VirtualService>, outline::Outline>,
    environments: Shared<environment::Environment, environment::Environment>,
}

impl Built {
    pub fn sweep(&self) {
        self.configurations.sweep();
        self.assemblies.sweep();
        self.listings.sweep();
        self.hosts.sweep();
        self.routes.sweep();
        self.outlines.sweep();
        self.environments.sweep();
    }

    fn outline(&self, virtual_service: &Arc<VirtualService>) -> Arc<outline::Outline> {
        self.outlines.get(&virtual_service.into(), |virtual_service| outline::Outline::of(virtual_service))
    }

    fn routes(
        &self,
        inputs: &virtual_service::Inputs,
        outline: &Arc<outline::Outline>,
    ) -> Arc<virtual_service::Routes> {
        self.routes.get(inputs, |inputs| virtual_service::Routes::build(inputs, Arc::clone(outline)))
    }

    fn host(&self, inputs: &host::Inputs) -> Arc<host::Host> {
        self.hosts.get(inputs, host::Host::build)
    }
}

impl fmt::Debug for Built {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Built")
            .field("configurations", &self.configurations.len())
            .field("hosts", &self.hosts.len())
            .field("routes", &self.routes.len())
            .finish_non_exhaustive()
    }
}

/// The route configuration `name`. A name that stands for nothing has an empty one, because a proxy waits for what it asked for.
pub fn build(context: &Context<'_>, name: &str) -> Option<Arc<Resource>> {
    Some(match context.proxy.kind() {
        ProxyKind::Sidecar => sidecar::build(context, name),
        ProxyKind::Router => router::build(context, name),
    })
}

#[cfg(test)]
mod tests;
