//! PeerAuthentications: which workloads want mutual TLS.
//!
//! In: the objects. Out: [`Authentication`], asked for a workload's port, either by its own proxy or by its clients. The narrowest that says
//! something holds: port, workload, namespace, mesh (the root namespace); of two alike the older.

use super::{Objects, Problems, age::Age, labels};
use crate::{Attributes, Key, Labels, Settings};
use mizzen_api::{
    Spec,
    proto::istio::security::v1beta1::{
        PeerAuthentication,
        peer_authentication::{MutualTls, mutual_tls::Mode},
    },
};
use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
};

/// What a workload's port takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum MtlsMode {
    Disable,
    #[default]
    Permissive,
    Strict,
}

#[derive(Debug, Default, PartialEq)]
pub struct Authentication {
    mesh: MtlsMode,
    /// Of those that have one of their own.
    namespaces: HashMap<Arc<str>, MtlsMode>,
    /// With a selector, the oldest first. None in the root namespace.
    workloads: HashMap<Arc<str>, Vec<Workload>>,
}

#[derive(Debug, PartialEq)]
struct Workload {
    selector: Arc<Labels>,
    peer: Arc<Peer>,
}

/// What holds for a workload.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Peer {
    pub mode: MtlsMode,
    /// Ports of the workload that were named, also where they say the same.
    pub ports: BTreeMap<u32, MtlsMode>,
}

impl Peer {
    pub fn port(&self, port: u32) -> MtlsMode {
        self.ports.get(&port).copied().unwrap_or(self.mode)
    }
}

impl Authentication {
    pub(super) fn new(objects: &Objects, kind: &Key, settings: &Settings) -> (Self, Problems) {
        let mut all: Vec<(Age, &Key, &PeerAuthentication)> = objects
            .range(kind..)
            .take_while(|(key, _)| key.kind == kind.kind)
            .filter_map(|(key, object)| match &object.spec {
                Spec::PeerAuthentication(spec) => Some((Age::of(&object.metadata), key, &**spec)),
                _ => None,
            })
            .collect();
        all.sort_unstable_by(|(one, ..), (other, ..)| one.cmp(other));
        let root = settings.root_namespace();
        let mut problems = Problems::new();
        let mut wide: HashMap<&str, (&Key, Option<MtlsMode>)> = HashMap::new();
        let mut narrow = Vec::new();
        for (_, key, spec) in all {
            let selector = spec.selector.as_ref().map(|selector| &selector.match_labels);
            match selector.filter(|labels| !labels.is_empty()) {
                Some(_) if *key.namespace == *root => {
                    problems.push((key.clone(), "a selector in the root namespace selects nothing".into()));
                }
                Some(selector) => narrow.push((key, labels(selector), spec)),
                None => match wide.get(&*key.namespace) {
                    None => {
                        wide.insert(&key.namespace, (key, mode(spec.mtls.as_ref())));
                    }
                    Some((older, _)) => {
                        let reason =
                            format!("{older}, which is older, holds for the whole namespace already");
                        problems.push((key.clone(), reason.into()));
                    }
                },
            }
        }
        let mesh = wide.remove(root).and_then(|(_, mode)| mode).unwrap_or_default();
        let namespaces: HashMap<Arc<str>, MtlsMode> = wide
            .into_values()
            .map(|(key, mode)| (Arc::clone(&key.namespace), mode.unwrap_or(mesh)))
            .collect();
        let mut workloads: HashMap<Arc<str>, Vec<Workload>> = HashMap::new();
        for (key, selector, spec) in narrow {
            let inherited = namespaces.get(&key.namespace).copied().unwrap_or(mesh);
            let own = mode(spec.mtls.as_ref()).unwrap_or(inherited);
            let ports =
                spec.port_level_mtls.iter().map(|(port, mtls)| (*port, mode(Some(mtls)).unwrap_or(own)));
            let peer = Arc::new(Peer { mode: own, ports: ports.collect() });
            workloads.entry(Arc::clone(&key.namespace)).or_default().push(Workload { selector, peer });
        }
        (Self { mesh, namespaces, workloads }, problems)
    }

    fn peer(&self, namespace: &str, selected: impl Fn(&Arc<Labels>) -> bool) -> Arc<Peer> {
        let workloads = self.workloads.get(namespace).map_or(&[][..], Vec::as_slice);
        match workloads.iter().find(|workload| selected(&workload.selector)) {
            Some(workload) => Arc::clone(&workload.peer),
            None => Arc::new(Peer { mode: self.of_namespace(namespace), ports: BTreeMap::new() }),
        }
    }

    /// For the proxy's own workload, with the ports that were named.
    pub fn own(&self, proxy: &Attributes) -> Arc<Peer> {
        self.peer(&proxy.namespace(), |selector| proxy.selected(selector))
    }

    /// For a port of the proxy's own workload.
    pub fn inbound(&self, proxy: &Attributes, port: u32) -> MtlsMode {
        self.own(proxy).port(port)
    }

    /// For a port of a workload with these labels, as its clients must know it.
    pub fn of_workload(&self, namespace: &str, labels: &Labels, port: u32) -> MtlsMode {
        let has = |selector: &Arc<Labels>| selector.iter().all(|(key, value)| labels.get(key) == Some(value));
        let workloads = self.workloads.get(namespace).map_or(&[][..], Vec::as_slice);
        match workloads.iter().find(|workload| has(&workload.selector)) {
            Some(workload) => workload.peer.port(port),
            None => self.of_namespace(namespace),
        }
    }

    /// For a whole namespace, without looking at workloads (what clients assume of a service).
    pub fn of_namespace(&self, namespace: &str) -> MtlsMode {
        self.namespaces.get(namespace).copied().unwrap_or(self.mesh)
    }
}

/// Nothing if it is to be inherited.
fn mode(mtls: Option<&MutualTls>) -> Option<MtlsMode> {
    match Mode::try_from(mtls?.mode).ok()? {
        Mode::Unset => None,
        Mode::Disable => Some(MtlsMode::Disable),
        Mode::Permissive => Some(MtlsMode::Permissive),
        Mode::Strict => Some(MtlsMode::Strict),
    }
}
