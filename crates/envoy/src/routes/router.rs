//! The routes of a router's servers: `http.80`. Hosts that its Gateways open, with the routes of the VirtualServices that are
//! bound to them.

use super::{
    configuration::{self, HostsBy},
    domains::with_port,
    environment::Environment,
    host::{self, Host},
    names::Hosts,
    outline::Outline,
    plan,
    virtual_service::{self, Known, Routes},
};
use crate::{Context, Resource};
use mizzen_mesh::{
    ByPointer, Seen, Service, ServiceKey,
    config::{Server, VirtualService},
};
use std::{
    cmp::Ordering,
    collections::{BTreeMap, HashMap},
    sync::Arc,
};

/// A gateway, and a VirtualService that is bound to it.
type Origin = (Arc<str>, ByPointer<VirtualService>);

/// A host with the routes that were found for it, in the order of their VirtualServices.
struct Open {
    port: u32,
    require_tls: bool,
    routes: Vec<ByPointer<Routes>>,
    /// Where the routes are from: hosts with the same ones become one virtual host.
    from: Vec<Origin>,
}

pub(super) fn build(context: &Context<'_>, name: &str) -> Arc<Resource> {
    let servers =
        context.snapshot.gateways().for_router(context.proxy).by_route.remove(name).unwrap_or_default();
    let Some(first) = servers.first() else { return configuration::empty(name) };
    let built = &context.memo.routes;
    let environment = Environment::of_router(context);
    let open = open(context, &environment, &servers);
    let hosts = if open.is_empty() {
        // A host without routes answers 404.
        vec![host::Router {
            name: with_port("blackhole", first.port.number),
            domains: vec!["*".into()],
            routes: Vec::new(),
            attempt_count: false,
            require_tls: false,
        }]
    } else {
        collapse(open, environment.attempt_count)
    };
    let mut hosts: Vec<ByPointer<Host>> =
        hosts.into_iter().map(|host| ByPointer(built.host(&host::Inputs::Router(host)))).collect();
    hosts.sort_by(|one, other| one.name.cmp(&other.name));
    built.configurations.get(name, HostsBy::Name, hosts, None)
}

fn open(context: &Context<'_>, environment: &Environment, servers: &[Arc<Server>]) -> BTreeMap<String, Open> {
    let built = &context.memo.routes;
    let namespace = context.proxy.namespace();
    let seen = context.scope().seen();
    let mut bound: HashMap<&str, Vec<Arc<VirtualService>>> = HashMap::new();
    // A VirtualService's routes are built for the first of a gateway's servers that it meets.
    let mut made: HashMap<Origin, Arc<Routes>> = HashMap::new();
    let mut out: BTreeMap<String, Open> = BTreeMap::new();
    for server in servers {
        let hosts = Hosts::new(&server.spec.hosts);
        let redirects = server.spec.tls.as_ref().is_some_and(|tls| tls.https_redirect);
        let gateway = &server.gateway_name;
        let bound = bound
            .entry(gateway)
            .or_insert_with(|| context.snapshot.virtual_services().for_gateway(gateway, &namespace));
        for virtual_service in bound.iter() {
            let common = hosts.common(&virtual_service.spec.hosts, &virtual_service.key.namespace);
            if common.is_empty() {
                continue;
            }
            let from = (Arc::clone(gateway), ByPointer::from(virtual_service));
            let routes = made.entry(from.clone()).or_insert_with(|| {
                let outline = built.outline(virtual_service);
                let inputs = route_inputs(context, environment, seen, server, virtual_service, &outline);
                built.routes(&inputs, &outline)
            });
            if routes.list.is_empty() {
                continue;
            }
            for name in common {
                let host = out.entry(name.to_lowercase()).or_insert_with(|| Open::new(server));
                host.require_tls |= redirects;
                host.routes.push(ByPointer(Arc::clone(routes)));
                host.from.push(from.clone());
            }
        }
        if redirects {
            // Hosts that nobody routes are redirected, too.
            for name in &server.spec.hosts {
                out.entry(name.to_lowercase()).or_insert_with(|| Open::new(server)).require_tls = true;
            }
        }
    }
    out
}

