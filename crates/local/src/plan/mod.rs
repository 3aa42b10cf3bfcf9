//! From what the user wrote to what will run: addresses, ports, names, the objects that the control plane reads and what each
//! Envoy starts with. Values to values; which ports are free is asked of the caller.

mod addresses;
pub(crate) mod bootstrap;
mod objects;

pub(crate) use addresses::is_free;
pub(crate) use addresses::{Addresses, NoRoom};
pub(crate) use bootstrap::bootstrap;
pub(crate) use objects::{hosts, objects};

use crate::{
    config::{App, Config},
    namespaces::SWITCH,
};
use mizzen_identity::Spiffe;
use std::{
    collections::BTreeMap,
    net::{IpAddr, Ipv4Addr, SocketAddr},
};

pub(crate) const NAMESPACE: &str = "default";
pub(crate) const TRUST_DOMAIN: &str = "cluster.local";
/// The name of the gateway's workload, and of its process.
pub(crate) const GATEWAY: &str = "ingress";
pub(crate) const CONTROL_PLANE: &str = "control-plane";
/// The service that the gateway is behind.
pub(crate) const INGRESS_SERVICE: &str = "istio-ingressgateway";
/// Where a workload's own Envoy is its HTTP proxy.
pub(crate) const HTTP_PROXY_PORT: u16 = 15_002;
/// Ports below this are root's.
pub(crate) const PRIVILEGED: u16 = 1_024;
/// By so much a port of root's is moved.
const MOVED: u16 = 10_000;

/// How calls get to sidecars.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Capture {
    /// Each workload has loopback addresses of its own, and its sidecar listens there.
    #[default]
    Loopback,
    /// Each has a network namespace of its own, and the kernel redirects.
    Netns,
}

impl Capture {
    pub fn word(self) -> &'static str {
        match self {
            Self::Loopback => "loopback",
            Self::Netns => "netns",
        }
    }
}

/// Where a mesh's addresses come from.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Network {
    Loopback(Addresses),
    Namespaces,
}

impl Network {
    fn control_plane(&self) -> Ipv4Addr {
        match self {
            Self::Loopback(addresses) => addresses.control_plane(),
            Self::Namespaces => SWITCH,
        }
    }

