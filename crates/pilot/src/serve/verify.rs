//! The debug switch `MIZZEN_VERIFY_VIEWS`: what is shared, incremental and sent as a difference is compared with what a proxy
//! would get alone, from a store that has just read everything, and as a whole. A difference is an error of ours: it is logged
//! and counted.

use super::Proxies;
use crate::{builder::Published, metrics::Metrics};
use mizzen_envoy::views::{Factory, Generation};
use mizzen_mesh::Snapshot;
use mizzen_xds::{Connection, Resource, ResourceSet, Subscription};
use std::{
    collections::BTreeMap,
    sync::{Arc, atomic::Ordering::Relaxed},
};

/// What each type of each stream was given the last time, by connection and type.
#[derive(Default)]
pub(crate) struct Watching(BTreeMap<(String, String), Arc<ResourceSet>>);

/// For every connection, after a generation was published. `cold` is the same mesh, read from nothing.
pub(crate) fn verify(
    proxies: &Proxies,
    metrics: &Metrics,
    connections: &[Connection],
    published: &Published,
    cold: &Arc<Snapshot>,
    last: &mut Watching,
) {
    let Some(generation) = proxies.newest() else { return };
    let factory = Arc::new(Factory { options: proxies.options().clone(), ..Factory::default() });
    let cold = Generation::first(factory, Arc::clone(cold), published.since);
    let mut now = Watching::default();
    for connection in connections {
        let Some(client) = proxies.client(&connection.node) else { continue };
        for watched in &connection.watched {
            let (kind, proxy) = (&watched.kind, client.proxy());
            let subscription = Subscription::new(watched.wildcard, watched.names.clone());
            let shared = generation.build(&client, kind, &subscription);
            metrics.checked.fetch_add(1, Relaxed);
            let tell = |name: Option<String>, what: &str| {
                if let Some(name) = name {
                    metrics.differences.fetch_add(1, Relaxed);
                    tracing::error!(proxy = %proxy.id, %kind, name, "{what}");
                }
            };
            let alone = generation.alone(proxy, kind, &subscription);
            tell(differ(&shared, &alone), "a shared view is not what this proxy would get alone");
            let cold = cold.alone(proxy, kind, &subscription);
            tell(differ(&shared, &cold), "what was updated is not what is read from nothing");
            let key = (connection.id.clone(), kind.url().to_owned());
            if let Some(before) = last.0.get(&key).filter(|before| *before.subscription() == subscription) {
                tell(delta_differs(before, &shared), "a difference does not lead to the whole");
            }
            now.0.insert(key, shared);
        }
    }
    *last = now;
}

/// The first name that is not the same in both.
fn differ(one: &ResourceSet, two: &ResourceSet) -> Option<String> {
    let mut names = one.resources().iter().chain(two.resources()).map(|resource| resource.name());
    let body = |set: &ResourceSet, name: &str| set.get(name).map(|resource| resource.body().clone());
    names.find(|name| body(one, name) != body(two, name)).map(ToString::to_string)
}

fn delta_differs(before: &Arc<ResourceSet>, after: &Arc<ResourceSet>) -> Option<String> {
    let difference = after.difference(Some(before));
    let named = |resource: &Arc<Resource>| (Arc::clone(resource.name()), resource.version());
    let mut have: BTreeMap<Arc<str>, _> = before.resources().iter().map(named).collect();
    for name in difference.removed() {
        have.remove(name);
    }
    have.extend(difference.changed().iter().map(named));
    let whole: BTreeMap<Arc<str>, _> = after.resources().iter().map(named).collect();
    let wrong = whole.iter().find(|(name, version)| have.get(*name) != Some(version));
    let left_over = have.keys().find(|name| !whole.contains_key(*name));
    wrong.map(|(name, _)| name.to_string()).or_else(|| left_over.map(ToString::to_string))
}

#[cfg(test)]
mod tests {
    use super::*;
    use mizzen_xds::Type;

    fn set(resources: &[(&str, &'static str)]) -> Arc<ResourceSet> {
        let resources = resources.iter().map(|(name, body)| Arc::new(Resource::new(*name, *body))).collect();
        Arc::new(ResourceSet::new(Type::Cluster, Subscription::everything(), resources))
    }

    #[test]
    fn the_name_that_differs_is_told() {
        assert_eq!(differ(&set(&[("a", "1"), ("b", "2")]), &set(&[("a", "1"), ("b", "2")])), None);
        assert_eq!(
            differ(&set(&[("a", "1"), ("b", "2")]), &set(&[("a", "1"), ("b", "3")])).as_deref(),
            Some("b")
        );
        assert_eq!(differ(&set(&[]), &set(&[("c", "3")])).as_deref(), Some("c"));
    }

    #[test]
    fn a_difference_leads_to_the_whole() {
        let before = set(&[("a", "1"), ("b", "2"), ("c", "3")]);
        assert_eq!(delta_differs(&before, &set(&[("a", "1"), ("b", "9"), ("d", "4")])), None);
    }
}
