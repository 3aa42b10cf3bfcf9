//! A mesh of documents.

use mizzen_mesh::{
    Attributes, Event, Key, KeyKind, Locality, Node, Proxy, ProxyKind, Scope, Settings, Snapshot, Store,
    config::{L4Routes, Routed, VirtualService},
};
use mizzen_text::{Source, yaml};
use serde_json::{Value, json};
use std::sync::Arc;

pub(crate) fn documents(text: &str) -> Vec<Value> {
    let source = Source::new("mesh.yaml", text.as_bytes().to_vec());
    yaml::load_all(&source, &yaml::Options::default()).map(|document| document.unwrap().value).collect()
}

pub(crate) struct Mesh {
    pub(crate) store: Store,
}

impl Mesh {
    pub(crate) fn new(objects: &str) -> Self {
        Self::with(Settings::default(), objects)
    }

    pub(crate) fn with(settings: Settings, objects: &str) -> Self {
        let mut mesh = Self { store: Store::new(settings) };
        mesh.apply(objects);
        mesh
    }

    pub(crate) fn apply(&mut self, objects: &str) {
        for document in documents(objects) {
            self.store.apply(Event::read(&document).unwrap());
        }
    }

    pub(crate) fn delete(&mut self, kind: mizzen_api::Kind, namespace: &str, name: &str) {
        self.store.apply(Event::Gone(key(kind, namespace, name)));
    }

    pub(crate) fn snapshot(&mut self) -> Arc<Snapshot> {
        self.store.snapshot()
    }

    /// `Kind namespace/name: reason`
    pub(crate) fn problems(&mut self) -> Vec<String> {
        let snapshot = self.snapshot();
        snapshot.problems.iter().map(|problem| format!("{}: {}", problem.key, problem.reason)).collect()
    }
}

pub(crate) fn key(kind: mizzen_api::Kind, namespace: &str, name: &str) -> Key {
    Key { kind: KeyKind::Istio(kind), namespace: namespace.into(), name: name.into() }
}

pub(crate) fn settings(mesh: &str) -> Settings {
    let defaults = Settings::default();
    let document = documents(mesh).remove(0);
    Settings {
        mesh: Arc::new(mizzen_api::mesh::apply_mesh_config(&defaults.mesh, &document).unwrap()),
        ..defaults
    }
}

pub(crate) fn sidecar(snapshot: &Snapshot, namespace: &str) -> Arc<Scope> {
    snapshot.scope(ProxyKind::Sidecar, &namespace.into())
}

pub(crate) fn proxy(snapshot: &Snapshot, kind: &str, namespace: &str, labels: &Value) -> Attributes {
    let metadata = json!({"NAMESPACE": namespace, "LABELS": labels});
    let node = Node {
        id: format!("{kind}~10.9.9.9~proxy.{namespace}~{namespace}.svc.cluster.local"),
        metadata: metadata.as_object().unwrap().clone(),
        locality: Locality::default(),
    };
    snapshot.attributes(&Arc::new(Proxy::read(node).unwrap()))
}

pub(crate) fn http(snapshot: &Snapshot, namespace: &str) -> Arc<Routed<VirtualService>> {
    Arc::clone(&sidecar(snapshot, namespace).http)
}

pub(crate) fn l4(snapshot: &Snapshot, namespace: &str) -> Arc<Routed<L4Routes>> {
    Arc::clone(&sidecar(snapshot, namespace).l4)
}

/// A Service with a port 80 of HTTP.
pub(crate) fn service(namespace: &str, name: &str) -> String {
    format!(
        "---\napiVersion: v1\nkind: Service\nmetadata: {{name: {name}, namespace: {namespace}}}\n\
         spec: {{clusterIP: 10.0.0.1, selector: {{app: {name}}}, ports: [{{name: http, port: 80}}]}}\n"
    )
}

/// An Istio object of the networking group, created on a day of January.
pub(crate) fn object(kind: &str, namespace: &str, name: &str, day: u32, spec: &str) -> String {
    format!(
        "---\napiVersion: networking.istio.io/v1\nkind: {kind}\n\
         metadata: {{name: {name}, namespace: {namespace}, creationTimestamp: '2024-01-{day:02}T00:00:00Z'}}\n\
         spec: {spec}\n"
    )
}

pub(crate) fn virtual_service(namespace: &str, name: &str, day: u32, spec: &str) -> String {
    object("VirtualService", namespace, name, day, spec)
}

pub(crate) fn destination_rule(namespace: &str, name: &str, day: u32, spec: &str) -> String {
    object("DestinationRule", namespace, name, day, spec)
}
