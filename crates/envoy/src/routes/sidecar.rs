//! The routes of a sidecar's outbound listeners: `80` for a port, `host:80` for one service's listener, `http_proxy`
//! for requests to any port.

use super::{
    assembly::{Assembly, Inputs, rest},
    configuration::{self, HostsBy},
    environment::Environment,
    listing::{self, Listing},
};
use crate::{Context, Resource, local};
use mizzen_mesh::ByPointer;
use std::sync::Arc;

/// Which listener a configuration's name is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Listener<'a> {
    /// Zero for all ports.
    Port(u32),
    Service {
        host: &'a str,
        port: u32,
    },
}

pub(super) fn build(context: &Context<'_>, name: &str) -> Arc<Resource> {
    let Some(listener) = parse(name) else { return configuration::empty(name) };
    let (Listener::Port(port) | Listener::Service { port, .. }) = listener;
    let built = &context.memo.routes;
    let listing =
        built.listings.get(&listing::Inputs::of(context.scope()), |inputs| Listing::new(inputs, built));
    let plan = listing.plan(port);
    let environment = Environment::of_sidecar(context, plan.allocated);
    let shared =
        |environment: &Environment| ByPointer(built.environments.get(environment, Environment::clone));
    let inputs = Inputs {
        listing: ByPointer(listing),
        port,
        namespace: plan.by_namespace.then(|| context.proxy.namespace()),
        environment: shared(&environment),
        elsewhere: shared(&environment.elsewhere()),
        answers: plan.questions.iter().map(|labels| context.proxy.selected(labels)).collect(),
    };
    // Parity ends where it would be of no use: under `mizzen up` workloads do call through this listener.
    let through_proxy = name == "http_proxy" && local::address(context.proxy).is_some();
    let hosts_by = if through_proxy { HostsBy::NameAndPort } else { HostsBy::Name };
    if plan.is_empty() {
        return match listener {
            Listener::Port(_) => {
                built.configurations.get(name, hosts_by, vec![rest(built, &inputs.environment)], None)
            }
            Listener::Service { .. } => built.configurations.get(name, hosts_by, Vec::new(), None),
        };
    }
    let assembly = built.assemblies.get(&inputs, |inputs| Assembly::new(built, &plan, inputs));
    let hosts = match listener {
        Listener::Port(_) => assembly.whole(built, &inputs),
        Listener::Service { host, .. } => assembly.of_service(built, host).into_iter().collect(),
    };
    built.configurations.get(name, hosts_by, hosts, Some(&assembly))
}

fn parse(name: &str) -> Option<Listener<'_>> {
    if name == "http_proxy" || name.starts_with("unix://") {
        return Some(Listener::Port(0));
    }
    // A number that is no port has no services and yet is a listener's name.
    // Only a number as it is written is one: of `80`, `080`, `0080` each would be all routes of the port again.
    let number = |text: &str| {
        let number = text.parse::<i64>().ok().filter(|number| number.to_string() == text)?;
        Some(u32::try_from(number).unwrap_or(u32::MAX))
    };
    match name.split_once(':') {
        None => Some(Listener::Port(number(name)?)),
        Some((host, port)) => Some(Listener::Service { host, port: number(port)? }),
    }
}
