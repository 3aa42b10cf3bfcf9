//! Which virtual hosts a port has, as far as it is the same for every sidecar that sees the same: its services, and the
//! VirtualServices that route to them, with what must be asked of a proxy to know the rest.

use super::{
    host::{Subject, small},
    listing::Listing,
    outline::{Outline, Slot},
    translate::has_hash,
};
use mizzen_mesh::{
    Aliases, ByPointer, Host, Labels, Seen, Service, Visible,
    config::{DestinationRule, VirtualService},
};
use std::{
    borrow::Cow,
    collections::{HashMap, hash_map::Entry},
    sync::Arc,
};

/// For one port, or, as port 0, for a listener that takes requests for all of them.
#[derive(Debug, Default)]
pub(super) struct Plan {
    pub(super) services: Vec<Planned>,
    pub(super) virtual_services: Vec<Routed>,
    /// What to ask of a proxy: has it these labels?
    pub(super) questions: Vec<Arc<Labels>>,
    /// Some route asks for the namespace.
    pub(super) by_namespace: bool,
    /// Some service has only addresses that the control plane gave it.
    pub(super) allocated: bool,
}

#[derive(Debug)]
pub(super) struct Planned {
    pub(super) service: Arc<Service>,
    pub(super) rules: Rules,
    aliases: Aliases,
    /// Its place among all.
    index: usize,
}

impl Planned {
    pub(super) fn subject(&self) -> Subject {
        Subject::Service((&self.service).into(), Arc::clone(&self.aliases))
    }
}

#[derive(Debug)]
pub(super) struct Routed {
    pub(super) virtual_service: Arc<VirtualService>,
    pub(super) outline: Arc<Outline>,
    /// Questions, for each of the outline's sources.
    pub(super) sources: Vec<usize>,
    /// Hosts that are no services of this port.
    pub(super) hosts: Vec<Arc<str>>,
    /// Places in [`Plan::services`].
    pub(super) services: Vec<usize>,
    pub(super) known: Vec<Destination>,
}

#[derive(Debug)]
pub(super) struct Destination {
    pub(super) route: u32,
    pub(super) slot: Slot,
    pub(super) alias: Option<Arc<str>>,
    pub(super) port: Option<u32>,
    pub(super) rules: Rules,
}

/// The rules of a service, the first that holds for a proxy counts. Empty if none of them hashes.
#[derive(Debug, Default)]
pub(super) struct Rules(Vec<(Option<usize>, Option<ByPointer<DestinationRule>>)>);

impl Rules {
    pub(super) fn choose(&self, answers: &[bool]) -> Option<&ByPointer<DestinationRule>> {
        let holds =
            |question: &Option<usize>| question.is_none_or(|question| answers.get(question) == Some(&true));
        self.0.iter().find(|(question, _)| holds(question)).and_then(|(_, rule)| rule.as_ref())
    }
}

impl Plan {
    pub(super) fn is_empty(&self) -> bool {
        self.services.is_empty() && self.virtual_services.is_empty()
    }

