//! Events that come one after another.

use crate::{
    CART, CART_POD, ENTRY, MACHINE, apply, endpoints, mk_mesh, mk_proxy, mk_store, places, service, targets,
};
use mizzen_mesh::{Event, Key, KeyKind, Settings, TlsMode, TrafficDistribution, Visibility};
use serde_json::json;
use std::sync::Arc;

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