    /// Where a workload is reached, and where it reaches others.
    fn workload(&self, number: usize) -> (Ipv4Addr, Ipv4Addr) {
        match self {
            Self::Loopback(addresses) => (addresses.workload(number), addresses.local(number)),
            Self::Namespaces => {
                let [a, b, c, d] = SWITCH.octets();
                let host = u8::try_from(number).unwrap_or(u8::MAX).saturating_add(d + 1);
                (Ipv4Addr::new(a, b, c, host), Ipv4Addr::LOCALHOST)
            }
        }
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Plan {
    pub(crate) capture: Capture,
    pub(crate) control_plane: ControlPlane,
    pub(crate) gateway: Gateway,
    pub(crate) workloads: Vec<Workload>,
    /// Where people look.
    pub(crate) page: SocketAddr,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct ControlPlane {
    pub(crate) xds: SocketAddr,
    pub(crate) http: SocketAddr,
    pub(crate) monitoring: SocketAddr,
}

#[derive(Clone, Debug)]
pub(crate) struct Gateway {
    /// Where people reach it.
    pub(crate) address: SocketAddr,
    /// Where it listens.
    pub(crate) inside: SocketAddr,
    pub(crate) identity: Spiffe,
}

/// A version of a service: a process and its sidecar.
#[derive(Clone, Debug)]
pub(crate) struct Workload {
    /// `reviews-v1`
    pub(crate) name: String,
    pub(crate) service: String,
    pub(crate) version: String,
    /// Where others reach it: its sidecar listens here.
    pub(crate) address: Ipv4Addr,
    /// Where it reaches others: what 127.0.0.1 is in a pod.
    pub(crate) local: Ipv4Addr,
    pub(crate) ports: Vec<WorkloadPort>,
    pub(crate) identity: Spiffe,
    pub(crate) app: App,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct WorkloadPort {
    pub(crate) name: String,
    pub(crate) protocol: String,
    /// By which others call the service.
    pub(crate) service: u16,
    /// Where the sidecar listens for them.
    pub(crate) inbound: u16,
    /// Where the process listens.
    pub(crate) app: SocketAddr,
}

impl Workload {
    pub(crate) fn http_proxy(&self) -> SocketAddr {
        (self.local, HTTP_PROXY_PORT).into()
    }
}

/// Ports that must be exactly these, or may be any that are free.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wishes {
    pub(crate) ingress: SocketAddr,
    pub(crate) page: SocketAddr,
}

/// The same whenever it is made of the same. `free` gives ports of 127.0.0.1 that nobody has.
pub(crate) fn plan(
    config: &Config,
    network: &Network,
    wishes: Wishes,
    mut free: impl FnMut() -> std::io::Result<u16>,
) -> std::io::Result<Plan> {
    let control = network.control_plane();
    let capture = match network {
        Network::Loopback(_) => Capture::Loopback,
        Network::Namespaces => Capture::Netns,
    };
    let mut workloads = Vec::new();
    for service in &config.services {
        for version in &service.versions {
            let (address, local) = network.workload(workloads.len());
            let mut ports = Vec::new();
            for port in &service.ports {
                let app = match &version.app {
                    App::At(at) => at.get(&port.name).copied(),
                    App::Run(run) => {
                        run.listens.get(&port.name).map(|&port| (Ipv4Addr::LOCALHOST, port).into())
                    }
                    App::Sample(_) => None,
                };
                let (app, inbound) = match (app, &version.app, capture) {
                    // Nobody answers for this port there.
                    (None, App::At(_), _) => continue,
                    (Some(app), _, Capture::Loopback) => (app, inbound(port.number)),
                    (None, _, Capture::Loopback) => {
                        ((Ipv4Addr::LOCALHOST, free()?).into(), inbound(port.number))
                    }
                    // The network is all its own: its port is the service's, and is the process's.
                    (app, _, Capture::Netns) => {
                        let number = app.map_or(port.number, |app| app.port());
                        ((Ipv4Addr::LOCALHOST, number).into(), number)
                    }
                };
                ports.push(WorkloadPort {
                    name: port.name.clone(),
                    protocol: port.protocol.clone(),
                    service: port.number,
                    inbound,
                    app,
                });
            }
            workloads.push(Workload {
                name: workload_name(&service.name, &version.name),
                service: service.name.clone(),
                version: version.name.clone(),
                address,
                local,
                ports,
                identity: Spiffe::new(TRUST_DOMAIN, NAMESPACE, &service.name),
                app: version.app.clone(),
            });
        }
    }
    // Pages are for callers on the same machine, which there is the switch.
    let (inside, pages) = match capture {
        Capture::Loopback => (wishes.ingress, control),
        Capture::Netns => ((control, wishes.ingress.port()).into(), Ipv4Addr::LOCALHOST),
    };
    Ok(Plan {
        capture,
        control_plane: ControlPlane {
            xds: (control, 15_010).into(),
            http: (pages, 15_080).into(),
            monitoring: (pages, 15_014).into(),
        },
        gateway: Gateway {
            address: wishes.ingress,
            inside,
            identity: Spiffe::new(TRUST_DOMAIN, NAMESPACE, INGRESS_SERVICE),
        },
        workloads,
        page: wishes.page,
    })
}

/// `reviews-v1`
pub(crate) fn workload_name(service: &str, version: &str) -> String {
    format!("{service}-{version}")
}

/// A port that a user may open.
pub(crate) fn inbound(port: u16) -> u16 {
    if port < PRIVILEGED { port + MOVED } else { port }
}

/// Every socket that is opened on the mesh's own addresses, with what it is for.
pub(crate) fn sockets(config: &Config, addresses: &Addresses) -> Vec<(SocketAddr, String)> {
    let control = addresses.control_plane();
    let mut sockets: Vec<(SocketAddr, String)> = [15_010, 15_080, 15_014]
        .into_iter()
        .map(|port| ((control, port).into(), "the control plane".to_owned()))
        .collect();
    let ports: BTreeMap<u16, &str> = config
        .services
        .iter()
        .flat_map(|service| service.ports.iter().map(|port| (port.number, service.name.as_str())))
        .collect();
    let mut number = 0;
    for service in &config.services {
        for version in &service.versions {
            let (address, local) = (addresses.workload(number), addresses.local(number));
            number += 1;
            for port in &service.ports {
                let of = format!("port {} of service {}", port.number, service.name);
                sockets.push(((address, inbound(port.number)).into(), of));
            }
            let of = format!("the HTTP proxy of {}-{}", service.name, version.name);
            sockets.push(((local, HTTP_PROXY_PORT).into(), of));
            for (&port, service) in ports.iter().filter(|&(&port, _)| port >= PRIVILEGED) {
                sockets.push(((local, port).into(), format!("port {port} of service {service}")));
            }
        }
    }
    sockets
}

/// Whether it is one of the mesh's own.
pub(crate) fn workload_at(plan: &Plan, address: IpAddr) -> Option<&Workload> {
    plan.workloads.iter().find(|workload| IpAddr::from(workload.address) == address)
}
