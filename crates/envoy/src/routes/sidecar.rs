//! The routes of a sidecar's outbound listeners: `80` for a port, `host:80` for one service's listener, `http_proxy`
//! for requests to any port.

use super::{
    Built,
    configuration,
    environment::Environment,
    host::{self, Form, Host, Outbound, Routing, Subject},
    plan::{self, Listing, Plan, Routed},
    virtual_service::{self, Known},
};
use crate::{Context, Resource};
use mizzen_mesh::{ByPointer, Service};
use std::{
    collections::{HashMap, HashSet},
    hash::{BuildHasherDefault, Hasher},
    sync::{Arc, OnceLock},
};

/// Which listener a configuration's name is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Listener<'a> {
    /// Zero for all ports.
    Port(u32),
    Service { host: &'a str, port: u32 },
}

/// Everything that a port's virtual hosts are built from.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) struct Inputs {
    listing: ByPointer<Listing>,
    port: u32,
    /// Of the proxy; nothing if no route asks.
    namespace: Option<Arc<str>>,
    environment: ByPointer<Environment>,
    /// To the plan's questions.
    answers: Vec<bool>,
}

/// A port's virtual hosts, by name.
pub(super) struct Assembly {
    hosts: Vec<(host::Inputs, ByPointer<Host>)>,
    /// By the fingerprints of domains; made when a service's listener asks.
    by_domain: OnceLock<HashMap<u64, usize>>,
}

pub(super) fn build(context: &Context<'_>, name: &str) -> Arc<Resource> {
    let Some(listener) = parse(name) else { return configuration::empty(name) };
    let (Listener::Port(port) | Listener::Service { port, .. }) = listener;
    let built = &context.memo.routes;
    let listing = built.listings.get(&plan::Inputs::of(context.scope()), |inputs| Listing::new(inputs, built));
    let plan = listing.plan(port);
    let environment = Environment::of_sidecar(context, plan.allocated);
    let inputs = Inputs {
        listing: ByPointer(listing),
        port,
        namespace: plan.by_namespace.then(|| context.proxy.namespace()),
        environment: ByPointer(built.environments.get(&environment, Environment::clone)),
        answers: plan.questions.iter().map(|labels| context.proxy.selected(labels)).collect(),
    };
    if plan.is_empty() {
        return match listener {
            Listener::Port(_) => built.configurations.get(name, vec![rest(built, &inputs)], None),
            Listener::Service { .. } => built.configurations.get(name, Vec::new(), None),
        };
    }
    let assembly = built.assemblies.get(&inputs, |inputs| Assembly::new(built, &plan, inputs));
    let hosts = match listener {
        Listener::Port(_) => assembly.whole(built, &inputs),
        Listener::Service { host, .. } => assembly.of_service(built, host).into_iter().collect(),
    };
    built.configurations.get(name, hosts, Some(&assembly))
}

/// For requests that no host takes.
fn rest(built: &Built, inputs: &Inputs) -> ByPointer<Host> {
    ByPointer(built.host(&host::Inputs::Rest(inputs.environment.clone())))
}

fn parse(name: &str) -> Option<Listener<'_>> {
    if name == "http_proxy" || name.starts_with("unix://") {
        return Some(Listener::Port(0));
    }
    // A number that is no port has no services and yet is a listener's name.
    let number = |text: &str| text.parse::<i64>().ok().map(|number| u32::try_from(number).unwrap_or(u32::MAX));
    match name.split_once(':') {
        None => Some(Listener::Port(number(name)?)),
        Some((host, port)) => Some(Listener::Service { host, port: number(port)? }),
    }
}

impl Assembly {
    fn new(built: &Built, plan: &Plan, inputs: &Inputs) -> Self {
        let mut hosts = Self::alone(built, wanted(built, plan, inputs), inputs.port).unwrap_or_else(|| {
            let settled = settle(wanted(built, plan, inputs), inputs.port == 0);
            settled.into_iter().map(|outbound| make(built, outbound)).collect()
        });
        hosts.sort_by(|(_, one), (_, other)| (one.order, &one.name).cmp(&(other.order, &other.name)));
        Self { hosts, by_domain: OnceLock::new() }
    }

