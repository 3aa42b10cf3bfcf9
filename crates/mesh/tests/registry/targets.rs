//! What a proxy serves, and workloads that are selected.

use crate::{CART, CART_POD, MACHINE, apply, mk_mesh, mk_proxy, mk_store, places, targets};
use serde_json::{Value, json};

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
