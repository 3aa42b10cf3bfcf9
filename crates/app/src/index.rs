//! The objects of an application by what others call them.

use crate::{
    links::{self, Target},
    made::Made,
};
use serde_json::Value;
use std::collections::BTreeMap;

pub(crate) struct Index<'a> {
    /// By group, kind, namespace and name.
    objects: BTreeMap<(&'a str, &'a str, &'a str, &'a str), &'a Made>,
    /// DestinationRules and ServiceEntries by their hosts, whole; those with a wildcard apart.
    rules: Hosts<'a>,
    entries: Hosts<'a>,
    authentications: BTreeMap<&'a str, Vec<&'a Made>>,
}

#[derive(Default)]
struct Hosts<'a> {
    exact: BTreeMap<String, Vec<&'a Made>>,
    wild: Vec<(String, &'a Made)>,
}

impl<'a> Hosts<'a> {
    fn add(&mut self, host: &str, made: &'a Made) {
        let host = links::whole(host, made.namespace().unwrap_or_default());
        if host.starts_with('*') {
            self.wild.push((host, made));
        } else {
            self.exact.entry(host).or_default().push(made);
        }
    }

    fn find(&self, host: &str) -> impl Iterator<Item = &'a Made> {
        let exact = self.exact.get(host).into_iter().flatten().copied();
        exact.chain(
            self.wild.iter().filter(|(pattern, _)| links::covers(pattern, host)).map(|(_, made)| *made),
        )
    }
}

impl<'a> Index<'a> {
    pub(crate) fn of(made: &'a [Made]) -> Self {
        let mut index = Self {
            objects: BTreeMap::new(),
            rules: Hosts::default(),
            entries: Hosts::default(),
            authentications: BTreeMap::new(),
        };
        for one in made {
            let namespace = one.namespace().unwrap_or_default();
            let group = links::group(&one.object);
            index.objects.insert((group, one.kind(), namespace, one.name()), one);
            let spec = &one.object["spec"];
            match (group, one.kind()) {
                ("networking.istio.io", "DestinationRule") => {
                    spec["host"].as_str().into_iter().for_each(|host| index.rules.add(host, one));
                }
                ("networking.istio.io", "ServiceEntry") => {
                    let hosts = spec["hosts"].as_array().into_iter().flatten().filter_map(Value::as_str);
                    hosts.for_each(|host| index.entries.add(host, one));
                }
                ("security.istio.io", "RequestAuthentication") => {
                    index.authentications.entry(namespace).or_default().push(one);
                }
                _ => {}
            }
        }
        index
    }

    pub(crate) fn object(&self, group: &str, kind: &str, namespace: &str, name: &str) -> Option<&'a Made> {
        self.objects.get(&(group, kind, namespace, name)).copied()
    }

    /// The objects of one kind in one namespace, by their names.
    pub(crate) fn names(&self, group: &str, kind: &str, namespace: &str) -> impl Iterator<Item = &'a str> {
        let here = self
            .objects
            .keys()
            .filter(move |(of, is, lives, _)| (*of, *is, *lives) == (group, kind, namespace));
        here.map(|(_, _, _, name)| *name)
    }

    /// The subsets that are defined of a host.
    pub(crate) fn subsets(&self, host: &str) -> impl Iterator<Item = (&'a str, &'a Made)> {
        self.rules.find(host).flat_map(|rule| {
            let subsets = rule.object["spec"]["subsets"].as_array().into_iter().flatten();
            subsets.filter_map(move |subset| Some((subset["name"].as_str()?, rule)))
        })
    }

    /// The objects that a link leads to.
    pub(crate) fn behind(&self, target: &Target) -> Vec<&'a Made> {
        const ISTIO: &str = "networking.istio.io";
        match target {
            Target::Subset { host, name } => {
                self.subsets(host).filter(|(subset, _)| subset == name).map(|(_, rule)| rule).collect()
            }
            Target::Host(host) => self.entries.find(host).collect(),
            Target::Gateway { namespace, name } => {
                self.object(ISTIO, "Gateway", namespace, name).into_iter().collect()
            }
            Target::Delegate { namespace, name } => {
                let found = self.object(ISTIO, "VirtualService", namespace, name);
                // One that has hosts is none that can be delegated to; and so nothing goes round in circles.
                found.filter(|found| found.object["spec"].get("hosts").is_none()).into_iter().collect()
            }
            Target::Object { group, kind, namespace, name } => {
                let found = self.object(group, kind, namespace, name);
                found.or_else(|| self.object(group, kind, "", name)).into_iter().collect()
            }
            Target::Tokens { namespace } => {
                self.authentications.get(namespace.as_str()).into_iter().flatten().copied().collect()
            }
        }
    }
}
