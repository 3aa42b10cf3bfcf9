//! What is marked is made anew, from the inside out: workloads, services, endpoints.

mod endpoints;
mod entries;
mod services;
mod workloads;

use super::{ObjectKey, Parts, State, Workloads, networks::Networks, state::Dirty};
use crate::{Key, KeyKind, Problem, ServiceKey, Settings};
use std::sync::Arc;

impl State {
    pub(crate) fn update(&mut self, settings: &Settings) -> Parts {
        if !self.facts.settings.is(settings) {
            self.facts.settings = settings.clone();
            self.facts.networks = Networks::new(&settings.networks, &settings.cluster);
            self.dirty.everything = true;
        }
        let mut dirty = std::mem::take(&mut self.dirty);
        if dirty.everything {
            self.mark_everything(&mut dirty);
        }
        self.update_pods(&mut dirty);
        self.update_machines(&mut dirty);
        self.update_services(&mut dirty);
        self.update_entries(&mut dirty);
        self.update_endpoints(&dirty);
        if !dirty.gone.is_empty() || !dirty.come.is_empty() {
            self.collect_services(&mut dirty);
        }
        if dirty.problems || self.dirty.problems {
            self.collect_problems();
        }
        self.dirty = Dirty::default();
        self.names.sweep();
        Parts {
            services: Arc::clone(&self.out.services),
            endpoints: Arc::clone(&self.out.endpoints),
            workloads: Arc::clone(&self.out.workloads),
            problems: Arc::clone(&self.out.problems),
        }
    }

    fn mark_everything(&mut self, dirty: &mut Dirty) {
        let key = |namespace: &Arc<str>, name: &Arc<str>| ObjectKey {
            namespace: Arc::clone(namespace),
            name: Arc::clone(name),
        };
        for (namespace, pods) in &self.pods {
            dirty.pods.extend(pods.keys().map(|name| key(namespace, name)));
        }
        for (namespace, services) in &self.services {
            dirty.services.extend(services.keys().map(|name| key(namespace, name)));
            let made = services.values().filter_map(|slot| slot.made.as_ref());
            dirty.endpoints.extend(made.map(|service| service.key.clone()));
        }
        dirty.machines.extend(self.machines.keys().cloned());
        dirty.entries.extend(self.entries.keys().cloned());
        dirty.endpoints.extend(self.out.endpoints.iter().map(|(key, _)| key.clone()));
        if self.out.workloads.cluster != self.facts.settings.cluster {
            let cluster = Arc::clone(&self.facts.settings.cluster);
            self.workloads().cluster = cluster;
        }
    }

    /// To be changed: from now on it is another one than that of the last snapshot.
    fn workloads(&mut self) -> &mut Workloads {
        Arc::make_mut(&mut self.out.workloads)
    }

    fn unusable(&mut self, kind: KeyKind, key: &ObjectKey, reason: String) {
        let key = Key { kind, namespace: Arc::clone(&key.namespace), name: Arc::clone(&key.name) };
        self.broken(key, reason.into());
    }

    fn collect_problems(&mut self) {
        let problem =
            |(key, reason): (&Key, &Arc<str>)| Problem { key: key.clone(), reason: Arc::clone(reason) };
        let problems: Vec<Problem> = self.broken.iter().map(problem).collect();
        if problems != *self.out.problems {
            self.out.problems = Arc::new(problems);
        }
    }

    /// The name of the Kubernetes Service that would have this host.
    fn service_name<'a>(&self, key: &'a ServiceKey) -> Option<&'a str> {
        let rest = key.host.strip_suffix(&*self.facts.settings.domain)?.strip_suffix(".svc.")?;
        rest.strip_suffix(&*key.namespace)?.strip_suffix('.')
    }
}
