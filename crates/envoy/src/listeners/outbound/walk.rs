//! All services a sidecar sees → the listeners that they need.

use super::{
    entries::{Added, Binds, Entries, Walked},
    l4::Target,
};
use crate::{
    Context,
    listeners::{
        address::Families,
        base::is_true,
        chain::{Chain, Match, To},
        reserved::Reserved,
    },
};
use mizzen_mesh::{
    ByPointer, Interception, Port, Protocol, Registry, Resolution, Sees, Service, Visible,
    config::{L4Routes, Routed as Routes},
};
use std::{collections::BTreeSet, net::IpAddr, sync::Arc};

/// What no address is said for.
const UNSPECIFIED: &str = "0.0.0.0";
const UNSPECIFIED_V6: &str = "::";

struct Walk<'a> {
    context: &'a Context<'a>,
    scope: Sees<'a>,
    families: Families,
    /// The workload connects to the listeners themselves.
    bound: bool,
    reserved: Reserved,
    /// The proxy answers for names, and with addresses that the control plane gave to those without one.
    captures_names: bool,
    /// If it is one of the endpoints that get listeners: calls to itself do not come out.
    own: Option<IpAddr>,
    routes: &'a Routes<L4Routes>,
    entries: Entries<'a>,
}

pub(super) fn all(context: &Context<'_>) -> Walked {
    let scope = context.scope();
    let bound = context.proxy.interception() == Interception::None;
    let unprivileged = bound && is_true(context.proxy.metadata("UNPRIVILEGED_POD").as_ref());
    let mut walk = Walk {
        context,
        scope,
        families: Families::new(context.proxy.families()),
        bound,
        reserved: Reserved::new(context),
        captures_names: scope.offered().iter().any(|visible| !visible.service.allocated.is_empty())
            && is_true(context.proxy.metadata("DNS_CAPTURE").as_ref()),
        own: if bound { None } else { own_address(context, scope) },
        routes: scope.l4(),
        entries: Entries::default(),
    };
    for visible in scope.offered() {
        // An alias has no listener: its name is one of those of the service that it stands for.
        if visible.service.resolution == Resolution::Alias {
            continue;
        }
        for port in &visible.service.ports {
            if (1..=65_535).contains(&port.number) && !(unprivileged && port.number < 1024) {
                walk.port(visible, port);
            }
        }
    }
    walk.entries.finish()
}

/// Asked about all endpoints at once, so that it tells only them from the other proxies.
fn own_address(context: &Context<'_>, scope: Sees<'_>) -> Option<IpAddr> {
    let mut addresses = BTreeSet::new();
    for visible in scope.offered() {
        let service = &visible.service;
        if has_listeners_by_endpoint(service) && service.ports.iter().any(|port| !port.protocol.is_http()) {
            let endpoints = context.snapshot.named_endpoints_of(&service.key);
            let endpoints = endpoints.into_iter().flat_map(|endpoints| &endpoints.endpoints);
            addresses
                .extend(endpoints.filter_map(|endpoint| endpoint.addresses.first()?.parse::<IpAddr>().ok()));
        }
    }
    if addresses.is_empty() { None } else { context.proxy.address_among(&Arc::new(addresses)) }
}

fn has_listeners_by_endpoint(service: &Service) -> bool {
    service.resolution == Resolution::Passthrough
        && service.addresses.iter().all(|address| &**address == UNSPECIFIED)
}

/// Where the chains of a port are to be.
#[derive(Clone, Copy)]
struct Place<'a> {
    /// It names the listener.
    bind: &'a str,
    /// The service's own address there, a range perhaps.
    address: &'a str,
}

impl<'a> Walk<'a> {
    fn port(&mut self, visible: &'a Visible, port: &'a Port) {
        let service = &visible.service;
        match port.protocol {
            Protocol::Udp => {}
            protocol if protocol.is_http() => self.http(visible, port),
            _ if self.bound => {
                let (bind, address) = (self.families.localhosts()[0], self.address(service));
                self.bytes(visible, port, Place { bind, address }, || Binds::Localhosts);
            }
            _ if has_listeners_by_endpoint(service) && !self.has_allocated(service) => {
                self.endpoints(visible, port);
            }
            _ => self.addresses(visible, port),
        }
    }

    fn http(&mut self, visible: &'a Visible, port: &'a Port) {
        let (bind, binds) = if self.bound {
            (self.families.localhosts()[0], Binds::Localhosts)
        } else if self.reserved.contains(port.number) {
            return;
        } else {
            (self.families.wildcard(), Binds::Wildcards)
        };
        let when = if self.bound { Match::default() } else { Match::http() };
        let web = port.protocol == Protocol::GrpcWeb;
        let added = self.added(visible, port, bind);
        self.entries.add_http(&added, &binds, || Chain { when, to: To::Http { web, only: None } });
    }

