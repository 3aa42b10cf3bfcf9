//! Objects in, services, endpoints and the ports of a proxy out.
#![allow(clippy::unwrap_used, reason = "a test may fail by it")]

use mizzen_mesh::{
    Endpoint, Event, Health, Key, KeyKind, Locality, Node, Port, Protocol, Proxy, Registry, Resolution,
    Service, Settings, Snapshot, Store, TlsMode, TrafficDistribution, Visibility, input::PortName,
};
use mizzen_text::{Source, yaml};
use serde_json::{Value, json};
use std::sync::Arc;

fn mk_store(objects: &str) -> Store {
    let mut store = Store::new(Settings::default());
    apply(&mut store, objects);
    store
}

fn apply(store: &mut Store, objects: &str) {
    for document in yaml::load_all(&Source::new("objects.yaml", objects), &yaml::Options::default()) {
        store.apply(Event::read(&document.unwrap().value).unwrap());
    }
}

fn mk_mesh(objects: &str) -> Arc<Snapshot> {
    mk_store(objects).snapshot()
}

fn service(mesh: &Snapshot, host: &str) -> Arc<Service> {
    Arc::clone(&mesh.services.by_host[host][0])
}

fn endpoints(mesh: &Snapshot, host: &str) -> Vec<Arc<Endpoint>> {
    let key = &service(mesh, host).key;
    mesh.endpoints_of(key).map(|endpoints| endpoints.endpoints.clone()).unwrap_or_default()
}

/// `address:port` of each, with the port's name.
fn places(mesh: &Snapshot, host: &str) -> String {
    let place = |endpoint: &Arc<Endpoint>| {
        format!("{}:{}/{}", endpoint.addresses.join(","), endpoint.port, endpoint.port_name)
    };
    endpoints(mesh, host).iter().map(place).collect::<Vec<_>>().join(" ")
}

fn mk_proxy(name: &str, ip: &str, metadata: &Value) -> Arc<Proxy> {
    let namespace = name.split_once('.').map_or("", |(_, namespace)| namespace);
    let id = format!("sidecar~{ip}~{name}~{namespace}.svc.cluster.local");
    let metadata = metadata.as_object().cloned().unwrap_or_default();
    Arc::new(Proxy::read(Node { id, metadata, locality: Locality::default() }).unwrap())
}

/// `host:port->target` of each.
fn targets(mesh: &Snapshot, proxy: &Arc<Proxy>) -> String {
    let target = |target: &mizzen_mesh::Target| {
        format!("{}:{}->{}", target.service.key.host, target.port.number, target.target_port)
    };
    mesh.attributes(proxy).targets().iter().map(target).collect::<Vec<_>>().join(" ")
}

const CART: &str = r"
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

const CART_POD: &str = r"
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
fn an_endpoint_waits_for_its_pod_and_is_completed_when_it_comes() {
    let mut store = mk_store(CART);
    assert_eq!(places(&store.snapshot(), "cart.shop.svc.cluster.local"), "", "its account is not known yet");
    apply(&mut store, CART_POD);
    assert_ne!(places(&store.snapshot(), "cart.shop.svc.cluster.local"), "");
    let pod = Key { kind: KeyKind::Pod, namespace: "shop".into(), name: "cart-1".into() };
    store.apply(Event::Gone(pod));
    assert_eq!(places(&store.snapshot(), "cart.shop.svc.cluster.local"), "");
}