    /// What is right for nearly all: every name is one host's. Nothing if two want the same.
    fn alone(built: &Built, wanted: Vec<Outbound>, port: u32) -> Option<Vec<(host::Inputs, ByPointer<Host>)>> {
        if port == 0 {
            return None;
        }
        let mut taken: HashSet<u64, BuildHasherDefault<Given>> =
            HashSet::with_capacity_and_hasher(wanted.len() * 8, BuildHasherDefault::default());
        let mut hosts = Vec::with_capacity(wanted.len());
        for outbound in wanted {
            let host = make(built, outbound);
            if !host.1.fingerprints.iter().all(|fingerprint| taken.insert(*fingerprint)) {
                return None;
            }
            hosts.push(host);
        }
        Some(hosts)
    }

    fn whole(&self, built: &Built, inputs: &Inputs) -> Vec<ByPointer<Host>> {
        let mut hosts = Vec::with_capacity(self.hosts.len() + 1);
        hosts.extend(self.hosts.iter().map(|(_, host)| host.clone()));
        // Envoy refuses two hosts for everything. Validation refuses an object that wants to be one.
        let is_rest = |inputs: &host::Inputs| match inputs {
            host::Inputs::Outbound(outbound) => matches!(&outbound.subject, Subject::Host(name) if **name == *"*"),
            host::Inputs::Rest(_) | host::Inputs::Router(_) => false,
        };
        if !self.hosts.iter().any(|(inputs, _)| is_rest(inputs)) {
            hosts.push(rest(built, inputs));
        }
        hosts
    }

    /// The host of a listener for one service: whatever is asked for there is meant for it.
    fn of_service(&self, built: &Built, domain: &str) -> Option<ByPointer<Host>> {
        let outbound = self.with_domain(domain)?;
        Some(make(built, Outbound { form: Form::Any, ..outbound.clone() }).1)
    }

    /// The virtual host that has the domain.
    fn with_domain(&self, domain: &str) -> Option<&Outbound> {
        let by_domain = self.by_domain.get_or_init(|| {
            let all = self.hosts.iter().enumerate();
            all.flat_map(|(place, (_, host))| host.fingerprints.iter().map(move |print| (*print, place))).collect()
        });
        let place = by_domain.get(&host::fingerprint(domain, false))?;
        let (host::Inputs::Outbound(outbound), _) = &self.hosts[*place] else { return None };
        let has = match &outbound.form {
            Form::Only(domains) => domains.iter().any(|one| one == domain),
            Form::All | Form::Any => outbound.domains().iter().any(|one| one.text == domain),
        };
        has.then_some(outbound)
    }
}

fn make(built: &Built, outbound: Outbound) -> (host::Inputs, ByPointer<Host>) {
    let inputs = host::Inputs::Outbound(outbound);
    let host = built.host(&inputs);
    (inputs, ByPointer(host))
}

