//! The DestinationRules that are there, kept merged from one snapshot to the next.

use super::{
    DestinationRule, DestinationRules,
    merge::{Merged, Rule},
    namespace::{Made, Namespace},
};
use crate::{
    Key, Settings,
    config::{Objects, age::Age, labels, short_names::whole_host},
};
use mizzen_api::{Metadata, Spec, proto::istio::networking::v1alpha3};
use std::{
    collections::{BTreeMap, BTreeSet, HashMap, HashSet},
    sync::Arc,
};

#[derive(Default)]
pub(in crate::config) struct State {
    groups: BTreeMap<Arc<str>, BTreeMap<Arc<str>, Group>>,
    places: HashMap<Key, Place>,
    built: Arc<DestinationRules>,
}

/// Where an object stands: in which namespace and for which host, and its place there: rules with a selector go first.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Place {
    namespace: Arc<str>,
    host: Arc<str>,
    rank: (bool, Age),
}

/// The rules of one namespace for one host.
#[derive(Default)]
struct Group {
    members: BTreeMap<(bool, Age), Key>,
    made: Made,
    problems: Vec<(Key, Arc<str>)>,
}

impl State {
    pub(in crate::config) fn built(&self) -> &Arc<DestinationRules> {
        &self.built
    }

    pub(in crate::config) fn problems(&self) -> impl Iterator<Item = (&Key, &Arc<str>)> {
        let groups = self.groups.values().flat_map(BTreeMap::values);
        groups.flat_map(|group| group.problems.iter().map(|(key, reason)| (key, reason)))
    }

    pub(in crate::config) fn update(
        &mut self,
        changed: &BTreeSet<Key>,
        objects: &Objects,
        settings: &Settings,
    ) {
        let mut touched: BTreeSet<(Arc<str>, Arc<str>)> = BTreeSet::new();
        for key in changed {
            if let Some(place) = self.places.remove(key) {
                if let Some(group) = self.group(&place.namespace, &place.host) {
                    group.members.remove(&place.rank);
                }
                touched.insert((place.namespace, place.host));
            }
            let Some((metadata, spec)) = object(objects, key) else { continue };
            let place = Place {
                namespace: Arc::clone(&key.namespace),
                host: whole_host(&spec.host, &key.namespace, &settings.domain).into(),
                rank: (spec.workload_selector.is_none(), Age::of(metadata)),
            };
            let hosts = self.groups.entry(Arc::clone(&place.namespace)).or_default();
            let group = hosts.entry(Arc::clone(&place.host)).or_default();
            group.members.insert(place.rank.clone(), key.clone());
            touched.insert((Arc::clone(&place.namespace), Arc::clone(&place.host)));
            self.places.insert(key.clone(), place);
        }
        let mut namespaces = BTreeSet::new();
        for (namespace, host) in touched {
            let Some(group) = self.group(&namespace, &host) else { continue };
            if group.rebuild(&namespace, &host, objects, settings) {
                namespaces.insert(Arc::clone(&namespace));
            }
            let empty = group.members.is_empty();
            if empty && let Some(hosts) = self.groups.get_mut(&namespace) {
                hosts.remove(&host);
            }
        }
        if !namespaces.is_empty() {
            self.rebuild(&namespaces);
        }
    }

    fn group(&mut self, namespace: &str, host: &str) -> Option<&mut Group> {
        self.groups.get_mut(namespace)?.get_mut(host)
    }

