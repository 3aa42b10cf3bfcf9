//! The objects, what was made of them, and what has to be made anew.

use super::{
    Endpoints, ObjectKey, Workloads,
    entry::Instance,
    facts::{Facts, NamespaceFacts, locality_of_node},
    kubernetes::{Pod, Slice, trim},
    names::Names,
    workloads::LooseTarget,
};
use crate::{
    Key, KeyKind, Problem, Service, ServiceKey, Services, TrafficDistribution, Workload, input,
    model::place::NETWORK,
};
use mizzen_api::{Kind, Metadata, Object, Spec};
use std::{
    collections::{BTreeMap, BTreeSet, HashMap, HashSet},
    net::IpAddr,
    sync::Arc,
};

/// By namespace, then by name.
/// Boxed, because a table has up to half of its places empty.
pub(super) type ByName<T> = HashMap<Arc<str>, HashMap<Arc<str>, Box<T>>>;

#[derive(Default)]
pub(crate) struct State {
    pub(super) names: Names,
    pub(super) facts: Facts,
    pub(super) pods: ByName<PodSlot>,
    pub(super) machines: BTreeMap<ObjectKey, MachineSlot>,
    pub(super) services: ByName<ServiceSlot>,
    /// The service that a slice is of.
    pub(super) slices: HashMap<ObjectKey, Arc<str>>,
    pub(super) entries: BTreeMap<ObjectKey, EntrySlot>,
    /// The entries of a namespace that have a host, by name.
    pub(super) hosts: HashMap<ServiceKey, BTreeSet<Arc<str>>>,
    /// Entries that select, by namespace.
    pub(super) selecting: HashMap<Arc<str>, BTreeSet<Arc<str>>>,
    /// Services whose slices have an address without a pod.
    pub(super) loose: HashMap<Arc<str>, BTreeSet<ObjectKey>>,
    /// Could not be read, or could not be used.
    pub(super) broken: BTreeMap<Key, Arc<str>>,
    pub(super) dirty: Dirty,
    pub(super) out: Out,
}

/// What has to be looked at.
#[derive(Default)]
pub(super) struct Dirty {
    pub(super) everything: bool,
    pub(super) pods: HashSet<ObjectKey>,
    pub(super) machines: HashSet<ObjectKey>,
    pub(super) services: HashSet<ObjectKey>,
    pub(super) entries: HashSet<ObjectKey>,
    pub(super) endpoints: HashSet<ServiceKey>,
    /// Services that are no longer in the list, and those that now are.
    pub(super) gone: Vec<Arc<Service>>,
    pub(super) come: Vec<Arc<Service>>,
    pub(super) problems: bool,
}

#[derive(Default)]
pub(super) struct Out {
    pub(super) services: Arc<Services>,
    pub(super) endpoints: Arc<Endpoints>,
    pub(super) workloads: Arc<Workloads>,
    pub(super) problems: Arc<Vec<Problem>>,
}

/// A pod, and who waits for it if it is not there.
#[derive(Default)]
pub(super) struct PodSlot {
    pub(super) pod: Option<Pod>,
    pub(super) workload: Option<Arc<Workload>>,
    /// It served when it was last looked at.
    pub(super) served: bool,
    /// Services whose slices name it.
    pub(super) services: Vec<ObjectKey>,
}

#[derive(Default)]
pub(super) struct MachineSlot {
    /// Nothing once it is gone.
    pub(super) object: Option<Arc<Object>>,
    pub(super) workload: Option<Arc<Workload>>,
}

#[derive(Default)]
pub(super) struct ServiceSlot {
    pub(super) object: Option<input::Service>,
    /// The last one that could be made.
    pub(super) made: Option<Arc<Service>>,
    pub(super) slices: BTreeMap<Arc<str>, Slice>,
    /// What it has in [`Workloads::loose`].
    pub(super) loose: Vec<(IpAddr, LooseTarget)>,
}

#[derive(Default)]
pub(super) struct EntrySlot {
    /// Nothing once it is gone.
    pub(super) object: Option<Arc<Object>>,
    /// The last one that could be used; most often the same.
    pub(super) good: Option<Arc<Object>>,
    /// The last ones that could be made, each with its endpoints.
    pub(super) made: Vec<(Arc<Service>, Vec<Instance>)>,
    /// Where it stands in [`Workloads::entries`].
    pub(super) addresses: Vec<IpAddr>,
}

impl State {
    pub(crate) fn service(&mut self, object: Arc<input::Service>) {
        let key = self.key(&object.metadata);
        self.mended(KeyKind::Service, &key);
        let mut object = Arc::unwrap_or_clone(object);
        trim(&mut object);
        slot(&mut self.services, &key).object = Some(object);
        self.dirty.services.insert(key);
    }

