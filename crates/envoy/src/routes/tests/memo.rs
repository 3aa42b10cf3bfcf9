use super::{World, clusters, host, service, sidecar, to, virtual_service};
use serde_json::json;
use std::sync::Arc;

const MANY: usize = 50;

fn mesh() -> World {
    let mut objects = String::new();
    for number in 0..MANY {
        let name = format!("s{number}");
        objects += &service(&name, "ns", &format!("10.1.0.{number}"), &[("http", 80), ("", 70)]);
        objects += &virtual_service(&name, "ns", &json!({"hosts": [name], "http": to(&name)}));
    }
    World::new(&objects)
}

fn changed(number: usize, host: &str) -> String {
    let name = format!("s{number}");
    virtual_service(&name, "ns", &json!({"hosts": [name], "http": to(host)}))
}

#[test]
fn one_changed_virtual_service_encodes_one_host() {
    let mut world = mesh();
    let old = world.resource(&sidecar("ns"), "80");
    let (hosts, routes) = (world.memo.routes.hosts.len(), world.memo.routes.routes.len());
    assert_eq!((hosts, routes), (MANY + 1, MANY));
    world.apply(&changed(7, "s8"));
    let new = world.ask(&sidecar("ns"), "80");
    assert_eq!(clusters(host(&new, "s7.ns.svc.cluster.local:80")), ["outbound|80||s8.ns.svc.cluster.local"]);
    assert_eq!((world.memo.routes.hosts.len(), world.memo.routes.routes.len()), (hosts + 1, routes + 1));
    assert_ne!(old.body(), world.resource(&sidecar("ns"), "80").body());
}

#[test]
fn namespaces_share_the_hosts_of_all_others() {
    let mut world = mesh();
    world.apply(&service("near", "one", "10.2.0.1", &[("http", 80)]));
    let first = world.ask(&sidecar("one"), "80");
    let hosts = world.memo.routes.hosts.len();
    let second = world.ask(&sidecar("two"), "80");
    let domains = |of: &_, name: &str| host(of, name).domains.clone();
    // `near` has a short name in its own namespace, and the rest is each environment's.
    assert_eq!(world.memo.routes.hosts.len(), hosts + 2);
    let (near, far) = ("near.one.svc.cluster.local:80", "s7.ns.svc.cluster.local:80");
    assert!(domains(&first, near).contains(&"near".to_owned()));
    assert!(!domains(&second, near).contains(&"near".to_owned()));
    assert_eq!(domains(&first, far), domains(&second, far));
    assert!(domains(&first, far).contains(&"s7.ns".to_owned()));
}

#[test]
fn what_is_the_same_is_the_very_same() {
    let mut world = mesh();
    let proxy = sidecar("ns");
    let whole = world.resource(&proxy, "80");
    let name = |number: usize| format!("s{number}.ns.svc.cluster.local:70");
    let one = world.resource(&proxy, &name(1));
    let seven = world.resource(&proxy, &name(7));
    world.apply(&service("elsewhere", "ns", "10.2.0.1", &[("http", 81)]));
    assert!(Arc::ptr_eq(&whole, &world.resource(&proxy, "80")));
    world.apply(&changed(7, "s8"));
    assert!(Arc::ptr_eq(&one, &world.resource(&proxy, &name(1))));
    assert!(!Arc::ptr_eq(&seven, &world.resource(&proxy, &name(7))));
    assert!(!Arc::ptr_eq(&whole, &world.resource(&proxy, "80")));
}

#[test]
fn parts_stay_as_long_as_somebody_has_what_is_made_of_them() {
    let mut world = mesh();
    let proxy = sidecar("ns");
    let mut held = world.resource(&proxy, "80");
    for _ in 0..3 {
        world.memo.sweep();
    }
    let routes = &world.memo.routes;
    assert_eq!((routes.hosts.len(), routes.routes.len(), routes.outlines.len()), (MANY + 1, MANY, MANY));
    world.apply(&changed(7, "s8"));
    held = {
        drop(held);
        world.resource(&proxy, "80")
    };
    world.memo.sweep();
    let routes = &world.memo.routes;
    assert_eq!((routes.hosts.len(), routes.routes.len(), routes.outlines.len()), (MANY + 1, MANY, MANY));
    assert_eq!((routes.configurations.len(), routes.assemblies.len(), routes.listings.len()), (1, 1, 1));
    drop(held);
    world.memo.sweep();
    let routes = &world.memo.routes;
    let left = [
        routes.configurations.len(),
        routes.assemblies.len(),
        routes.listings.len(),
        routes.hosts.len(),
        routes.routes.len(),
        routes.outlines.len(),
        routes.environments.len(),
    ];
    assert_eq!(left, [0; 7]);
}

#[test]
fn a_warm_memo_gives_the_bytes_of_a_cold_one() {
    let mut warm = mesh();
    for number in [3, 5, 3] {
        warm.resource(&sidecar("ns"), "80");
        warm.apply(&changed(number, &format!("s{}", number + 1)));
    }
    let mut cold = mesh();
    cold.apply(&changed(3, "s4"));
    cold.apply(&changed(5, "s6"));
    for name in ["80", "70", "s3.ns.svc.cluster.local:70", "http_proxy"] {
        assert_eq!(
            warm.resource(&sidecar("ns"), name).body(),
            cold.resource(&sidecar("ns"), name).body(),
            "{name}"
        );
    }
}
