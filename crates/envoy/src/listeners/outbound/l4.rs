//! What VirtualServices say about connections that are not HTTP: by the server name of TLS, by the destination's address.

use crate::{
    Context,
    listeners::chain::{Chain, Match, Routed, To},
    names,
};
use mizzen_mesh::{ByPointer, Host, Labels, Port, Protocol, Scope, Visible, config::VirtualService};
use mizzen_proto::istio::networking::v1alpha3::{Destination, RouteDestination};
use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    sync::Arc,
};

/// The VirtualServices of a scope that have rules for bytes, by host, with what depends on the client alone already decided.
pub(super) struct L4<'a> {
    rules: Vec<Rules<'a>>,
    by_host: HashMap<&'a str, Vec<usize>>,
    wildcards: Vec<usize>,
}

struct Rules<'a> {
    of: &'a Arc<VirtualService>,
    tls: Vec<Rule>,
    tcp: Vec<Rule>,
}

/// A rule with those of its matches that hold for the client.
struct Rule {
    index: usize,
    /// There was none at all: everything.
    unconditional: bool,
    matches: Vec<usize>,
}

impl<'a> L4<'a> {
    pub(super) fn new(context: &Context<'_>, scope: &'a Scope) -> Self {
        let mut l4 = Self { rules: Vec::new(), by_host: HashMap::new(), wildcards: Vec::new() };
        for of in &scope.virtual_services {
            if of.spec.tls.is_empty() && of.spec.tcp.is_empty() {
                continue;
            }
            let client = |gateways: &[String], labels: &BTreeMap<String, String>, namespace: &str| {
                (gateways.is_empty() || gateways.iter().any(|gateway| gateway == "mesh"))
                    && (namespace.is_empty() || *namespace == *scope.namespace)
                    && (labels.is_empty() || context.proxy.selected(&shared(labels)))
            };
            let rule = |index, whole: usize, routes: &[RouteDestination], holds: &dyn Fn(usize) -> bool| {
                (!routes.is_empty()).then(|| Rule {
                    index,
                    unconditional: whole == 0,
                    matches: (0..whole).filter(|&index| holds(index)).collect(),
                })
            };
            let tls = of.spec.tls.iter().enumerate().filter_map(|(index, tls)| {
                rule(index, tls.r#match.len(), &tls.route, &|index| {
                    let when = &tls.r#match[index];
                    client(&when.gateways, &when.source_labels, &when.source_namespace)
                })
            });
            let tcp = of.spec.tcp.iter().enumerate().filter_map(|(index, tcp)| {
                rule(index, tcp.r#match.len(), &tcp.route, &|index| {
                    let when = &tcp.r#match[index];
                    client(&when.gateways, &when.source_labels, &when.source_namespace)
                })
            });
            let rules = Rules { of, tls: tls.collect(), tcp: tcp.collect() };
            let index = l4.rules.len();
            for host in &of.spec.hosts {
                if Host(host).is_wildcard() {
                    l4.wildcards.push(index);
                } else {
                    l4.by_host.entry(host).or_default().push(index);
                }
            }
            l4.rules.push(rules);
        }
        l4
    }

    /// Those for a host, in Istio's order.
    fn of(&self, host: &str) -> BTreeSet<usize> {
        if self.rules.is_empty() {
            return BTreeSet::new();
        }
        let host = Host(host);
        let matches = |&&index: &&usize| {
            self.rules[index].of.spec.hosts.iter().any(|candidate| Host(candidate).matches(host))
        };
        if host.is_wildcard() {
            return (0..self.rules.len()).filter(|index| matches(&index)).collect();
        }
        let exact = self.by_host.get(host.0).into_iter().flatten();
        exact.chain(self.wildcards.iter().filter(matches)).copied().collect()
    }
}

fn shared(labels: &BTreeMap<String, String>) -> Arc<Labels> {
    Arc::new(labels.iter().map(|(key, value)| (key.as_str().into(), value.as_str().into())).collect())
}

/// A port of a service, as its chains are made for.
pub(super) struct Target<'a> {
    pub(super) context: &'a Context<'a>,
    pub(super) scope: &'a Scope,
    pub(super) visible: &'a Visible,
    pub(super) port: &'a Port,
    /// The service's addresses where they are ranges.
    pub(super) subnets: Vec<Arc<str>>,
    /// Nothing but the server name tells the service from others on this listener.
    pub(super) by_name: bool,
}