    pub(crate) fn slice(&mut self, object: &input::EndpointSlice) {
        let key = self.key(&object.metadata);
        self.mended(KeyKind::EndpointSlice, &key);
        let read = Slice::read(object, &mut self.names);
        let old = self.slices.get(&key).cloned();
        if let Some(old) = old.filter(|old| read.as_ref().is_none_or(|(service, _)| service != old)) {
            self.replace_slice(&key, &old, None);
        }
        if let Some((service, slice)) = read {
            self.replace_slice(&key, &service, Some(slice));
        }
    }

    pub(crate) fn pod(&mut self, object: &input::Pod) {
        let key = self.key(&object.metadata);
        self.mended(KeyKind::Pod, &key);
        let pod = Pod::read(object, &mut self.names);
        let slot = slot(&mut self.pods, &key);
        // Most of what happens to a pod is nothing to the mesh.
        if slot.pod != pod {
            slot.pod = pod;
            self.dirty.pods.insert(key);
        }
    }

    pub(crate) fn node(&mut self, object: &input::Node) {
        let name = self.names.text(&object.metadata.name);
        self.mended(KeyKind::Node, &ObjectKey { namespace: Arc::default(), name: Arc::clone(&name) });
        let locality = locality_of_node(&object.metadata.labels, &mut self.names);
        if self.facts.nodes.get(&name) != Some(&locality) {
            self.facts.nodes.insert(Arc::clone(&name), locality);
            self.pods_of_node_changed(&name);
        }
    }

    pub(crate) fn namespace(&mut self, object: &input::Namespace) {
        let Metadata { name, labels, annotations, .. } = &object.metadata;
        let name = self.names.text(name);
        self.mended(KeyKind::Namespace, &ObjectKey { namespace: Arc::default(), name: Arc::clone(&name) });
        let facts = NamespaceFacts {
            traffic_distribution: annotations
                .get("networking.istio.io/traffic-distribution")
                .and_then(|text| TrafficDistribution::parse(text)),
            network: self.names.text(labels.get(NETWORK).map_or("", String::as_str)),
        };
        self.namespace_facts(&name, facts);
    }

    pub(crate) fn entry(&mut self, object: Arc<Object>) {
        let key = self.key(&object.metadata);
        self.mended(KeyKind::Istio(object.kind()), &key);
        match &object.spec {
            Spec::WorkloadEntry(_) => {
                self.machines.entry(key.clone()).or_default().object = Some(object);
                self.dirty.machines.insert(key);
            }
            Spec::ServiceEntry(_) => {
                self.entries.entry(key.clone()).or_default().object = Some(object);
                self.dirty.entries.insert(key);
            }
            // Others are configuration.
            _ => {}
        }
    }

    /// It is there and cannot be read. Its last good version goes on.
    pub(crate) fn broken(&mut self, key: Key, reason: Arc<str>) {
        self.dirty.problems |= self.broken.insert(key, Arc::clone(&reason)) != Some(reason);
    }

    pub(crate) fn gone(&mut self, gone: &Key) {
        let key =
            ObjectKey { namespace: self.names.text(&gone.namespace), name: self.names.text(&gone.name) };
        self.mended(gone.kind, &key);
        match gone.kind {
            KeyKind::Service => {
                slot(&mut self.services, &key).object = None;
                self.dirty.services.insert(key);
            }
            KeyKind::EndpointSlice => {
                if let Some(service) = self.slices.get(&key).cloned() {
                    self.replace_slice(&key, &service, None);
                }
            }
            KeyKind::Pod => {
                slot(&mut self.pods, &key).pod = None;
                self.dirty.pods.insert(key);
            }
            KeyKind::Node => {
                if self.facts.nodes.remove(&key.name).is_some() {
                    self.pods_of_node_changed(&key.name);
                }
            }
            KeyKind::Namespace => self.namespace_facts(&key.name, NamespaceFacts::default()),
            KeyKind::Istio(Kind::WorkloadEntry) => {
                if let Some(slot) = self.machines.get_mut(&key) {
                    slot.object = None;
                    self.dirty.machines.insert(key);
                }
            }
            KeyKind::Istio(Kind::ServiceEntry) => {
                if let Some(slot) = self.entries.get_mut(&key) {
                    slot.object = None;
                    self.dirty.entries.insert(key);
                }
            }
            KeyKind::Istio(_) => {}
        }
    }

    pub(crate) fn settings_changed(&mut self) {
        self.dirty.everything = true;
    }

    fn key(&mut self, metadata: &Metadata) -> ObjectKey {
        ObjectKey { namespace: self.names.text(&metadata.namespace), name: self.names.text(&metadata.name) }
    }

