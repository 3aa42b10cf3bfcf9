//! What VirtualServices say about connections that are not HTTP: by the server name of TLS, by the destination's address.

use crate::{
    Context,
    listeners::chain::{Chain, Match, Routed, To},
    names,
    routes::domains,
};
use mizzen_mesh::{
    ByPointer, Labels, Port, Protocol, Sees, Visible,
    config::{L4Routes, MESH, Routed as Routes},
};
use mizzen_proto::istio::networking::v1alpha3::{Destination, L4MatchAttributes, RouteDestination};
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

/// Whether a match can hold for this client, apart from the port: it names sidecars, its namespace, its labels.
fn is_for(
    context: &Context<'_>,
    gateways: &[String],
    labels: &BTreeMap<String, String>,
    namespace: &str,
) -> bool {
    let shared = || {
        let labels = labels.iter().map(|(key, value)| (key.as_str().into(), value.as_str().into()));
        Arc::new(labels.collect::<Labels>())
    };
    (gateways.is_empty() || gateways.iter().any(|gateway| gateway == MESH))
        && (namespace.is_empty() || *namespace == *context.proxy.namespace())
        && (labels.is_empty() || context.proxy.selected(&shared()))
}

/// A port of a service, as its chains are made for.
pub(super) struct Target<'a> {
    pub(super) context: &'a Context<'a>,
    pub(super) scope: Sees<'a>,
    pub(super) visible: &'a Visible,
    pub(super) port: &'a Port,
    /// The service's addresses where they are ranges.
    pub(super) subnets: Vec<Arc<str>>,
    /// Nothing but the server name tells the service from others on this listener.
    pub(super) by_name: bool,
}

impl Target<'_> {
    pub(super) fn chains(self, routes: &Routes<L4Routes>) -> Vec<Chain> {
        let routes =
            if routes.is_empty() { Vec::new() } else { routes.overlapping(self.visible.service.host()) };
        if self.port.protocol.is_tls() { self.tls(&routes) } else { self.tcp(&routes) }
    }

    fn tls(self, routes: &[&Arc<L4Routes>]) -> Vec<Chain> {
        let mut chains = Vec::new();
        let mut handled: BTreeSet<(&[String], &[String])> = BTreeSet::new();
        let mut subnets = self.subnets.clone();
        let rules = routes.iter().flat_map(|of| of.tls.iter().map(move |rule| (of, rule)));
        for (of, rule) in rules.filter(|(_, rule)| !rule.route.is_empty()) {
            for when in &rule.r#match {
                if (when.port != 0 && when.port != self.port.number)
                    || !is_for(self.context, &when.gateways, &when.source_labels, &when.source_namespace)
                {
                    continue;
                }
                // A match's own subnets hold for those after it, too.
                if !when.destination_subnets.is_empty() {
                    subnets = owned(&when.destination_subnets);
                }
                if !handled.insert((&when.sni_hosts, &when.destination_subnets)) {
                    continue;
                }
                let Some(to) = self.routed(of, &rule.route, true) else { continue };
                let when =
                    Match { server_names: owned(&when.sni_hosts), subnets: subnets.clone(), http: false };
                chains.push(Chain { when, to });
            }
        }
        if chains.is_empty() {
            let by_name = self.by_name || !self.subnets.is_empty();
            let server_names = if by_name { self.server_names() } else { Vec::new() };
            chains.push(self.own(Match { server_names, subnets: self.subnets.clone(), http: false }));
        }
        chains
    }

    fn tcp(self, routes: &[&Arc<L4Routes>]) -> Vec<Chain> {
        let mut chains = Vec::new();
        let own = || Match { subnets: self.subnets.clone(), ..Match::default() };
        let mut covered = false;
        let rules = routes.iter().flat_map(|of| of.tcp.iter().map(move |rule| (of, rule)));
        for (of, rule) in rules.filter(|(_, rule)| !rule.route.is_empty()) {
            let holding: Vec<_> = rule
                .r#match
                .iter()
                .filter(|when| when.port == 0 || when.port == self.port.number)
                .filter(|when| {
                    is_for(self.context, &when.gateways, &when.source_labels, &when.source_namespace)
                })
                .collect();
            let for_all = |when: &&L4MatchAttributes| when.destination_subnets.is_empty();
            // The first rule for every address is the last that matters.
            if rule.r#match.is_empty() || holding.iter().any(for_all) {
                if let Some(to) = self.routed(of, &rule.route, true) {
                    chains.push(Chain { when: own(), to });
                    return chains;
                }
                continue;
            }
            let subnets = holding.iter().flat_map(|when| &when.destination_subnets);
            let when =
                Match { subnets: subnets.map(|text| text.as_str().into()).collect(), ..Match::default() };
            if when.subnets.is_empty() {
                continue;
            }
            if let Some(to) = self.routed(of, &rule.route, false) {
                covered |= sorted(&when.subnets) == sorted(&self.subnets);
                chains.push(Chain { when, to });
            }
        }
        if !covered {
            chains.push(self.own(own()));
        }
        chains
    }

    /// The service's name, and those of services that only stand for it.
    fn server_names(&self) -> Vec<Arc<str>> {
        let mut names = vec![Arc::clone(&self.visible.service.key.host)];
        for alias in self.visible.aliases.iter() {
            names.extend(domains::of_host(&alias.host, &self.context.proxy.domain()).map(Arc::from));
        }
        names
    }

    fn own(&self, when: Match) -> Chain {
        let to = To::Service {
            service: ByPointer::from(&self.visible.service),
            protocol: self.port.protocol,
            rule: self.visible.rule(self.context.proxy).map(ByPointer::from),
        };
        Chain { when, to }
    }

    fn routed(&self, by: &Arc<L4Routes>, routes: &[RouteDestination], named: bool) -> Option<To> {
        let port = (self.port.number, &self.port.name, self.port.protocol);
        let routed = routed(self.context, self.scope, by, routes, port)?;
        Some(To::Routed(Box::new(Routed { named, ..routed })))
    }
}

