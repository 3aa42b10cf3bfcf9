//! The servers of a router's Gateways, by the name of their routes.

use crate::Context;
use mizzen_mesh::{Host, Target, config::Gateway};
use mizzen_proto::istio::networking::v1alpha3::{self, server_tls_settings::TlSmode};
use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};

/// A server that takes HTTP requests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Server {
    /// `namespace/name`
    pub(super) gateway: Arc<str>,
    /// As the Gateway says it.
    pub(super) port: u32,
    /// `host`, or `namespace/host` for the VirtualServices of a namespace alone.
    pub(super) names: Vec<String>,
    pub(super) tls: bool,
    pub(super) https_redirect: bool,
}

/// The servers behind the routes `name`, the oldest Gateway's first. Servers that others are in the way of do not count.
pub(super) fn of_route(context: &Context<'_>, name: &str) -> Vec<Server> {
    let gateways = context.snapshot.gateways.for_router(context.proxy);
    if gateways.is_empty() {
        return Vec::new();
    }
    let targets = context.proxy.targets();
    merge(&gateways, &targets).remove(name).unwrap_or_default()
}

/// Ports opt out of translation by this label of their service.
const OWN_PORTS: &str = "experimental.istio.io/disable-gateway-port-translation";

/// Where the router listens for a port: where its service sends what comes to it.
fn listening(port: u32, targets: &[Target]) -> u32 {
    let translates = |target: &&Target| !target.service.labels.contains_key(OWN_PORTS);
    let target = targets.iter().filter(translates).find(|target| target.port.number == port);
    target.map_or(port, |target| target.target_port)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Speech<'a> {
    Http,
    Https,
    Other(&'a str),
}

fn speech(protocol: &str) -> Speech<'_> {
    match protocol.to_ascii_lowercase().as_str() {
        "http" | "http2" | "http_proxy" | "grpc" | "grpc-web" => Speech::Http,
        "https" => Speech::Https,
        _ => Speech::Other(protocol),
    }
}

fn merge(gateways: &[Arc<Gateway>], targets: &[Target]) -> HashMap<String, Vec<Server>> {
    let mut out: HashMap<String, Vec<Server>> = HashMap::new();
    let mut used: HashSet<u32> = HashSet::new();
    // The plain server that came first to a port, and each address of the port.
    let mut plain: HashMap<u32, (Speech<'_>, &str)> = HashMap::new();
    let mut bound: HashSet<(u32, &str, &str)> = HashSet::new();
    let mut tls_hosts: HashMap<(u32, String), &str> = HashMap::new();
    for gateway in gateways {
        let name: Arc<str> = format!("{}/{}", gateway.key.namespace, gateway.key.name).into();
        for server in &gateway.spec.servers {
            let Some(port) = &server.port else { continue };
            let speech = speech(&port.protocol);
            let bind = server.bind.as_str();
            let here = listening(port.number, targets);
            let names = names(&server.hosts, &gateway.key.namespace);
            if server.tls.is_some() && !take(&mut tls_hosts, here, bind, &names) {
                continue;
            }
            let is_tls = server.tls.is_some() && speech != Speech::Http;
            let route = route_name(server, port, speech, here, gateway);
            let entry = Server {
                gateway: Arc::clone(&name),
                port: port.number,
                names,
                tls: server.tls.is_some(),
                https_redirect: server.tls.as_ref().is_some_and(|tls| tls.https_redirect),
            };
            let first_here = used.insert(here);
            let mut add = false;
            match plain.get(&here).copied() {
                _ if first_here => {}
                Some((other, at)) if at == bind => {
                    if !(speech == Speech::Http && other == Speech::Http) || route.is_none() {
                        continue;
                    }
                    add = true;
                }
                Some(_) => add = bound.contains(&(here, &port.protocol, bind)),
                None if is_tls => {
                    if route.as_ref().is_some_and(|route| out.contains_key(route)) {
                        continue;
                    }
                }
                None => {}
            }
            bound.insert((here, &port.protocol, bind));
            if !is_tls && !add {
                plain.insert(here, (speech, bind));
            }
            let Some(route) = route else { continue };
            let servers = out.entry(route).or_default();
            if !add {
                servers.clear();
            }
            servers.push(entry);
        }
    }
    out
}

/// Two servers with TLS on one port must differ in their names.
fn take<'a>(taken: &mut HashMap<(u32, String), &'a str>, port: u32, bind: &'a str, names: &[String]) -> bool {
    let key = |name: &String| (port, name.clone());
    if names.iter().any(|name| taken.get(&key(name)) == Some(&bind)) {
        return false;
    }
    taken.extend(names.iter().map(|name| (key(name), bind)));
    true
}