    pub(super) fn mended(&mut self, kind: KeyKind, key: &ObjectKey) {
        if !self.broken.is_empty() {
            let key = Key { kind, namespace: Arc::clone(&key.namespace), name: Arc::clone(&key.name) };
            self.dirty.problems |= self.broken.remove(&key).is_some();
        }
    }

    fn pods_of_node_changed(&mut self, node: &str) {
        for (namespace, pods) in &self.pods {
            for (name, slot) in pods {
                if slot.pod.as_ref().is_some_and(|pod| pod.node() == node) {
                    self.dirty
                        .pods
                        .insert(ObjectKey { namespace: Arc::clone(namespace), name: Arc::clone(name) });
                }
            }
        }
    }

    fn namespace_facts(&mut self, name: &Arc<str>, facts: NamespaceFacts) {
        let old = self.facts.namespaces.get(name).cloned().unwrap_or_default();
        if old == facts {
            return;
        }
        if old.network != facts.network && *name == self.facts.settings.namespace {
            self.dirty.everything = true;
        }
        if facts == NamespaceFacts::default() {
            self.facts.namespaces.remove(name);
        } else {
            self.facts.namespaces.insert(Arc::clone(name), facts);
        }
        let key = |object: &Arc<str>| ObjectKey { namespace: Arc::clone(name), name: Arc::clone(object) };
        self.dirty.services.extend(self.services.get(name).into_iter().flat_map(HashMap::keys).map(key));
        let entries = self.entries.keys().filter(|entry| entry.namespace == *name).cloned();
        self.dirty.entries.extend(entries);
    }

    /// A slice of `service` comes, changes or goes; the pods that it names know it.
    fn replace_slice(&mut self, key: &ObjectKey, service: &Arc<str>, slice: Option<Slice>) {
        let of = ObjectKey { namespace: Arc::clone(&key.namespace), name: Arc::clone(service) };
        let slot = slot(&mut self.services, &of);
        if slice.is_some() && slot.slices.get(&key.name) == slice.as_ref() {
            return;
        }
        let old = match slice {
            Some(slice) => {
                self.slices.insert(key.clone(), Arc::clone(service));
                slot.slices.insert(Arc::clone(&key.name), slice)
            }
            None => {
                self.slices.remove(key);
                slot.slices.remove(&key.name)
            }
        };
        if let Some(made) = &slot.made {
            self.dirty.endpoints.insert(made.key.clone());
        }
        let (mut before, mut now) = (Uses::default(), Uses::default());
        before.add(old.iter());
        // Other slices of the service may still name what this one no longer does.
        now.add(slot.slices.values());
        if slot.object.is_none() && slot.made.is_none() && slot.slices.is_empty() {
            remove(&mut self.services, &of);
        }
        before.pods.retain(|pod| !now.pods.contains(pod));
        before.loose.retain(|address| !now.loose.contains(address));
        for pod in before.pods {
            self.forget(&pod, &of);
        }
        for address in before.loose {
            if let Some(services) = self.loose.get_mut(&address) {
                services.remove(&of);
                if services.is_empty() {
                    self.loose.remove(&address);
                }
            }
        }
        for pod in now.pods {
            let services = &mut self::slot(&mut self.pods, &pod).services;
            if !services.contains(&of) {
                // Most pods are of one service.
                services.reserve_exact(1);
                services.push(of.clone());
            }
        }
        for address in now.loose {
            self.loose.entry(address).or_default().insert(of.clone());
        }
    }

    fn forget(&mut self, pod: &ObjectKey, service: &ObjectKey) {
        let known = slot(&mut self.pods, pod);
        known.services.retain(|known| known != service);
        if known.services.is_empty() && known.pod.is_none() && known.workload.is_none() {
            remove(&mut self.pods, pod);
        }
    }
}

/// What slices name.
#[derive(Default)]
struct Uses {
    pods: HashSet<ObjectKey>,
    loose: HashSet<Arc<str>>,
}

impl Uses {
    fn add<'a>(&mut self, slices: impl Iterator<Item = &'a Slice>) {
        for slice in slices {
            self.pods.extend(slice.pods().cloned());
            self.loose.extend(slice.loose().cloned());
        }
    }
}

pub(super) fn slot<'a, T: Default>(map: &'a mut ByName<T>, key: &ObjectKey) -> &'a mut T {
    map.entry(Arc::clone(&key.namespace)).or_default().entry(Arc::clone(&key.name)).or_default()
}

pub(super) fn find<'a, T>(map: &'a ByName<T>, namespace: &str, name: &str) -> Option<&'a T> {
    map.get(namespace)?.get(name).map(|slot| &**slot)
}

pub(super) fn remove<T>(map: &mut ByName<T>, key: &ObjectKey) {
    if let Some(names) = map.get_mut(&key.namespace) {
        names.remove(&key.name);
        if names.is_empty() {
            map.remove(&key.namespace);
        }
    }
}