/// Where the routes lead; nothing if they lead nowhere.
pub(in crate::listeners) fn routed(
    context: &Context<'_>,
    scope: Sees<'_>,
    by: &Arc<L4Routes>,
    routes: &[RouteDestination],
    (port, port_name, protocol): (u32, &Arc<str>, Protocol),
) -> Option<Routed> {
    let default = Destination::default();
    let to = |route: &'_ RouteDestination| route.destination.clone().unwrap_or_else(|| default.clone());
    let first = to(routes.first()?);
    let mut clusters: Vec<(Arc<str>, u32)> = Vec::with_capacity(routes.len());
    for route in routes {
        let weight = u32::try_from(route.weight).unwrap_or(0);
        // One alone has no weight.
        if weight > 0 || routes.len() == 1 {
            clusters.push((cluster(scope, &to(route), port).into(), weight));
        }
    }
    let service = scope.service(&first.host);
    (!clusters.is_empty()).then(|| Routed {
        by: ByPointer::from(by),
        named: true,
        clusters,
        single: routes.len() == 1,
        host: first.host.as_str().into(),
        subset: first.subset.as_str().into(),
        service: service.map(|visible| ByPointer::from(&visible.service)),
        rule: service.and_then(|visible| visible.rule(context.proxy)).map(ByPointer::from),
        protocol,
        port_name: Arc::clone(port_name),
    })
}

/// The cluster of a destination that came in on `port`.
fn cluster(scope: Sees<'_>, to: &Destination, port: u32) -> String {
    if to.host.is_empty() {
        return "UnknownService".to_owned();
    }
    let service = scope.service(&to.host).map(|visible| &visible.service);
    let host = match service {
        Some(alias) if !alias.external_name.is_empty() => &alias.external_name,
        _ => to.host.as_str(),
    };
    let port = match (&to.port, service.map(|service| service.ports.as_slice())) {
        (Some(port), _) => port.number,
        (None, Some([only])) => only.number,
        _ => port,
    };
    names::outbound(port, &to.subset, host)
}

fn owned(texts: &[String]) -> Vec<Arc<str>> {
    texts.iter().map(|text| text.as_str().into()).collect()
}

fn sorted(texts: &[Arc<str>]) -> Vec<&Arc<str>> {
    let mut texts: Vec<_> = texts.iter().collect();
    texts.sort();
    texts
}
