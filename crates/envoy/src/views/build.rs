//! From a proxy and what it subscribed to, to a set of resources.

use super::{Generation, view::View};
use crate::{Context, clusters, endpoints, listeners, routes};
use mizzen_mesh::{Attributes, Part, Sight, Snapshot, Subject, changed_endpoints};
use mizzen_xds::{Resource, ResourceSet, Subscription, Type};
use std::{collections::HashSet, sync::Arc};

/// What is asked for: all resources of a type, or those of some names.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Slot {
    pub(super) kind: Type,
    pub(super) subscription: Subscription,
}

impl Slot {
    pub(super) fn build(&self, generation: &Generation, subject: &Arc<Subject>) -> View {
        let attributes = subject.attributes(&generation.snapshot);
        let sight = Sight::new(&generation.snapshot);
        let context = context(generation, &sight, &attributes);
        let named = |build: &dyn Fn(&str) -> Option<Arc<Resource>>| -> Vec<Arc<Resource>> {
            self.subscription.names().iter().filter_map(|name| build(name)).collect()
        };
        let resources = match self.kind {
            Type::Cluster => {
                let set = clusters::set(&context);
                if self.subscription == *set.subscription() {
                    return View::new(&attributes, sight.seen(), Arc::new(set), Arc::clone(subject));
                }
                set.resources().to_vec()
            }
            Type::Listener => listeners::build(&context),
            Type::Endpoints => named(&|name| endpoints::build(&context, name)),
            Type::Route => named(&|name| routes::build(&context, name)),
            // Later work: nobody is served these yet.
            Type::Secret | Type::Extension | Type::NameTable | Type::ProxyConfig | Type::Other(_) => {
                Vec::new()
            }
        };
        let set = ResourceSet::new(self.kind.clone(), self.subscription.clone(), resources);
        View::new(&attributes, sight.seen(), Arc::new(set), Arc::clone(subject))
    }

    /// Endpoints change far more often than anything else, and one service's at a time: of the old view only those are
    /// built again. Nothing if that is not all that changed.
    pub(super) fn patch(&self, generation: &Generation, last: &Snapshot, old: &View) -> Option<View> {
        let next = &*generation.snapshot;
        if self.kind != Type::Endpoints || !next.agrees(last, old.seen.without(Part::Endpoints)) {
            return None;
        }
        let attributes = old.of.attributes(next);
        if !old.holds_for(&attributes) {
            return None;
        }
        let changed: HashSet<Arc<str>> =
            changed_endpoints(last, next).into_iter().map(|key| key.host).collect();
        let sight = Sight::new(next);
        let context = context(generation, &sight, &attributes);
        let mut known = old.set.resources().iter().peekable();
        let mut resources = Vec::with_capacity(old.set.resources().len());
        for name in self.subscription.names().iter() {
            let had = known.next_if(|resource| resource.name() == name);
            let host = name.rsplit('|').next().unwrap_or(name);
            if changed.contains(host) {
                resources.extend(endpoints::build(&context, name));
            } else {
                resources.extend(had.cloned());
            }
        }
        let set = ResourceSet::new(self.kind.clone(), self.subscription.clone(), resources);
        attributes.note_reads(old.reads.clone());
        Some(View::new(&attributes, old.seen.and(sight.seen()), Arc::new(set), Arc::clone(&old.of)))
    }
}

fn context<'a>(generation: &'a Generation, sight: &'a Sight<'a>, proxy: &'a Attributes) -> Context<'a> {
    let Generation { factory, shared, .. } = generation;
    Context { snapshot: sight, proxy, memo: &factory.memo, shared, options: &factory.options }
}