    fn added(&self, visible: &'a Visible, port: &Port, bind: &'a str) -> Added<'a> {
        Added { bind, port: port.number, protocol: port.protocol, host: &visible.service.key.host }
    }

    fn has_allocated(&self, service: &Service) -> bool {
        self.captures_names && service.allocated.iter().any(|address| self.families.can_use(address))
    }

    /// The first that the proxy can use; one of another family rather than none.
    fn address(&self, service: &'a Service) -> &'a str {
        let usable =
            |addresses: &'a [Arc<str>]| addresses.iter().find(|address| self.families.can_use(address));
        let own = usable(&service.addresses)
            .or(service.addresses.first())
            .filter(|address| &***address != UNSPECIFIED);
        let allocated = || {
            let all = service.allocated.iter().filter(|address| self.families.can_use(address));
            all.min_by_key(|address| address.contains(':')).filter(|_| self.captures_names)
        };
        own.or_else(allocated).map_or(UNSPECIFIED, |address| address)
    }

    /// At the addresses of the service. Of one with two families the first is enough (Istio listens on both only where its dual
    /// stack is switched on); those of an entry are listeners of their own.
    fn addresses(&mut self, visible: &'a Visible, port: &'a Port) {
        let service = &visible.service;
        let entry = service.registry == Registry::External;
        if entry && service.addresses.len() > 1 {
            for address in &service.addresses {
                self.at(visible, port, address, || Binds::At(Arc::clone(address)));
            }
            return;
        }
        let address = self.address(service);
        if entry && address == UNSPECIFIED {
            match self.families {
                Families::V4 => self.at(visible, port, address, || Binds::At(UNSPECIFIED.into())),
                Families::V6 => self.at(visible, port, UNSPECIFIED_V6, || Binds::At(UNSPECIFIED_V6.into())),
                Families::Both => {
                    self.at(visible, port, address, || {
                        Binds::AtAll(vec![UNSPECIFIED.into(), UNSPECIFIED_V6.into()])
                    });
                }
            }
            return;
        }
        self.at(visible, port, address, || Binds::At(address.into()));
    }

    fn at(&mut self, visible: &'a Visible, port: &'a Port, address: &'a str, binds: impl FnOnce() -> Binds) {
        if address.contains('/') {
            self.bytes(visible, port, Place { bind: self.families.wildcard(), address }, || Binds::Wildcards);
        } else {
            self.bytes(visible, port, Place { bind: address, address }, binds);
        }
    }

    /// One listener for each endpoint, since nothing else has an address. Without endpoints there is nothing to reach, but for an
    /// entry that stands for whatever address is asked for.
    fn endpoints(&mut self, visible: &'a Visible, port: &'a Port) {
        let service = &visible.service;
        let endpoints = self.context.snapshot.named_endpoints_of(&service.key);
        let endpoints = endpoints.into_iter().flat_map(|endpoints| &endpoints.endpoints);
        let mut endpoints = endpoints.filter(|endpoint| endpoint.port_name == port.name).peekable();
        if endpoints.peek().is_none() && service.registry == Registry::External && service.selector.is_empty()
        {
            return self.addresses(visible, port);
        }
        for endpoint in endpoints {
            let [first, rest @ ..] = endpoint.addresses.as_slice() else { continue };
            let Ok(address) = first.parse::<IpAddr>() else { continue };
            if self.own == Some(address) || rest.iter().any(|address| address.parse::<IpAddr>().is_err()) {
                continue;
            }
            self.bytes(visible, port, Place { bind: first, address: UNSPECIFIED }, || match rest {
                [] => Binds::At(Arc::clone(first)),
                _ => Binds::AtAll(endpoint.addresses.clone()),
            });
        }
    }

    fn bytes(
        &mut self,
        visible: &'a Visible,
        port: &'a Port,
        place: Place<'a>,
        binds: impl FnOnce() -> Binds,
    ) {
        let added = self.added(visible, port, place.bind);
        let service = &visible.service;
        let wildcard = self.families.wildcard();
        let range = place.address.contains('/');
        let dynamic = service.resolution == Resolution::DynamicDns && service.host().starts_with('*');
        let target = Target {
            context: self.context,
            scope: self.scope,
            visible,
            port,
            subnets: if range && !self.bound { vec![place.address.into()] } else { Vec::new() },
            by_name: range || (place.address == wildcard && place.bind == wildcard) || dynamic,
        };
        let routes = self.routes;
        if !port.protocol.is_unknown() && port.protocol.is_tcp() {
            self.entries.add_tcp(&added, || (binds(), target.chains(routes)));
            return;
        }
        self.entries.add_sniffed(&added, || {
            let mut chains = target.chains(routes);
            let only = (place.bind != wildcard).then(|| ByPointer::from(service));
            chains.push(Chain { when: Match::http(), to: To::Http { web: false, only } });
            (binds(), chains)
        });
    }
}