/// The virtual hosts of a port, those of VirtualServices first. Some may want the same names.
fn wanted(built: &Built, plan: &Plan, inputs: &Inputs) -> Vec<Outbound> {
    let ported = inputs.port == 0;
    let mut out = Vec::with_capacity(plan.services.len());
    let mut claimed = vec![false; plan.services.len()];
    for routed in &plan.virtual_services {
        let routes = built.routes(&route_inputs(routed, inputs), &routed.outline);
        if routes.list.is_empty() {
            continue;
        }
        let mut ports: Vec<u32> = Vec::new();
        for &place in &routed.services {
            ports.extend(http_ports(&plan.services[place].service, inputs.port));
        }
        ports.sort_unstable();
        ports.dedup();
        if ports.is_empty() && inputs.port == 80 {
            ports.push(80);
        }
        for port in ports {
            let host = |subject| Outbound {
                subject,
                port,
                ported,
                form: Form::All,
                routing: Routing::Virtual(ByPointer(Arc::clone(&routes))),
                environment: inputs.environment.clone(),
            };
            out.extend(routed.hosts.iter().map(|name| host(Subject::Host(Arc::clone(name)))));
            for &place in &routed.services {
                let planned = &plan.services[place];
                if http_ports(&planned.service, inputs.port).any(|own| own == port) {
                    claimed[place] = true;
                    out.push(host(planned.subject()));
                }
            }
        }
    }
    for (planned, _) in plan.services.iter().zip(claimed).filter(|(_, claimed)| !claimed) {
        // An alias is one of the names of what it stands for.
        if planned.service.resolution == mizzen_mesh::Resolution::Alias {
            continue;
        }
        for port in http_ports(&planned.service, inputs.port) {
            out.push(Outbound {
                subject: planned.subject(),
                port,
                ported,
                form: Form::All,
                routing: Routing::Itself(planned.rules.choose(&inputs.answers).cloned()),
                environment: inputs.environment.clone(),
            });
        }
    }
    out
}

fn route_inputs(routed: &Routed, inputs: &Inputs) -> virtual_service::Inputs {
    let known = routed.known.iter().filter_map(|to| {
        let rule = to.rules.choose(&inputs.answers).cloned();
        let (alias, port) = (to.alias.clone(), to.port);
        let is_known = rule.is_some() || alias.is_some() || port.is_some();
        is_known.then_some(Known { route: to.route, slot: to.slot, alias, port, rule })
    });
    virtual_service::Inputs {
        virtual_service: (&routed.virtual_service).into(),
        mesh: inputs.environment.mesh.clone(),
        port: inputs.port,
        gateway: "mesh".into(),
        tls: false,
        forwarded_host: inputs.environment.forwarded_host,
        namespace: inputs.namespace.clone().filter(|_| routed.outline.by_namespace),
        sources: routed.sources.iter().map(|question| inputs.answers[*question]).collect(),
        known: known.collect(),
    }
}

/// Ports of a service that may carry HTTP, of the listener's or of all.
fn http_ports(service: &Service, listener: u32) -> impl Iterator<Item = u32> {
    let here = move |number: u32| listener == 0 || number == listener;
    let http = service.ports.iter().filter(|port| port.protocol.is_http() || port.protocol.is_unknown());
    http.map(|port| port.number).filter(move |number| here(*number))
}

/// Gives every name to the first that wants it; what is left without one is left out. With `all_ports`, only hosts of port 80 can
/// be asked for without a port.
fn settle(wanted: Vec<Outbound>, all_ports: bool) -> Vec<Outbound> {
    let (mut names, mut taken, mut known) = (HashSet::new(), HashSet::new(), HashSet::new());
    for outbound in wanted.iter().filter(|outbound| matches!(outbound.subject, Subject::Service(..))) {
        known.insert(outbound.name());
        known.insert(outbound.host().into_owned());
    }
    let mut out = Vec::with_capacity(wanted.len());
    for mut outbound in wanted {
        if !names.insert(outbound.name()) {
            continue;
        }
        let all = outbound.domains();
        let count = all.len();
        let mut free: Vec<String> = Vec::with_capacity(count);
        for domain in all {
            let gives_way = domain.expanded && known.contains(&domain.text);
            if !gives_way && taken.insert(domain.text.to_lowercase()) {
                free.push(domain.text);
            }
        }
        if all_ports && outbound.port != 80 {
            free.retain(|domain| domain.contains(':'));
        }
        if free.is_empty() {
            continue;
        }
        if free.len() != count {
            outbound.form = Form::Only(free);
        }
        out.push(outbound);
    }
    out
}

/// Fingerprints are spread well already.
#[derive(Default)]
struct Given(u64);

impl Hasher for Given {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(*byte);
        }
    }

    fn write_u64(&mut self, value: u64) {
        self.0 = value;
    }
}