impl Target<'_> {
    pub(super) fn chains(self, l4: &L4<'_>) -> Vec<Chain> {
        let rules = l4.of(self.visible.service.host());
        let rules = rules.into_iter().map(|index| &l4.rules[index]);
        if self.port.protocol.is_tls() { self.tls(rules) } else { self.tcp(rules) }
    }

    fn tls<'r, 'a: 'r>(self, rules: impl Iterator<Item = &'r Rules<'a>>) -> Vec<Chain> {
        let mut chains = Vec::new();
        let mut handled: BTreeSet<(&[String], &[String])> = BTreeSet::new();
        let mut subnets = self.subnets.clone();
        for rules in rules {
            for rule in &rules.tls {
                let tls = &rules.of.spec.tls[rule.index];
                for &index in &rule.matches {
                    let when = &tls.r#match[index];
                    if when.port != 0 && when.port != self.port.number {
                        continue;
                    }
                    // A match's own subnets hold for those after it, too.
                    if !when.destination_subnets.is_empty() {
                        subnets = owned(&when.destination_subnets);
                    }
                    if !handled.insert((&when.sni_hosts, &when.destination_subnets)) {
                        continue;
                    }
                    let Some(to) = self.routed(rules.of, &tls.route, true) else { continue };
                    let when =
                        Match { server_names: owned(&when.sni_hosts), subnets: subnets.clone(), http: false };
                    chains.push(Chain { when, to });
                }
            }
        }
        if chains.is_empty() {
            let host = &self.visible.service.key.host;
            let by_name = self.by_name || !self.subnets.is_empty();
            let server_names = if by_name { vec![Arc::clone(host)] } else { Vec::new() };
            chains.push(self.own(Match { server_names, subnets: self.subnets.clone(), http: false }));
        }
        chains
    }

    fn tcp<'r, 'a: 'r>(self, rules: impl Iterator<Item = &'r Rules<'a>>) -> Vec<Chain> {
        let mut chains = Vec::new();
        let own = || Match { subnets: self.subnets.clone(), ..Match::default() };
        let mut covered = false;
        for rules in rules {
            for rule in &rules.tcp {
                let tcp = &rules.of.spec.tcp[rule.index];
                let holding = || {
                    let matches = rule.matches.iter().map(|&index| &tcp.r#match[index]);
                    matches.filter(|when| when.port == 0 || when.port == self.port.number)
                };
                // The first rule for every address is the last that matters.
                if rule.unconditional || holding().any(|when| when.destination_subnets.is_empty()) {
                    if let Some(to) = self.routed(rules.of, &tcp.route, true) {
                        chains.push(Chain { when: own(), to });
                        return chains;
                    }
                    continue;
                }
                let subnets: Vec<Arc<str>> =
                    holding().flat_map(|when| &when.destination_subnets).map(|subnet| subnet.as_str().into()).collect();
                if subnets.is_empty() {
                    continue;
                }
                let when = Match { subnets, ..Match::default() };
                covered |= sorted(&when.subnets) == sorted(&self.subnets);
                if let Some(to) = self.routed(rules.of, &tcp.route, false) {
                    chains.push(Chain { when, to });
                }
            }
        }
        if !covered {
            chains.push(self.own(own()));
        }
        chains
    }

    fn own(&self, when: Match) -> Chain {
        let to = To::Service {
            service: ByPointer::from(&self.visible.service),
            protocol: self.port.protocol,
            rule: self.visible.rule(self.context.proxy).map(ByPointer::from),
        };
        Chain { when, to }
    }

    fn routed(&self, by: &Arc<VirtualService>, routes: &[RouteDestination], named: bool) -> Option<To> {
        let port = (self.port.number, &self.port.name, self.port.protocol);
        let routed = routed(self.context, self.scope, by, routes, port)?;
        Some(To::Routed(Box::new(Routed { named, ..routed })))
    }
}

/// Where the routes lead; nothing if they lead nowhere.
pub(in crate::listeners) fn routed(
    context: &Context<'_>,
    scope: &Scope,
    by: &Arc<VirtualService>,
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
fn cluster(scope: &Scope, to: &Destination, port: u32) -> String {
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