fn route_name(
    server: &v1alpha3::Server,
    port: &v1alpha3::Port,
    speech: Speech<'_>,
    here: u32,
    gateway: &Gateway,
) -> Option<String> {
    let bind = if server.bind.is_empty() { String::new() } else { format!(".{}", server.bind) };
    let mode = server.tls.as_ref().map(v1alpha3::ServerTlsSettings::mode);
    match speech {
        Speech::Http => Some(format!("http.{here}{bind}")),
        Speech::Https if !matches!(mode, Some(TlSmode::Passthrough | TlSmode::AutoPassthrough)) => {
            let (number, name, key) = (port.number, &port.name, &gateway.key);
            Some(format!("https.{number}.{name}.{}.{}{bind}", key.name, key.namespace))
        }
        Speech::Https | Speech::Other(_) => None,
    }
}

/// `./host` is for the Gateway's own namespace, `*/host` for all.
fn names(hosts: &[String], namespace: &str) -> Vec<String> {
    if hosts.iter().any(|host| host == "*/*") {
        return vec!["*".into()];
    }
    let name = |host: &String| match host.split_once('/') {
        Some((".", name)) => format!("{namespace}/{name}"),
        Some(("*", name)) => name.to_owned(),
        _ => host.clone(),
    };
    hosts.iter().map(name).collect()
}

/// A server's names, ready to be compared with many VirtualServices'.
pub(super) struct Hosts<'a> {
    whole: HashMap<&'a str, Vec<Option<&'a str>>>,
    wildcards: Vec<(Option<&'a str>, &'a str)>,
}

impl Server {
    pub(super) fn hosts(&self) -> Hosts<'_> {
        let mut hosts = Hosts { whole: HashMap::new(), wildcards: Vec::new() };
        for name in &self.names {
            let (namespace, name) = match name.split_once('/') {
                Some(("*", name)) => (None, name),
                Some((namespace, name)) => (Some(namespace), name),
                None => (None, name.as_str()),
            };
            if Host(name).is_wildcard() {
                hosts.wildcards.push((namespace, name));
            } else {
                hosts.whole.entry(name).or_default().push(namespace);
            }
        }
        hosts
    }
}

impl<'a> Hosts<'a> {
    /// The names that both have, the narrower one of each pair, for a VirtualService in `namespace`.
    pub(super) fn common(&self, hosts: &'a [String], namespace: &str) -> Vec<&'a str> {
        let for_it = |of: &Option<&str>| of.is_none_or(|of| of == namespace);
        let wildcards = || self.wildcards.iter().filter(|(of, _)| for_it(of)).map(|(_, name)| *name);
        let mut out: Vec<&'a str> = Vec::new();
        let mut add = |name: &'a str| {
            if !out.contains(&name) {
                out.push(name);
            }
        };
        for host in hosts {
            let host = host.as_str();
            if Host(host).is_wildcard() {
                for (name, of) in &self.whole {
                    if of.iter().any(for_it) && Host(host).covers(Host(name)) {
                        add(name);
                    }
                }
                for name in wildcards() {
                    if Host(host).covers(Host(name)) {
                        add(name);
                    } else if Host(name).covers(Host(host)) {
                        add(host);
                    }
                }
            } else {
                let named = self.whole.get(host).is_some_and(|of| of.iter().any(for_it));
                if named || wildcards().any(|name| Host(name).covers(Host(host))) {
                    add(host);
                }
            }
        }
        out
    }
}
