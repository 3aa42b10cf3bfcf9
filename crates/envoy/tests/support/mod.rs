//! Objects as YAML in, resources as JSON out.
#![allow(clippy::unwrap_used, reason = "a broken test may panic")]
#![allow(dead_code, unreachable_pub, reason = "not every test uses all of it")]

use mizzen_envoy::{Context, Memo, Options, Resource, Shared, clusters, endpoints, listeners};
use mizzen_mesh::{Event, Node, Proxy, Reads, Settings, Sight, Snapshot, Store};
use mizzen_text::{Source, yaml};
use prost_reflect::DynamicMessage;
use serde_json::{Value, json};
use std::{collections::BTreeMap, sync::Arc};

pub type Resources = BTreeMap<String, Value>;

/// A mesh of these documents, one behind the other.
pub struct Mesh {
    pub store: Store,
    pub memo: Memo,
    pub options: Options,
}

impl Mesh {
    pub fn new(objects: &str) -> Self {
        Self::with(objects, "{}")
    }

    pub fn with(objects: &str, mesh_config: &str) -> Self {
        let mut settings = Settings::default();
        let config = documents(mesh_config).remove(0);
        settings.mesh = Arc::new(mizzen_api::mesh::apply_mesh_config(&settings.mesh, &config).unwrap());
        let mut mesh =
            Self { store: Store::new(settings), memo: Memo::default(), options: Options::default() };
        mesh.apply(objects);
        mesh
    }

    pub fn apply(&mut self, objects: &str) {
        for document in documents(objects).iter().filter(|document| !document.is_null()) {
            self.store.apply(Event::read(document).unwrap_or_else(|error| panic!("{error}: {document}")));
        }
    }

    fn snapshot(&mut self) -> Arc<Snapshot> {
        self.store.snapshot()
    }

    pub fn clusters(&mut self, proxy: &Arc<Proxy>) -> Resources {
        self.cluster_resources(proxy).iter().map(|one| read("envoy.config.cluster.v3.Cluster", one)).collect()
    }

    pub fn cluster_resources(&mut self, proxy: &Arc<Proxy>) -> Vec<Arc<Resource>> {
        self.look(proxy, clusters::set).0.resources().to_vec()
    }

    pub fn listeners(&mut self, proxy: &Arc<Proxy>) -> Resources {
        let built = self.look(proxy, listeners::build).0;
        built.iter().map(|one| read("envoy.config.listener.v3.Listener", one)).collect()
    }

    /// The endpoints of one cluster.
    pub fn endpoints(&mut self, proxy: &Arc<Proxy>, name: &str) -> Option<Value> {
        let found = self.look(proxy, |context| endpoints::build(context, name)).0?;
        Some(read("envoy.config.endpoint.v3.ClusterLoadAssignment", &found).1)
    }