    pub(super) fn new(listing: &Listing, port: u32) -> Self {
        let offered = listing.seen.offered();
        let all: Vec<usize>;
        let indices = if port == 0 {
            all = (0..offered.len()).collect();
            &all
        } else {
            listing.ports.get(&port).map_or(&[][..], Vec::as_slice)
        };
        let mut plan = Self { services: Vec::with_capacity(indices.len()), ..Self::default() };
        let mut places: HashMap<Cow<'_, str>, usize> = HashMap::with_capacity(indices.len());
        for &index in indices {
            let Visible { service, aliases, .. } = &offered[index];
            plan.allocated |= service.addresses.is_empty() && !service.allocated.is_empty();
            let rules = rules(&offered[index], &mut plan.questions);
            let planned =
                Planned { service: Arc::clone(service), rules, aliases: Arc::clone(aliases), index };
            // An entry with several addresses is as many services of one name: the last one has it.
            match places.entry(small(service.host())) {
                Entry::Occupied(place) => plan.services[*place.get()] = planned,
                Entry::Vacant(place) => {
                    place.insert(plan.services.len());
                    plan.services.push(planned);
                }
            }
        }
        // Port 80 has the hosts of all VirtualServices, whether there is a service or not.
        let candidates: Vec<usize> = if port == 80 || port == 0 {
            (0..listing.virtual_services.len()).collect()
        } else {
            let mut some: Vec<usize> =
                indices.iter().filter_map(|index| listing.routed.get(index)).flatten().copied().collect();
            some.sort_unstable();
            some.dedup();
            some
        };
        for index in candidates {
            let (virtual_service, outline) = &listing.virtual_services[index];
            let mut routed = Routed {
                virtual_service: Arc::clone(virtual_service),
                outline: Arc::clone(outline),
                sources: outline.sources.iter().map(|labels| question(labels, &mut plan.questions)).collect(),
                hosts: Vec::new(),
                services: Vec::new(),
                known: Vec::new(),
            };
            for host in &outline.hosts {
                match places.get(&**host) {
                    Some(&place) => routed.services.push(place),
                    None => routed.hosts.push(Arc::clone(host)),
                }
            }
            for wildcard in &outline.wildcards {
                let mut any = false;
                for (place, planned) in plan.services.iter().enumerate() {
                    if Host(planned.service.host()).matches(Host(wildcard)) {
                        any = true;
                        let is_mine =
                            listing.routed.get(&planned.index).is_some_and(|all| all.contains(&index));
                        if is_mine && !routed.services.contains(&place) {
                            routed.services.push(place);
                        }
                    }
                }
                if !any {
                    routed.hosts.push(Arc::clone(wildcard));
                }
            }
            if routed.services.is_empty() && port != 80 {
                continue;
            }
            plan.by_namespace |= outline.by_namespace;
            routed.known = known(&listing.seen, &places, port, outline, &mut plan);
            plan.virtual_services.push(routed);
        }
        plan
    }
}

fn known(
    seen: &Seen,
    places: &HashMap<Cow<'_, str>, usize>,
    port: u32,
    outline: &Outline,
    plan: &mut Plan,
) -> Vec<Destination> {
    let mut out = Vec::new();
    for to in &outline.to {
        let service = places.get(&*to.host).map(|place| &plan.services[*place].service);
        let alias = service.map(|service| &service.external_name).filter(|name| !name.is_empty()).cloned();
        let only =
            service.filter(|_| port == 0 && !to.port).and_then(|service| match service.ports.as_slice() {
                [only] => Some(only.number),
                _ => None,
            });
        let rules = match to.slot {
            Slot::Route(_) => {
                seen.service(&to.host).map(|visible| rules(visible, &mut plan.questions)).unwrap_or_default()
            }
            // Nobody waits for a mirror's answer: any host will do.
            Slot::Mirror | Slot::Mirrors(_) => Rules::default(),
        };
        if alias.is_some() || only.is_some() || !rules.0.is_empty() {
            out.push(Destination { route: to.route, slot: to.slot, alias, port: only, rules });
        }
    }
    out
}

pub(super) fn rules(visible: &Visible, questions: &mut Vec<Arc<Labels>>) -> Rules {
    if !visible.rules.iter().any(|rule| has_hash(&rule.spec)) {
        return Rules::default();
    }
    let entry = |rule: &Arc<DestinationRule>| {
        let asked = (!rule.selector.is_empty()).then(|| question(&rule.selector, questions));
        (asked, has_hash(&rule.spec).then(|| rule.into()))
    };
    Rules(visible.rules.iter().map(entry).collect())
}

/// Each is asked once.
pub(super) fn question(labels: &Arc<Labels>, questions: &mut Vec<Arc<Labels>>) -> usize {
    match questions.iter().position(|asked| asked == labels) {
        Some(place) => place,
        None => {
            questions.push(Arc::clone(labels));
            questions.len() - 1
        }
    }
}
