//! From what the user wrote to what will run: addresses, ports, names, the objects that the control plane reads and what each
//! Envoy starts with. Values to values; which ports are free is asked of the caller.

mod addresses;
pub(crate) mod bootstrap;
mod objects;

pub(crate) use addresses::is_free;
pub(crate) use addresses::{Addresses, NoRoom};
pub(crate) use bootstrap::bootstrap;
pub(crate) use objects::objects;

use crate::config::{App, Config};
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
/// Where a workload's own Envoy is its HTTP proxy.
pub(crate) const HTTP_PROXY_PORT: u16 = 15_002;
/// Ports below this are root's.
pub(crate) const PRIVILEGED: u16 = 1_024;
/// By so much a port of root's is moved.
const MOVED: u16 = 10_000;

#[derive(Clone, Debug)]
pub(crate) struct Plan {
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
    pub(crate) address: SocketAddr,
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
    addresses: &Addresses,
    wishes: Wishes,
    mut free: impl FnMut() -> std::io::Result<u16>,
) -> std::io::Result<Plan> {
    let control = addresses.control_plane();
    let mut workloads = Vec::new();
    for service in &config.services {
        for version in &service.versions {
            let number = workloads.len();
            let mut ports = Vec::new();
            for port in &service.ports {
                let app = match &version.app {
                    App::At(at) => at.get(&port.name).copied(),
                    App::Run(run) => {
                        run.listens.get(&port.name).map(|&port| (Ipv4Addr::LOCALHOST, port).into())
                    }
                    App::Sample(_) => None,
                };
                let app = match (app, &version.app) {
                    (Some(app), _) => app,
                    // Nobody answers for this port there.
                    (None, App::At(_)) => continue,
                    (None, App::Run(_) | App::Sample(_)) => (Ipv4Addr::LOCALHOST, free()?).into(),
                };
                ports.push(WorkloadPort {
                    name: port.name.clone(),
                    protocol: port.protocol.clone(),
                    service: port.number,
                    inbound: inbound(port.number),
                    app,
                });
            }
            workloads.push(Workload {
                name: format!("{}-{}", service.name, version.name),
                service: service.name.clone(),
                version: version.name.clone(),
                address: addresses.workload(number),
                local: addresses.local(number),
                ports,
                identity: Spiffe::new(TRUST_DOMAIN, NAMESPACE, &service.name),
                app: version.app.clone(),
            });
        }
    }
    Ok(Plan {
        control_plane: ControlPlane {
            xds: (control, 15_010).into(),
            http: (control, 15_080).into(),
            monitoring: (control, 15_014).into(),
        },
        gateway: Gateway {
            address: wishes.ingress,
            identity: Spiffe::new(TRUST_DOMAIN, NAMESPACE, "istio-ingressgateway"),
        },
        workloads,
        page: wishes.page,
    })
}

/// A port that a user may open.
fn inbound(port: u16) -> u16 {
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