impl Open {
    fn new(server: &Server) -> Self {
        Self { port: server.port.number, require_tls: false, routes: Vec::new(), from: Vec::new() }
    }
}

/// One virtual host for all names with the same routes, called by the most specific one.
fn collapse(open: BTreeMap<String, Open>, attempt_count: bool) -> Vec<host::Router> {
    let mut open: Vec<(String, Open)> = open.into_iter().collect();
    open.sort_by(|(one, _), (other, _)| specific(one, other));
    let mut out: Vec<host::Router> = Vec::with_capacity(open.len());
    let mut known: HashMap<Vec<Origin>, usize> = HashMap::new();
    for (name, host) in open {
        match known.get(&host.from) {
            Some(&place) if out[place].require_tls == host.require_tls => out[place].domains.push(name),
            _ => {
                known.insert(host.from, out.len());
                out.push(host::Router {
                    name: with_port(&name, host.port),
                    domains: vec![name],
                    routes: host.routes,
                    attempt_count,
                    require_tls: host.require_tls,
                });
            }
        }
    }
    out
}

/// Whole names before wildcards, long ones before short ones.
fn specific(one: &str, other: &str) -> Ordering {
    let wildcard = |name: &str| name.starts_with('*');
    (wildcard(one), other.len(), one).cmp(&(wildcard(other), one.len(), other))
}

fn route_inputs(
    context: &Context<'_>,
    environment: &Environment,
    seen: &Seen,
    server: &Server,
    virtual_service: &Arc<VirtualService>,
    outline: &Outline,
) -> virtual_service::Inputs {
    let namespace = context.proxy.namespace();
    let mut known = Vec::new();
    for to in &outline.to {
        let service = service(context, seen, &namespace, &to.host, &virtual_service.key.namespace);
        let alias = service.map(|service| &service.external_name).filter(|name| !name.is_empty()).cloned();
        let port = service.filter(|_| !to.port).and_then(|service| match service.ports.as_slice() {
            [only] => Some(only.number),
            _ => None,
        });
        let mut questions = Vec::new();
        let rules =
            seen.service(&to.host).map(|visible| plan::rules(visible, &mut questions)).unwrap_or_default();
        let answers: Vec<bool> = questions.iter().map(|labels| context.proxy.selected(labels)).collect();
        let rule = rules.choose(&answers).cloned();
        if alias.is_some() || port.is_some() || rule.is_some() {
            known.push(Known { route: to.route, slot: to.slot, alias, port, rule });
        }
    }
    virtual_service::Inputs {
        virtual_service: virtual_service.into(),
        mesh: environment.mesh.clone(),
        port: server.port.number,
        gateway: Arc::clone(&server.gateway_name),
        tls: server.spec.tls.is_some(),
        forwarded_host: environment.forwarded_host,
        namespace: outline.by_namespace.then_some(namespace),
        sources: outline.sources.iter().map(|labels| context.proxy.selected(labels)).collect(),
        known,
    }
}

/// The service that a VirtualService in `namespace` means: the one beside it if the router may see it, else the one
/// that the router sees by that name.
fn service<'a>(
    context: &Context<'a>,
    seen: &'a Seen,
    router: &str,
    host: &Arc<str>,
    namespace: &Arc<str>,
) -> Option<&'a Service> {
    let key = ServiceKey { host: Arc::clone(host), namespace: Arc::clone(namespace) };
    let beside = context.snapshot.services().by_key.get(&key);
    beside
        .filter(|service| service.visibility.includes(router))
        .or_else(|| seen.service(host).map(|visible| &visible.service))
        .map(AsRef::as_ref)
}

#[cfg(test)]
mod tests {
    use super::specific;

    #[test]
    fn the_most_specific_name_is_first() {
        let mut names = ["*", "b.com", "*.com", "a.com", "*.b.com", "long.a.com"];
        names.sort_by(|one, other| specific(one, other));
        assert_eq!(names, ["long.a.com", "a.com", "b.com", "*.b.com", "*.com", "*"]);
    }
}