#[test]
fn an_address_without_a_pod_is_known_by_the_pod_that_has_it() {
    let slice = CART.replace(", targetRef: {kind: Pod, name: cart-1, namespace: shop}", "");
    let mut store = mk_store(&slice);
    let host = "cart.shop.svc.cluster.local";
    let unknown = Arc::clone(&endpoints(&store.snapshot(), host)[0]);
    assert_eq!((&*unknown.service_account, &*unknown.workload, unknown.tls), ("", "", TlsMode::Disabled));
    apply(&mut store, CART_POD);
    assert_eq!(&*endpoints(&store.snapshot(), host)[0].workload, "cart");
    apply(&mut store, &CART_POD.replace("status: 'True'", "status: 'False'"));
    assert_eq!(
        &*endpoints(&store.snapshot(), host)[0].workload,
        "",
        "a pod that does not serve says nothing"
    );
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
fn a_proxy_serves_the_ports_of_the_services_that_select_its_pod() {
    let older = r"
apiVersion: v1
kind: Service
metadata: {name: older, namespace: shop, creationTimestamp: '2026-01-01T00:00:01Z'}
spec:
  clusterIP: None
  selector: {app: cart}
  ports:
  - {name: http-b, port: 81, targetPort: 8080}
  - {name: http-a, port: 82, targetPort: 8080}
  - {name: tcp-c, port: 83, targetPort: 8080}
  - {name: lost, port: 84, targetPort: nowhere}
---
apiVersion: v1
kind: Service
metadata: {name: elsewhere, namespace: other}
spec: {selector: {app: cart}, ports: [{port: 1}]}
---
apiVersion: v1
kind: Service
metadata: {name: nobody, namespace: shop}
spec: {ports: [{port: 1}]}
";
    let mesh = mk_mesh(&[CART, CART_POD, older].join("\n---\n"));
    let all = "older.shop.svc.cluster.local:81->8080 older.shop.svc.cluster.local:83->8080 \
               cart.shop.svc.cluster.local:80->8080 cart.shop.svc.cluster.local:9000->9000";
    assert_eq!(targets(&mesh, &mk_proxy("cart-1.shop", "10.1.0.1", &json!({}))), all);
    let elsewhere = json!({"CLUSTER_ID": "another", "LABELS": {"app": "cart"}});
    assert_eq!(targets(&mesh, &mk_proxy("cart-1.shop", "10.1.0.1", &elsewhere)), "");
    // Its pod is not known: its own word counts.
    let unknown = |metadata: &Value| targets(&mesh, &mk_proxy("new.shop", "10.1.0.9", metadata));
    assert_eq!(unknown(&json!({})), "");
    let ports = r#"[{"name":"web","containerPort":8080,"protocol":"TCP"}]"#;
    assert_eq!(unknown(&json!({"LABELS": {"app": "cart"}, "POD_PORTS": ports})), all);
    assert_eq!(
        unknown(&json!({"LABELS": {"app": "cart"}, "POD_PORTS": "nonsense"})),
        all.replace("cart.shop.svc.cluster.local:80->8080 ", ""),
        "a name leads nowhere"
    );
}

#[test]
fn a_pod_that_nothing_selects_serves_the_services_whose_slices_have_its_address() {
    let mesh = mk_mesh(&[&CART.replace("selector: {app: cart}", "selector: {}"), CART_POD].join("\n---\n"));
    assert_eq!(
        targets(&mesh, &mk_proxy("cart-1.shop", "10.1.0.1", &json!({}))),
        "cart.shop.svc.cluster.local:80->8080 cart.shop.svc.cluster.local:9000->9000"
    );
}

const ENTRY: &str = r"
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

#[test]
fn an_entry_is_one_service_for_each_host_and_address() {
    let mesh = mk_mesh(ENTRY);
    let made: Vec<String> = mesh
        .services
        .all
        .iter()
        .map(|service| format!("{} {}", service.name, service.addresses.join(",")))
        .collect();
    assert_eq!(
        made,
        [
            "*.example.com 192.0.2.1",
            "*.example.com 192.0.3.0/24",
            "*.example.com 192.0.4.1",
            "a.example.com 192.0.2.1",
            "a.example.com 192.0.3.0/24",
            "a.example.com 192.0.4.1",
        ]
    );
    let out = service(&mesh, "a.example.com");
    assert_eq!((&*out.object, out.registry, out.external), ("out", Registry::External, true));
    assert_eq!(out.visibility, Visibility::Namespaces(["shop".into()].into()));
    assert_eq!(out.ports[0].target, Some(PortName::Number(8080)));
    assert_eq!(out.ports[1].protocol, Protocol::Unsupported);
    let endpoint = &endpoints(&mesh, "a.example.com")[1];
    assert_eq!((&*endpoint.addresses[0], endpoint.port, endpoint.service_port), ("10.9.0.1", 7000, 81));
    assert_eq!((endpoint.weight, endpoint.tls, endpoint.health), (3, TlsMode::Istio, Health::Unknown));
    assert_eq!(&*endpoint.service_account, "spiffe://cluster.local/ns/shop/sa/s");
    assert_eq!((&*endpoint.workload, &endpoint.locality), ("out-0", &Locality::parse("r/z")));
    assert!(places(&mesh, "a.example.com").contains("unix:///run/x.sock:0/http"));
}

#[test]
fn how_an_entry_finds_its_endpoints() {
    for (spec, resolution, expected) in [
        ("{resolution: NONE}", Resolution::Passthrough, ""),
        ("{resolution: STATIC}", Resolution::Endpoints, ""),
        ("{resolution: DNS}", Resolution::Dns, "a.example.com:8080/http"),
        ("{resolution: DNS_ROUND_ROBIN}", Resolution::DnsRoundRobin, "a.example.com:8080/http"),
        ("{resolution: DYNAMIC_DNS}", Resolution::DynamicDns, ""),
        (
            "{resolution: DNS, endpoints: [{address: b.example.com}]}",
            Resolution::Dns,
            "b.example.com:8080/http",
        ),
        ("{resolution: DNS, workloadSelector: {labels: {a: b}}}", Resolution::Dns, ""),
        (
            "{resolution: DNS_ROUND_ROBIN, endpoints: [{address: b.example.com}, {address: c.example.com}]}",
            Resolution::DnsRoundRobin,
            "b.example.com:8080/http",
        ),
    ] {
        let mut document: Value = json!({
            "apiVersion": "networking.istio.io/v1",
            "kind": "ServiceEntry",
            "metadata": {"name": "out", "namespace": "shop"},
        });
        let source = Source::new("spec.yaml", spec);
        document["spec"] = yaml::load_all(&source, &yaml::Options::default()).next().unwrap().unwrap().value;
        document["spec"]["hosts"] = json!(["a.example.com"]);
        document["spec"]["ports"] =
            json!([{"name": "http", "number": 80, "protocol": "HTTP", "targetPort": 8080}]);
        let mut store = Store::new(Settings::default());
        store.apply(Event::read(&document).unwrap());
        let mesh = store.snapshot();
        assert_eq!(service(&mesh, "a.example.com").resolution, resolution, "{spec}");
        assert_eq!(places(&mesh, "a.example.com"), expected, "{spec}");
    }
}

#[test]
fn an_address_that_a_controller_gave_is_taken_where_one_is_allowed() {
    let entry = |spec: &str, labels: &str| {
        mk_mesh(&format!(
            "{{apiVersion: networking.istio.io/v1, kind: ServiceEntry, metadata: {{name: a, namespace: b, labels: {{{labels}}}}}, \
             spec: {{hosts: [a.com], ports: [{{name: p, number: 1}}], {spec}}}, \
             status: {{addresses: [{{host: a.com, value: '2001:2::1'}}, {{host: a.com, value: 240.240.0.1}}, {{host: b.com, value: 240.240.0.2}}, {{}}]}}}}"
        ))
    };
    let given = |mesh: &Snapshot| service(mesh, "a.com").allocated.join(" ");
    assert_eq!(given(&entry("resolution: DNS", "")), "240.240.0.1 2001:2::1");
    assert_eq!(given(&entry("resolution: NONE", "")), "");
    assert_eq!(given(&entry("resolution: DNS, addresses: [1.2.3.4]", "")), "");
    assert_eq!(given(&entry("resolution: DNS", "networking.istio.io/enable-autoallocate-ip: 'False'")), "");
}

const MACHINE: &str = r"
apiVersion: networking.istio.io/v1
kind: WorkloadEntry
metadata: {name: machine, namespace: shop, labels: {app: cart}}
spec: {address: 10.2.0.1, labels: {app: lost}, ports: {web: 7777}, serviceAccount: old}
";

#[test]
fn a_service_of_kubernetes_selects_machines_too() {
    let mesh = mk_mesh(&[CART, CART_POD, MACHINE].join("\n---\n"));
    assert_eq!(
        places(&mesh, "cart.shop.svc.cluster.local"),
        "10.1.0.1:8080/http 10.1.0.1:9000/tcp-sync 10.2.0.1:7777/http 10.2.0.1:9000/tcp-sync"
    );
    let proxy = mk_proxy("vm.shop", "10.2.0.1", &json!({}));
    assert_eq!(
        targets(&mesh, &proxy),
        "cart.shop.svc.cluster.local:80->7777 cart.shop.svc.cluster.local:9000->9000"
    );
    let named = mk_mesh(&[CART, CART_POD, &MACHINE.replace("10.2.0.1", "vm.example.com")].join("\n---\n"));
    assert!(
        !places(&named, "cart.shop.svc.cluster.local").contains("vm.example.com"),
        "Kubernetes has no use for a name"
    );
}

#[test]
fn an_entry_selects_pods_that_serve_and_machines() {
    let entry = r"
apiVersion: networking.istio.io/v1
kind: ServiceEntry
metadata: {name: chosen, namespace: shop}
spec:
  hosts: [cart.example.com]
  location: MESH_INTERNAL
  ports: [{name: web, number: 80, protocol: HTTP}]
  resolution: STATIC
  workloadSelector: {labels: {app: cart}}
";
    let mut store = mk_store(&[entry, CART_POD, MACHINE].join("\n---\n"));
    let mesh = store.snapshot();
    assert_eq!(places(&mesh, "cart.example.com"), "10.1.0.1:8080/web 10.2.0.1:7777/web");
    assert_eq!(targets(&mesh, &mk_proxy("cart-1.shop", "10.1.0.1", &json!({}))), "cart.example.com:80->8080");
    assert_eq!(targets(&mesh, &mk_proxy("x.shop", "10.2.0.1", &json!({}))), "cart.example.com:80->7777");
    assert_eq!(targets(&mesh, &mk_proxy("x.other", "10.2.0.1", &json!({}))), "", "another namespace");
    apply(&mut store, &CART_POD.replace("status: 'True'", "status: 'False'"));
    assert_eq!(places(&store.snapshot(), "cart.example.com"), "10.2.0.1:7777/web");
    apply(
        &mut store,
        &MACHINE.replace(
            "{app: cart}",
            "{app: cart}, annotations: {proxy.istio.io/health-checks-enabled: 'true'}",
        ),
    );
    assert_eq!(
        places(&store.snapshot(), "cart.example.com"),
        "",
        "it is checked, and nobody said that it is healthy"
    );
}

#[test]
fn an_entry_that_cannot_be_used_is_told_and_its_last_good_version_stays() {
    let mut store = mk_store(ENTRY);
    let good = store.snapshot();
    apply(&mut store, &ENTRY.replace("number: 81", "number: 70000"));
    let mesh = store.snapshot();
    assert!(Arc::ptr_eq(&good.services, &mesh.services) && Arc::ptr_eq(&good.endpoints, &mesh.endpoints));
    assert!(mesh.problems[0].reason.contains("70000"), "{:?}", mesh.problems);
    assert!(Arc::ptr_eq(&store.snapshot(), &mesh));
    apply(&mut store, ENTRY);
    assert!(store.snapshot().problems.is_empty());
    for (object, reason) in [
        (ENTRY.replace("[a.example.com, '*.example.com']", "[]"), "host"),
        (ENTRY.replace("192.0.2.1, 192.0.3.0/24, 192.0.4.1/32, nonsense", "nonsense"), "nonsense"),
        (CART.replace("port: 80,", "port: -80,"), "-80"),
        (CART.replace("name: cart, namespace: shop,", "namespace: shop,"), "name"),
    ] {
        let problems = &mk_mesh(&object).problems;
        assert!(problems.iter().any(|problem| problem.reason.contains(reason)), "{reason}: {problems:?}");
    }
}

#[test]
fn a_change_leaves_everything_else_where_it_is() {
    let other = "{apiVersion: v1, kind: Service, metadata: {name: other, namespace: shop}, spec: {ports: [{port: 1}]}}";
    let slice = "{apiVersion: discovery.k8s.io/v1, kind: EndpointSlice, metadata: {name: o, namespace: shop, labels: {kubernetes.io/service-name: other}}, \
                 ports: [{port: 1}], endpoints: [{addresses: [1.1.1.1]}]}";
    let mut store = mk_store(&[CART, CART_POD, other, slice, MACHINE, ENTRY].join("\n---\n"));
    let before = store.snapshot();
    assert!(Arc::ptr_eq(&before, &store.snapshot()), "nothing happened");
    apply(&mut store, &[CART, CART_POD, MACHINE, ENTRY].join("\n---\n"));
    assert!(Arc::ptr_eq(&before, &store.snapshot()), "nothing new was said");

    apply(&mut store, &slice.replace("1.1.1.1", "1.1.1.1, 1.1.1.2"));
    let after = store.snapshot();
    assert!(Arc::ptr_eq(&before.services, &after.services));
    let pair = |host: &str| {
        let key = &service(&before, host).key;
        (Arc::clone(before.endpoints_of(key).unwrap()), Arc::clone(after.endpoints_of(key).unwrap()))
    };
    let (old, new) = pair("cart.shop.svc.cluster.local");
    assert!(Arc::ptr_eq(&old, &new), "other endpoints");
    let (old, new) = pair("other.shop.svc.cluster.local");
    assert!(
        !Arc::ptr_eq(&old, &new) && Arc::ptr_eq(&old.accounts, &new.accounts),
        "its accounts are as before"
    );
    assert!(Arc::ptr_eq(&old.endpoints[0], &new.endpoints[0]), "the endpoint that was there");

    apply(&mut store, &other.replace("port: 1", "port: 2"));
    let last = store.snapshot();
    let cart = "cart.shop.svc.cluster.local";
    assert!(Arc::ptr_eq(&service(&before, cart), &service(&last, cart)));
    assert!(!Arc::ptr_eq(&before.services, &last.services));
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

#[test]
fn what_a_namespace_or_the_settings_say_reaches_what_is_there() {
    let mut store = mk_store(&[CART, CART_POD].join("\n---\n"));
    let cart = "cart.shop.svc.cluster.local";
    assert_eq!(service(&store.snapshot(), cart).traffic_distribution, TrafficDistribution::Any);
    let namespace = "{apiVersion: v1, kind: Namespace, metadata: {name: shop, annotations: {networking.istio.io/traffic-distribution: PreferSameNode}}}";
    apply(&mut store, namespace);
    assert_eq!(service(&store.snapshot(), cart).traffic_distribution, TrafficDistribution::SameNode);
    apply(
        &mut store,
        "{apiVersion: v1, kind: Namespace, metadata: {name: istio-system, labels: {topology.istio.io/network: net}}}",
    );
    assert_eq!(&*endpoints(&store.snapshot(), cart)[0].network, "net");

    let mut mesh = mizzen_api::mesh::mesh_config();
    mesh.trust_domain = "td".to_owned();
    mesh.default_service_export_to = vec![".".to_owned()];
    let settings = Settings { mesh: Arc::new(mesh), domain: "own.domain".into(), ..Settings::default() };
    store.apply(Event::Settings(Box::new(settings)));
    let snapshot = store.snapshot();
    assert!(!snapshot.services.by_host.contains_key(cart));
    let cart = "cart.shop.svc.own.domain";
    assert_eq!(&*endpoints(&snapshot, cart)[0].service_account, "spiffe://td/ns/shop/sa/seller");
    assert_eq!(snapshot.endpoints.len(), 1, "nothing is left under the old name");
    assert_eq!(service(&snapshot, cart).visibility, Visibility::Namespaces(["shop".into()].into()));
    let gone = Key { kind: KeyKind::Namespace, namespace: "".into(), name: "shop".into() };
    store.apply(Event::Gone(gone));
    assert_eq!(service(&store.snapshot(), cart).traffic_distribution, TrafficDistribution::Any);
}

#[test]
fn hostile_objects_do_no_harm() {
    let mut store = mk_store(&[CART, CART_POD, MACHINE, ENTRY].join("\n---\n"));
    store.snapshot();
    apply(
        &mut store,
        r"
{apiVersion: v1, kind: Service, metadata: {}, spec: {ports: [{port: -1}, {port: 2147483647}]}}
---
{apiVersion: v1, kind: Service, metadata: {name: a, namespace: b}, spec: {ports: [{port: 1, targetPort: -7}, {port: 1, targetPort: ''}, {port: 2}], selector: {'': ''}}}
---
{apiVersion: discovery.k8s.io/v1, kind: EndpointSlice, metadata: {labels: {kubernetes.io/service-name: a}, namespace: b}, endpoints: [{addresses: ['', '']}, {targetRef: {}}, {targetRef: {kind: Pod}, addresses: [x]}], ports: [{port: -1}, {}]}
---
{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: b, labels: {'': ''}}, spec: {containers: [{ports: [{containerPort: -1, name: x}, {containerPort: 99999}]}]}, status: {podIPs: [{ip: nonsense}, {}], podIP: '', conditions: [{type: Ready, status: 'True'}]}}
---
{apiVersion: v1, kind: Pod, metadata: {}}
---
{apiVersion: v1, kind: Node, metadata: {}}
---
{apiVersion: v1, kind: Namespace, metadata: {}}
---
{apiVersion: networking.istio.io/v1, kind: ServiceEntry, metadata: {name: e, namespace: b}, spec: {}}
---
{apiVersion: networking.istio.io/v1, kind: ServiceEntry, metadata: {name: f, namespace: b}, spec: {hosts: ['', x], workloadSelector: {}, resolution: DNS}}
---
{apiVersion: networking.istio.io/v1, kind: WorkloadEntry, metadata: {name: w, namespace: b}, spec: {ports: {a: 4000000000}, weight: 4294967295}}
",
    );
    let mesh = store.snapshot();
    assert_eq!(mesh.problems.len(), 2, "{:?}", mesh.problems);
    assert_eq!(targets(&mesh, &mk_proxy("p.b", "1.1.1.1", &json!({}))), "a.b.svc.cluster.local:2->2");
}
