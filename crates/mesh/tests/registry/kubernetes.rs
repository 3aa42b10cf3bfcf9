//! Services and endpoints of Kubernetes.

use crate::{CART, CART_POD, ENTRY, endpoints, mk_mesh, places, service};
use mizzen_mesh::{
    Health, Locality, Port, Protocol, Registry, Resolution, TlsMode, TrafficDistribution, Visibility,
    input::PortName,
};

#[test]
fn a_service_of_kubernetes_has_what_its_object_says() {
    let mesh = mk_mesh(
        r"
apiVersion: v1
kind: Service
metadata:
  name: cart
  namespace: shop
  creationTimestamp: '2026-01-01T00:00:00Z'
  annotations:
    networking.istio.io/exportTo: '., other'
    networking.istio.io/traffic-distribution: preferClose
    alpha.istio.io/canonical-serviceaccounts: a@b
    alpha.istio.io/kubernetes-serviceaccounts: seller
spec:
  type: LoadBalancer
  clusterIP: 10.0.0.1
  clusterIPs: [10.0.0.1, 'fd00::1']
  externalIPs: [192.0.2.1]
  internalTrafficPolicy: Local
  publishNotReadyAddresses: true
  ports: [{name: x, port: 80, appProtocol: kubernetes.io/h2c, targetPort: web}, {port: 53, protocol: UDP}]
status: {loadBalancer: {ingress: [{hostname: lb.example.com}, {ip: 192.0.2.2}, {}]}}
",
    );
    let cart = service(&mesh, "cart.shop.svc.cluster.local");
    assert_eq!((&*cart.name, &*cart.object, cart.registry), ("cart", "cart", Registry::Kubernetes));
    assert_eq!(cart.addresses, ["10.0.0.1".into(), "fd00::1".into()]);
    assert_eq!(cart.external_addresses, ["lb.example.com".into(), "192.0.2.2".into(), "192.0.2.1".into()]);
    assert_eq!(cart.subject_alt_names, ["a@b".into(), "spiffe://cluster.local/ns/shop/sa/seller".into()]);
    assert_eq!(cart.visibility, Visibility::Namespaces(["shop".into(), "other".into()].into()));
    assert_eq!(cart.traffic_distribution, TrafficDistribution::SameZone);
    assert!(cart.node_local && cart.publish_not_ready && !cart.headless && !cart.external);
    let target = Some(PortName::Name("web".to_owned()));
    let port = |name: &str, number, protocol, target| Port { name: name.into(), number, protocol, target };
    assert_eq!(cart.ports, [port("x", 80, Protocol::Http2, target), port("", 53, Protocol::Udp, None)]);
}

#[test]
fn the_type_of_a_service_says_how_its_endpoints_are_found() {
    for (spec, resolution, addresses, external) in [
        ("{clusterIP: 10.0.0.1}", Resolution::Endpoints, 1, false),
        ("{type: NodePort, clusterIP: 10.0.0.1}", Resolution::Endpoints, 1, false),
        ("{clusterIP: None}", Resolution::Passthrough, 0, false),
        ("{type: ExternalName, externalName: example.com}", Resolution::Alias, 0, true),
        ("{type: ExternalName}", Resolution::Endpoints, 0, false),
        ("{externalName: example.com}", Resolution::Endpoints, 0, false),
        ("{}", Resolution::Endpoints, 0, false),
    ] {
        let mesh = mk_mesh(&format!(
            "{{apiVersion: v1, kind: Service, metadata: {{name: a, namespace: b}}, spec: {spec}}}"
        ));
        let made = service(&mesh, "a.b.svc.cluster.local");
        assert_eq!(
            (made.resolution, made.addresses.len(), made.external),
            (resolution, addresses, external),
            "{spec}"
        );
    }
}

#[test]
fn an_endpoint_has_what_its_pod_and_node_say() {
    let mesh = mk_mesh(&[CART, CART_POD].join("\n---\n"));
    assert_eq!(places(&mesh, "cart.shop.svc.cluster.local"), "10.1.0.1:8080/http 10.1.0.1:9000/tcp-sync");
    let endpoint = &endpoints(&mesh, "cart.shop.svc.cluster.local")[0];
    assert_eq!(&*endpoint.service_account, "spiffe://cluster.local/ns/shop/sa/seller");
    assert_eq!((&*endpoint.workload, &*endpoint.namespace, &*endpoint.node), ("cart", "shop", "one"));
    assert_eq!((&*endpoint.hostname, &*endpoint.subdomain), ("cart-1", "cart"));
    assert_eq!((endpoint.tls, endpoint.health), (TlsMode::Istio, Health::Healthy));
    assert_eq!(endpoint.locality, Locality::parse("r/z/s"));
    for (label, value) in [
        ("app", "cart"),
        ("topology.kubernetes.io/region", "r"),
        ("topology.istio.io/cluster", "Kubernetes"),
        ("kubernetes.io/hostname", "one"),
    ] {
        assert_eq!(endpoint.labels.get(label).map(|value| &**value), Some(value), "{label}");
    }
    let accounts = &mesh.endpoints_of(&service(&mesh, "cart.shop.svc.cluster.local").key).unwrap().accounts;
    assert_eq!(accounts.len(), 1);
}

#[test]
fn slices_of_one_service_are_taken_together_and_those_of_none_are_left() {
    let slice = |name: &str, label: &str, family: &str, addresses: &str| {
        format!(
            "{{apiVersion: discovery.k8s.io/v1, kind: EndpointSlice, metadata: {{name: {name}, namespace: a, labels: {{{label}}}}}, \
             addressType: {family}, ports: [{{name: p, port: 1}}], endpoints: [{{addresses: [{addresses}]}}]}}"
        )
    };
    let mine = "kubernetes.io/service-name: a";
    let mesh = mk_mesh(
        &[
            "{apiVersion: v1, kind: Service, metadata: {name: a, namespace: a}, spec: {ports: [{name: p, port: 1}]}}".to_owned(),
            slice("two", mine, "IPv4", "1.1.1.2, 1.1.1.1"),
            slice("one", mine, "IPv4", "1.1.1.1"),
            slice("six", mine, "IPv6", "'::1'"),
            slice("name", mine, "FQDN", "example.com"),
            slice("other", "kubernetes.io/service-name: b", "IPv4", "1.1.1.3"),
            slice("none", "own: label", "IPv4", "1.1.1.4"),
            slice("far", "kubernetes.io/service-name: a, multicluster.kubernetes.io/service-name: a", "IPv4", "1.1.1.5"),
        ]
        .join("\n---\n"),
    );
    assert_eq!(places(&mesh, "a.a.svc.cluster.local"), "1.1.1.1:1/p ::1:1/p 1.1.1.2:1/p");
}

#[test]
fn nobody_takes_the_name_of_a_service_of_kubernetes() {
    let squatter = ENTRY
        .replace(
            "name: out, namespace: shop",
            "name: out, namespace: shop, creationTimestamp: '2020-01-01T00:00:00Z'",
        )
        .replace("a.example.com", "cart.shop.svc.cluster.local");
    let mesh = mk_mesh(&[CART, &squatter].join("\n---\n"));
    let key = &service(&mesh, "cart.shop.svc.cluster.local").key;
    assert_eq!(mesh.services.by_key[key].registry, Registry::Kubernetes);
    assert_eq!(mesh.services.all[0].registry, Registry::External, "the order is by age");
}
