//! The Gateways that are there, kept ready from one snapshot to the next.

use super::{Gateway, Gateways, Server};
use crate::{
    Key,
    config::{Objects, Problems, age::Age, labels},
};
use mizzen_api::Spec;
use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    sync::Arc,
};

#[derive(Default)]
pub(in crate::config) struct State {
    ready: BTreeMap<Age, Arc<Gateway>>,
    ages: HashMap<Key, Age>,
    problems: BTreeMap<Key, Problems>,
    built: Arc<Gateways>,
}

impl State {
    pub(in crate::config) fn built(&self) -> &Arc<Gateways> {
        &self.built
    }

    pub(in crate::config) fn problems(&self) -> impl Iterator<Item = (&Key, &Arc<str>)> {
        self.problems.values().flatten().map(|(key, reason)| (key, reason))
    }

    pub(in crate::config) fn update(&mut self, changed: &BTreeSet<Key>, objects: &Objects) {
        let mut moved = false;
        for key in changed {
            let old = self.ages.remove(key).and_then(|age| self.ready.remove(&age));
            self.problems.remove(key);
            let Some(object) = objects.get(key) else {
                moved |= old.is_some();
                continue;
            };
            let Spec::Gateway(spec) = &object.spec else { continue };
            let servers: Vec<Arc<Server>> =
                spec.servers.iter().filter_map(|server| Server::read(key, server)).map(Arc::new).collect();
            if servers.len() < spec.servers.len() {
                let problem = (key.clone(), Arc::from("a server without a port is left out"));
                self.problems.insert(key.clone(), vec![problem]);
            }
            let age = Age::of(&object.metadata);
            let new = Gateway {
                key: key.clone(),
                created: Arc::clone(&age.created),
                selector: labels(&spec.selector),
                servers,
            };
            let new = match old {
                Some(old) if *old == new => old,
                _ => {
                    moved = true;
                    Arc::new(new)
                }
            };
            self.ages.insert(key.clone(), age.clone());
            self.ready.insert(age, new);
        }
        if moved {
            self.built = Arc::new(Gateways { all: self.ready.values().cloned().collect() });
        }
    }
}