    /// The index anew, of the namespaces in which something changed.
    fn rebuild(&mut self, changed: &BTreeSet<Arc<str>>) {
        let mut namespaces = self.built.namespaces.clone();
        for name in changed {
            let hosts = self.groups.get(name).filter(|hosts| !hosts.is_empty());
            let Some(hosts) = hosts else {
                self.groups.remove(name);
                namespaces.remove(name);
                continue;
            };
            let mut namespace = Namespace::default();
            for (host, group) in hosts {
                namespace.add(host, &group.made);
            }
            namespaces.insert(Arc::clone(name), Arc::new(namespace));
        }
        let mut special: HashSet<Arc<str>> = self.groups.keys().cloned().collect();
        let rules = self.groups.values().flat_map(BTreeMap::values).flat_map(|group| &group.made.exported);
        special.extend(rules.flat_map(|rule| &rule.export_to).map(|namespace| Arc::from(namespace.as_str())));
        self.built = Arc::new(DestinationRules { namespaces, special, none: Arc::clone(&self.built.none) });
    }
}

impl Group {
    /// Whether it is another now.
    fn rebuild(&mut self, namespace: &str, host: &str, objects: &Objects, settings: &Settings) -> bool {
        let (mut local, mut exported, mut private) =
            (Merged::default(), Merged::default(), Merged::default());
        let default = &settings.mesh.default_destination_rule_export_to;
        for key in self.members.values() {
            let Some((_, spec)) = object(objects, key) else { continue };
            let mut spec = spec.clone();
            host.clone_into(&mut spec.host);
            let export_to: BTreeSet<String> = match &spec.workload_selector {
                None => spec.export_to.iter().cloned().collect(),
                // For workloads of its namespace, so for nobody elsewhere.
                Some(_) => [".".to_owned()].into(),
            };
            let selector = spec.workload_selector.as_ref().map(|selector| labels(&selector.match_labels));
            let has = |name: &str| export_to.contains(name);
            let here = export_to.is_empty() || has("*") || has(".") || has(namespace);
            let only_here = if export_to.is_empty() {
                default.iter().any(|name| name == ".")
            } else {
                export_to.len() == 1 && (has(".") || has(namespace))
            };
            let rule = Rule { key: key.clone(), export_to, selector: selector.unwrap_or_default(), spec };
            if here {
                local.add(&rule);
            }
            if !only_here {
                exported.add(&rule);
            } else if namespace == settings.root_namespace() {
                private.add(&rule);
            }
        }
        let (local, mut problems) = local.finish();
        let (exported, others) = exported.finish();
        let (private, _) = private.finish();
        for problem in others {
            if !problems.contains(&problem) {
                problems.push(problem);
            }
        }
        self.problems = problems.into_iter().map(|(key, reason)| (key, reason.into())).collect();
        let mut known: Vec<Arc<DestinationRule>> =
            [&self.made.local, &self.made.exported, &self.made.private]
                .into_iter()
                .flatten()
                .cloned()
                .collect();
        let made = Made {
            local: kept(local, &mut known),
            exported: kept(exported, &mut known),
            private: kept(private, &mut known),
        };
        let changed = !same(&made.local, &self.made.local)
            || !same(&made.exported, &self.made.exported)
            || !same(&made.private, &self.made.private);
        self.made = made;
        changed
    }
}

/// What is equal to one that there is already is that one: over snapshots, and here and elsewhere.
fn kept(rules: Vec<DestinationRule>, known: &mut Vec<Arc<DestinationRule>>) -> Vec<Arc<DestinationRule>> {
    let mut keep = |rule: DestinationRule| match known.iter().find(|known| ***known == rule) {
        Some(known) => Arc::clone(known),
        None => {
            let rule = Arc::new(rule);
            known.push(Arc::clone(&rule));
            rule
        }
    };
    rules.into_iter().map(&mut keep).collect()
}

fn same(one: &[Arc<DestinationRule>], other: &[Arc<DestinationRule>]) -> bool {
    one.len() == other.len() && one.iter().zip(other).all(|(one, other)| Arc::ptr_eq(one, other))
}

fn object<'a>(objects: &'a Objects, key: &Key) -> Option<(&'a Metadata, &'a v1alpha3::DestinationRule)> {
    let object = objects.get(key)?;
    match &object.spec {
        Spec::DestinationRule(spec) => Some((&object.metadata, spec)),
        _ => None,
    }
}