    /// What `build` makes, and what it asked about the proxy.
    pub fn look<T>(&mut self, proxy: &Arc<Proxy>, build: impl Fn(&Context<'_>) -> T) -> (T, Reads) {
        let snapshot = self.snapshot();
        let attributes = snapshot.attributes(proxy);
        let context = Context {
            snapshot: &Sight::new(&snapshot),
            proxy: &attributes,
            memo: &self.memo,
            shared: &Shared::default(),
            options: &self.options,
        };
        let built = build(&context);
        (built, attributes.take_reads())
    }
}

pub fn documents(text: &str) -> Vec<Value> {
    let source = Source::new("test", text.as_bytes().to_vec());
    yaml::load_all(&source, &yaml::Options::default()).map(|document| document.unwrap().value).collect()
}

fn read(message: &str, resource: &Resource) -> (String, Value) {
    let descriptor = mizzen_proto::descriptors().get_message_by_name(message).unwrap();
    let decoded = DynamicMessage::decode(descriptor, resource.body().clone()).unwrap();
    (resource.name().to_string(), serde_json::to_value(decoded).unwrap())
}

pub fn mk_sidecar(address: &str) -> Arc<Proxy> {
    mk_proxy("sidecar", address, &json!({}))
}

/// The sidecar of the pod `name`.
pub fn mk_pod(name: &str, address: &str) -> Arc<Proxy> {
    mk_named("sidecar", name, address, &json!({}))
}

pub fn mk_proxy(kind: &str, address: &str, metadata: &Value) -> Arc<Proxy> {
    mk_named(kind, "client", address, metadata)
}

fn mk_named(kind: &str, name: &str, address: &str, metadata: &Value) -> Arc<Proxy> {
    let mut all = json!({"NAMESPACE": "default", "CLUSTER_ID": "Kubernetes"});
    all.as_object_mut().unwrap().extend(metadata.as_object().cloned().unwrap());
    let id = format!("{kind}~{address}~{name}.default~default.svc.cluster.local");
    let node = Node { id, metadata: all.as_object().cloned().unwrap(), ..Node::default() };
    Arc::new(Proxy::read(node).unwrap())
}

/// A service `web` on port 80 with a pod in each of some zones, and a client beside the first.
pub fn mk_web() -> String {
    let mut objects = String::from(
        "
apiVersion: v1
kind: Service
metadata: {name: web, namespace: default, creationTimestamp: '2024-01-01T00:00:00Z'}
spec:
  clusterIP: 10.0.0.1
  selector: {app: web}
  ports: [{name: http, port: 80, targetPort: 8080}, {name: grpc, port: 81, targetPort: 8081}, {name: tcp-raw, port: 82, targetPort: 8082}, {port: 83, name: guess, targetPort: 8083}]
",
    );
    for (index, zone) in ["region1/zone1", "region1/zone2", "region2/zone1"].into_iter().enumerate() {
        let (region, zone) = zone.split_once('/').unwrap();
        objects += &format!(
            "
---
apiVersion: v1
kind: Node
metadata: {{name: node{index}, labels: {{topology.kubernetes.io/region: {region}, topology.kubernetes.io/zone: {zone}}}}}
---
apiVersion: v1
kind: Pod
metadata: {{name: web-{index}, namespace: default, labels: {{app: web, version: v{index}, security.istio.io/tlsMode: istio}}}}
spec: {{nodeName: node{index}, serviceAccountName: web}}
status: {{phase: Running, podIP: 10.1.0.{index}, podIPs: [{{ip: 10.1.0.{index}}}]}}
"
        );
    }
    objects += "
---
apiVersion: v1
kind: Pod
metadata: {name: client, namespace: default, labels: {app: client}}
spec: {nodeName: node0, serviceAccountName: client}
status: {phase: Running, podIP: 10.1.9.1, podIPs: [{ip: 10.1.9.1}]}
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: web-1, namespace: default, labels: {kubernetes.io/service-name: web}}
addressType: IPv4
ports: [{name: http, port: 8080}, {name: grpc, port: 8081}, {name: tcp-raw, port: 8082}, {name: guess, port: 8083}]
endpoints:
";
    for index in 0..3 {
        objects += &format!(
            "- {{addresses: [10.1.0.{index}], conditions: {{ready: true}}, nodeName: node{index}, targetRef: {{kind: Pod, name: web-{index}, namespace: default}}}}\n"
        );
    }
    objects
}

/// A DestinationRule for `web` with this specification besides its host.
pub fn mk_rule(spec: &str) -> String {
    format!(
        "
---
apiVersion: networking.istio.io/v1
kind: DestinationRule
metadata: {{name: web, namespace: default}}
spec: {{host: web.default.svc.cluster.local, {spec}}}
"
    )
}

pub const WEB: &str = "outbound|80||web.default.svc.cluster.local";
pub const WEB_V1: &str = "outbound|80|v1|web.default.svc.cluster.local";

/// Of an encoded route configuration.
pub fn ignores_port(body: &[u8]) -> bool {
    use prost::Message;
    let decoded = mizzen_proto::envoy::config::route::v3::RouteConfiguration::decode(body).unwrap();
    decoded.ignore_port_in_host_matching
}
