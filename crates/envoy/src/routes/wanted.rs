//! Which virtual hosts a port should have, and who gets a name that several want.

use super::{
    Built,
    assembly::Inputs,
    host::{Form, Outbound, Routing, Subject},
    plan::{Plan, Routed},
    virtual_service::{self, Known},
};
use mizzen_mesh::{ByPointer, Resolution, Service};
use std::{collections::HashSet, sync::Arc};

/// The virtual hosts of a port, those of VirtualServices first. Some may want the same names.
pub(super) fn wanted(built: &Built, plan: &Plan, inputs: &Inputs) -> Vec<Outbound> {
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
                environment: inputs.environment_of(&subject),
                subject,
                port,
                ported,
                form: Form::All,
                routing: Routing::Virtual(ByPointer(Arc::clone(&routes))),
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
        if planned.service.resolution == Resolution::Alias {
            continue;
        }
        for port in http_ports(&planned.service, inputs.port) {
            let subject = planned.subject();
            out.push(Outbound {
                environment: inputs.environment_of(&subject),
                subject,
                port,
                ported,
                form: Form::All,
                routing: Routing::Itself(planned.rules.choose(&inputs.answers).cloned()),
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
pub(super) fn settle(wanted: Vec<Outbound>, all_ports: bool) -> Vec<Outbound> {
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
