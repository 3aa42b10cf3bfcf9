//! Objects in, services, endpoints and the ports of a proxy out.
#![allow(clippy::unwrap_used, reason = "a test may fail by it")]

mod changes;
mod entries;
mod kubernetes;
mod property;
mod targets;

use mizzen_mesh::{Endpoint, Event, Locality, Node, Proxy, Service, Settings, Snapshot, Store};
use mizzen_text::{Source, yaml};
use serde_json::Value;
use std::sync::Arc;

pub(crate) fn mk_store(objects: &str) -> Store {
    let mut store = Store::new(Settings::default());
    apply(&mut store, objects);
    store
}

pub(crate) fn apply(store: &mut Store, objects: &str) {
    for document in yaml::load_all(&Source::new("objects.yaml", objects), &yaml::Options::default()) {
        store.apply(Event::read(&document.unwrap().value).unwrap());
    }
}

pub(crate) fn mk_mesh(objects: &str) -> Arc<Snapshot> {
    mk_store(objects).snapshot()
}

pub(crate) fn service(mesh: &Snapshot, host: &str) -> Arc<Service> {
    Arc::clone(&mesh.services.by_host[host][0])
}

pub(crate) fn endpoints(mesh: &Snapshot, host: &str) -> Vec<Arc<Endpoint>> {
    let key = &service(mesh, host).key;
    mesh.endpoints_of(key).map(|endpoints| endpoints.endpoints.clone()).unwrap_or_default()
}

/// `address:port` of each, with the port's name.
pub(crate) fn places(mesh: &Snapshot, host: &str) -> String {
    let place = |endpoint: &Arc<Endpoint>| {
        format!("{}:{}/{}", endpoint.addresses.join(","), endpoint.port, endpoint.port_name)
    };
    endpoints(mesh, host).iter().map(place).collect::<Vec<_>>().join(" ")
}

pub(crate) fn mk_proxy(name: &str, ip: &str, metadata: &Value) -> Arc<Proxy> {
    let namespace = name.split_once('.').map_or("", |(_, namespace)| namespace);
    let id = format!("sidecar~{ip}~{name}~{namespace}.svc.cluster.local");
    let metadata = metadata.as_object().cloned().unwrap_or_default();
    Arc::new(Proxy::read(Node { id, metadata, locality: Locality::default() }).unwrap())
}

/// `host:port->target` of each.
pub(crate) fn targets(mesh: &Snapshot, proxy: &Arc<Proxy>) -> String {
    let target = |target: &mizzen_mesh::Target| {
        format!("{}:{}->{}", target.service.key.host, target.port.number, target.target_port)
    };
    mesh.attributes(proxy).targets().iter().map(target).collect::<Vec<_>>().join(" ")
}

pub(crate) const CART: &str = r"
apiVersion: v1
kind: Service
metadata: {name: cart, namespace: shop, creationTimestamp: '2026-01-01T00:00:02Z'}
spec:
  clusterIP: 10.0.0.1
  selector: {app: cart}
  ports:
  - {name: http, port: 80, targetPort: web}
  - {name: tcp-sync, port: 9000}
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: cart-1, namespace: shop, labels: {kubernetes.io/service-name: cart}}
addressType: IPv4
ports: [{name: http, port: 8080}, {name: tcp-sync, port: 9000}]
endpoints:
- {addresses: [10.1.0.1], conditions: {ready: true}, targetRef: {kind: Pod, name: cart-1, namespace: shop}}
---
apiVersion: v1
kind: Node
metadata:
  name: one
  labels: {topology.kubernetes.io/region: r, topology.kubernetes.io/zone: z, topology.istio.io/subzone: s}
";

pub(crate) const CART_POD: &str = r"
apiVersion: v1
kind: Pod
metadata:
  name: cart-1
  namespace: shop
  generateName: cart-
  ownerReferences: [{kind: ReplicaSet, name: cart-5f, controller: true}]
  labels: {app: cart, pod-template-hash: 5f, security.istio.io/tlsMode: istio}
spec:
  serviceAccountName: seller
  nodeName: one
  subdomain: cart
  containers: [{name: a, ports: [{name: web, containerPort: 8080}]}]
status:
  phase: Running
  podIP: 10.1.0.1
  conditions: [{type: Ready, status: 'True'}]
";

pub(crate) const ENTRY: &str = r"
apiVersion: networking.istio.io/v1
kind: ServiceEntry
metadata: {name: out, namespace: shop}
spec:
  hosts: [a.example.com, '*.example.com']
  addresses: [192.0.2.1, 192.0.3.0/24, 192.0.4.1/32, nonsense]
  ports: [{name: http, number: 80, protocol: HTTP, targetPort: 8080}, {name: any, number: 81}]
  resolution: STATIC
  exportTo: ['.']
  subjectAltNames: [spiffe://x]
  endpoints:
  - {address: 10.9.0.1, ports: {any: 7000}, weight: 3, locality: r/z, serviceAccount: s, labels: {app: x}}
  - {address: 'unix:///run/x.sock'}
";

pub(crate) const MACHINE: &str = r"
apiVersion: networking.istio.io/v1
kind: WorkloadEntry
metadata: {name: machine, namespace: shop, labels: {app: cart}}
spec: {address: 10.2.0.1, labels: {app: lost}, ports: {web: 7777}, serviceAccount: old}
";
