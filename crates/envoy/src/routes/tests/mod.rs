//! Routes of small meshes, from objects to decoded messages.

#![allow(clippy::unwrap_used, reason = "tests")]

mod hostile;
mod memo;
mod router;
mod sidecar;

use crate::{Context, Memo, Options, Resource};
use mizzen_mesh::{Event, Locality, Node, Proxy, Settings, Sight, Snapshot, Store};
use mizzen_proto::{
    envoy::config::route::v3::{
        Route, RouteConfiguration, VirtualHost, route::Action, route_action::ClusterSpecifier,
    },
    istio::mesh::v1alpha1::MeshConfig,
};
use mizzen_text::{Source, yaml};
use prost::Message;
use serde_json::json;
use std::sync::Arc;

pub(super) struct World {
    store: Store,
    pub(super) memo: Memo,
}

impl World {
    pub(super) fn new(objects: &str) -> Self {
        Self::with_mesh(objects, |_| {})
    }

    pub(super) fn with_mesh(objects: &str, change: impl FnOnce(&mut MeshConfig)) -> Self {
        let mut settings = Settings::default();
        change(Arc::make_mut(&mut settings.mesh));
        let mut world = Self { store: Store::new(settings), memo: Memo::default() };
        world.apply(objects);
        world
    }

    pub(super) fn apply(&mut self, objects: &str) {
        let source = Source::new("objects", objects.as_bytes().to_vec());
        for document in yaml::load_all(&source, &yaml::Options::default()) {
            self.store.apply(Event::read(&document.unwrap().value).unwrap());
        }
    }

    pub(super) fn snapshot(&mut self) -> Arc<Snapshot> {
        self.store.snapshot()
    }

    pub(super) fn resource(&mut self, proxy: &Arc<Proxy>, name: &str) -> Arc<Resource> {
        let snapshot = self.snapshot();
        let attributes = snapshot.attributes(proxy);
        let context = Context {
            snapshot: &Sight::new(&snapshot),
            proxy: &attributes,
            memo: &self.memo,
            shared: &crate::Shared::default(),
            options: &Options::default(),
        };
        super::build(&context, name).unwrap()
    }

    pub(super) fn ask(&mut self, proxy: &Arc<Proxy>, name: &str) -> RouteConfiguration {
        RouteConfiguration::decode(self.resource(proxy, name).body().clone()).unwrap()
    }
}

pub(super) fn proxy(kind: &str, namespace: &str, labels: &serde_json::Value) -> Arc<Proxy> {
    let metadata = json!({"NAMESPACE": namespace, "LABELS": labels, "CLUSTER_ID": "Kubernetes"});
    let node = Node {
        id: format!("{kind}~10.0.0.9~client.{namespace}~{namespace}.svc.cluster.local"),
        metadata: metadata.as_object().cloned().unwrap(),
        locality: Locality::default(),
    };
    Arc::new(Proxy::read(node).unwrap())
}

pub(super) fn sidecar(namespace: &str) -> Arc<Proxy> {
    proxy("sidecar", namespace, &json!({}))
}

/// A service of Kubernetes.
pub(super) fn service(name: &str, namespace: &str, address: &str, ports: &[(&str, u32)]) -> String {
    let ports: Vec<_> = ports.iter().map(|(name, port)| json!({"name": name, "port": port})).collect();
    let object = json!({
        "apiVersion": "v1", "kind": "Service",
        "metadata": {"name": name, "namespace": namespace, "creationTimestamp": "2024-01-01T00:00:00Z"},
        "spec": {"clusterIP": address, "clusterIPs": [address], "ports": ports, "type": "ClusterIP"},
    });
    format!("---\n{object}\n")
}

/// A VirtualService, as old as its name says: later letters are younger.
pub(super) fn virtual_service(name: &str, namespace: &str, spec: &serde_json::Value) -> String {
    istio("VirtualService", name, namespace, spec)
}

pub(super) fn istio(kind: &str, name: &str, namespace: &str, spec: &serde_json::Value) -> String {
    let object = json!({
        "apiVersion": "networking.istio.io/v1", "kind": kind,
        "metadata": {"name": name, "namespace": namespace, "creationTimestamp": "2024-01-01T00:00:00Z"},
        "spec": spec,
    });
    format!("---\n{object}\n")
}

pub(super) fn to(host: &str) -> serde_json::Value {
    json!([{"route": [{"destination": {"host": host}}]}])
}

pub(super) fn names(configuration: &RouteConfiguration) -> Vec<&str> {
    configuration.virtual_hosts.iter().map(|host| host.name.as_str()).collect()
}

pub(super) fn host<'a>(configuration: &'a RouteConfiguration, name: &str) -> &'a VirtualHost {
    let found = configuration.virtual_hosts.iter().find(|host| host.name == name);
    found.unwrap_or_else(|| panic!("{name} is not among {:?}", names(configuration)))
}

pub(super) fn cluster(route: &Route) -> String {
    match &route.action {
        Some(Action::Route(action)) => match &action.cluster_specifier {
            Some(ClusterSpecifier::Cluster(cluster)) => cluster.clone(),
            other => format!("{other:?}"),
        },
        other => format!("{other:?}"),
    }
}

pub(super) fn clusters(host: &VirtualHost) -> Vec<String> {
    host.routes.iter().map(cluster).collect()
}
