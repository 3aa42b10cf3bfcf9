//! Servers of all gateways of a router, by the port that it listens on.
//!
//! Plain HTTP servers on one port become one listener with all of their hosts. TLS servers share a port by the name that
//! clients ask for. What cannot share is left out: the first that came stays.

use super::Server;
use crate::{Protocol, Target};
use std::{
    collections::{BTreeMap, HashMap, HashSet},
    sync::Arc,
};

/// A service with this label wants gateways to name the workload's ports, not its own.
const NO_TRANSLATION: &str = "experimental.istio.io/disable-gateway-port-translation";

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Merged {
    /// In the order in which they came.
    pub ports: Vec<Listened>,
    /// HTTP servers, by the name of their routes.
    pub by_route: BTreeMap<String, Vec<Arc<Server>>>,
}

/// One listener.
#[derive(Clone, Debug, PartialEq)]
pub struct Listened {
    /// Of the workload.
    pub port: u32,
    /// Of the first of its servers.
    pub protocol: Protocol,
    /// An address; empty: all.
    pub bind: String,
    /// Of a plain HTTP listener. Each TLS server has its own ([`Server::route_name`]).
    pub route_name: String,
    pub servers: Vec<Arc<Server>>,
}

/// Where a server listens. Listeners differ by the protocol as it was written.
type Place = (u32, String, String);

#[derive(Default)]
struct Merging {
    merged: Merged,
    at: HashMap<Place, usize>,
    /// The first plain text one of a port.
    plain: HashMap<u32, (Place, Protocol)>,
    ports: HashSet<u32>,
    tls_hosts: HashSet<(u32, String, String)>,
}

pub(super) fn merge<'a>(servers: impl Iterator<Item = &'a Arc<Server>>, targets: &[Target]) -> Merged {
    let mut merging = Merging::default();
    for server in servers {
        merging.add(server, workload_port(server.port.number, targets));
    }
    merging.merged
}

/// A gateway names a port of the router's service; without such a service it is the workload's.
fn workload_port(number: u32, targets: &[Target]) -> u32 {
    let named = |target: &&Target| {
        target.port.number == number && !target.service.labels.contains_key(NO_TRANSLATION)
    };
    targets.iter().find(named).map_or(number, |target| target.target_port)
}

impl Merging {
    fn add(&mut self, server: &Arc<Server>, port: u32) {
        let route = server.route_name(port);
        let place: Place = (port, server.port.protocol.clone(), server.spec.bind.clone());
        if server.spec.tls.is_some() && !self.take_tls_hosts(server, port) {
            return;
        }
        if self.ports.insert(port) {
            return self.start(server, place, route);
        }
        let Some((first, protocol)) = self.plain.get(&port).cloned() else {
            if !server.is_tls() {
                return self.start(server, place, route);
            }
            if server.is_http() {
                if self.merged.by_route.contains_key(&route) {
                    return;
                }
                self.merged.by_route.insert(route, vec![Arc::clone(server)]);
            }
            return match self.at.get(&place) {
                Some(&at) => self.merged.ports[at].servers.push(Arc::clone(server)),
                None => self.listen(server, place, String::new()),
            };
        };
        if first.2 == place.2 {
            let alike = (server.protocol.is_http() || server.protocol == protocol) && protocol.is_http();
            if alike && !route.is_empty() {
                self.join(server, &first, route);
            }
        } else if self.at.contains_key(&place) {
            self.join(server, &place, route);
        } else {
            self.start(server, place, route);
        }
    }

    /// Two TLS servers with one name could not be told apart.
    fn take_tls_hosts(&mut self, server: &Server, port: u32) -> bool {
        let key = |host: &String| (port, server.spec.bind.clone(), host.clone());
        if server.spec.hosts.iter().any(|host| self.tls_hosts.contains(&key(host))) {
            return false;
        }
        self.tls_hosts.extend(server.spec.hosts.iter().map(key));
        true
    }

    fn join(&mut self, server: &Arc<Server>, place: &Place, route: String) {
        if let Some(&at) = self.at.get(place) {
            self.merged.ports[at].servers.push(Arc::clone(server));
        }
        self.merged.by_route.entry(route).or_default().push(Arc::clone(server));
    }

    fn start(&mut self, server: &Arc<Server>, place: Place, route: String) {
        if !server.is_tls() {
            self.plain.insert(place.0, (place.clone(), server.protocol));
        }
        if server.is_http() {
            self.merged.by_route.insert(route.clone(), vec![Arc::clone(server)]);
        }
        self.listen(server, place, route);
    }

    fn listen(&mut self, server: &Arc<Server>, place: Place, route_name: String) {
        let (port, _, bind) = place.clone();
        self.at.insert(place, self.merged.ports.len());
        let servers = vec![Arc::clone(server)];
        self.merged.ports.push(Listened { port, protocol: server.protocol, bind, route_name, servers });
    }
}
