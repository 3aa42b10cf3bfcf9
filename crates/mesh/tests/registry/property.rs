//! After any events the snapshot is the one that a cold start makes of the objects that are there, and what did not
//! change is the same as before, not only equal.

use crate::mk_proxy;
use mizzen_mesh::{Event, Key, Settings, Snapshot, Store};
use serde_json::{Value, json};
use std::{collections::BTreeMap, sync::Arc};

/// Numbers that are the same in every run.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % sides
    }

    fn one<'a, T: ?Sized>(&mut self, of: &[&'a T]) -> &'a T {
        let index = self.roll(of.len() as u64);
        of[usize::try_from(index).unwrap()]
    }

    fn some<T: Clone>(&mut self, of: &[T]) -> Vec<T> {
        of.iter().filter(|_| self.roll(2) == 0).cloned().collect()
    }
}

const NAMESPACES: [&str; 2] = ["a", "b"];
const ADDRESSES: [&str; 4] = ["10.0.0.1", "10.0.0.2", "10.0.0.3", "fd00::1"];

fn mk_metadata(dice: &mut Dice, name: &str, namespace: &str, labels: &Value) -> Value {
    let age = dice.roll(3);
    json!({
        "name": name, "namespace": namespace, "labels": labels, "generateName": "x-",
        "creationTimestamp": format!("2026-01-01T00:00:0{age}Z"),
    })
}

fn mk_labels(dice: &mut Dice) -> Value {
    match dice.roll(4) {
        0 => json!({"app": "x"}),
        1 => json!({"app": "x", "version": "v1"}),
        2 => json!({"app": "y", "topology.istio.io/network": "n"}),
        _ => json!({}),
    }
}

fn mk_service(dice: &mut Dice) -> Value {
    let (name, namespace) = (dice.one(&["s", "t"]), dice.one(&NAMESPACES));
    let ip = dice.one(&["10.9.0.1", "None", ""]);
    let target = dice.one(&[&json!("web"), &json!(8080), &Value::Null]).clone();
    json!({
        "apiVersion": "v1", "kind": "Service", "metadata": mk_metadata(dice, name, namespace, &json!({})),
        "spec": {"clusterIP": ip, "selector": mk_labels(dice), "ports": [
            {"name": dice.one(&["http", "tcp"]), "port": 80, "targetPort": target}, {"name": "b", "port": 81},
        ]},
    })
}

fn mk_slice(dice: &mut Dice) -> Value {
    let (name, namespace) = (dice.one(&["1", "2", "3"]), dice.one(&NAMESPACES));
    let labels = json!({"kubernetes.io/service-name": dice.one(&["s", "t"])});
    let endpoint = |dice: &mut Dice, address: &&str| {
        let target = match dice.roll(2) {
            0 => json!({"kind": "Pod", "name": dice.one(&["p", "q"]), "namespace": namespace}),
            _ => Value::Null,
        };
        json!({"addresses": [address], "conditions": {"ready": dice.roll(2) == 0}, "targetRef": target})
    };
    let endpoints: Vec<Value> = ADDRESSES.iter().map(|address| endpoint(dice, address)).collect();
    json!({
        "apiVersion": "discovery.k8s.io/v1", "kind": "EndpointSlice", "addressType": "IPv4",
        "metadata": mk_metadata(dice, name, namespace, &labels),
        "endpoints": dice.some(&endpoints), "ports": [{"name": "http", "port": 8080}, {"name": "b", "port": 81}],
    })
}

fn mk_pod(dice: &mut Dice) -> Value {
    let (name, namespace) = (dice.one(&["p", "q"]), dice.one(&NAMESPACES));
    let labels = mk_labels(dice);
    json!({
        "apiVersion": "v1", "kind": "Pod", "metadata": mk_metadata(dice, name, namespace, &labels),
        "spec": {
            "nodeName": dice.one(&["one", "two"]), "serviceAccountName": dice.one(&["s", "t"]),
            "containers": [{"ports": [{"name": dice.one(&["web", "other"]), "containerPort": 7000}]}],
        },
        "status": {
            "phase": dice.one(&["Running", "Running", "Failed"]), "podIP": dice.one(&ADDRESSES),
            "conditions": [{"type": "Ready", "status": dice.one(&["True", "False"])}],
        },
    })
}

fn mk_node(dice: &mut Dice) -> Value {
    let labels = json!({"topology.kubernetes.io/region": dice.one(&["r", "s", ""])});
    json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": dice.one(&["one", "two"]), "labels": labels}})
}

fn mk_namespace(dice: &mut Dice) -> Value {
    json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {
        "name": dice.one(&["a", "b", "istio-system"]), "labels": mk_labels(dice),
        "annotations": {"networking.istio.io/traffic-distribution": dice.one(&["PreferClose", "no"])},
    }})
}

fn mk_machine(dice: &mut Dice) -> Value {
    let (name, namespace) = (dice.one(&["m", "n"]), dice.one(&NAMESPACES));
    let labels = mk_labels(dice);
    json!({
        "apiVersion": "networking.istio.io/v1", "kind": "WorkloadEntry",
        "metadata": mk_metadata(dice, name, namespace, &labels),
        "spec": {"address": dice.one(&["10.0.0.1", "10.0.0.9", "vm.com", ""]), "ports": {"http": 7001}},
    })
}

fn mk_entry(dice: &mut Dice) -> Value {
    let (name, namespace) = (dice.one(&["e", "f"]), dice.one(&NAMESPACES));
    let mut spec = json!({
        "hosts": [dice.one(&["one.com", "two.com", "s.a.svc.cluster.local"]), "three.com"],
        "addresses": dice.some(&["192.0.2.1", "192.0.2.2"]),
        "ports": [{"name": "http", "number": 80, "protocol": dice.one(&["HTTP", "TCP"])}],
        "resolution": dice.one(&["NONE", "STATIC", "DNS", "DNS_ROUND_ROBIN"]),
    });
    match dice.roll(3) {
        0 => spec["workloadSelector"] = json!({"labels": mk_labels(dice)}),
        1 => spec["endpoints"] = json!([{"address": "10.0.0.2"}, {"address": "10.0.0.3"}]),
        _ => {}
    }
    json!({
        "apiVersion": "networking.istio.io/v1", "kind": "ServiceEntry",
        "metadata": mk_metadata(dice, name, namespace, &json!({})), "spec": spec,
    })
}

fn mk_object(dice: &mut Dice) -> Event {
    let object = match dice.roll(20) {
        0..4 => mk_service(dice),
        4..9 => mk_slice(dice),
        9..14 => mk_pod(dice),
        14 => mk_node(dice),
        15 => mk_namespace(dice),
        16 | 17 => mk_machine(dice),
        _ => mk_entry(dice),
    };
    Event::read(&object).unwrap()
}

fn mk_settings(dice: &mut Dice) -> Settings {
    let mut mesh = mizzen_api::mesh::mesh_config();
    mesh.trust_domain = dice.one(&["cluster.local", "td"]).to_owned();
    Settings {
        mesh: Arc::new(mesh),
        domain: dice.one(&["cluster.local", "own"]).into(),
        ..Settings::default()
    }
}

/// What can be seen of a snapshot.
fn seen(mesh: &Snapshot) -> BTreeMap<String, String> {
    let mut seen = BTreeMap::new();
    for (index, service) in mesh.services.all.iter().enumerate() {
        seen.insert(format!("service {index}"), format!("{service:?}"));
    }
    for (key, endpoints) in mesh.endpoints.iter() {
        seen.insert(format!("endpoints {key:?}"), format!("{endpoints:?}"));
    }
    for name in ["p.a", "q.a", "p.b", "q.b", "m.a", "n.b", "new.a"] {
        for ip in ["10.0.0.1", "10.0.0.9", "fd00::1"] {
            let proxy = mk_proxy(name, ip, &json!({"LABELS": {"app": "x"}}));
            let attributes = mesh.attributes(&proxy);
            let known =
                (attributes.targets(), attributes.labels(), attributes.locality(), mesh.workloads.of(&proxy));
            seen.insert(format!("proxy {name} {ip}"), format!("{known:?}"));
        }
    }
    seen.insert("problems".to_owned(), format!("{:?}", mesh.problems));
    seen
}

fn assert_kept(old: &Snapshot, new: &Snapshot) {
    for (key, now) in new.endpoints.iter() {
        let Some(before) = old.endpoints_of(key) else { continue };
        assert!(
            Arc::ptr_eq(before, now) || before != now,
            "the endpoints of {key:?} are equal but not the same"
        );
        assert!(Arc::ptr_eq(&before.accounts, &now.accounts) || before.accounts != now.accounts, "{key:?}");
    }
    for now in &new.services.all {
        let before = old.services.by_host.get(&now.key.host).into_iter().flatten();
        let equal: Vec<_> = before.filter(|before| *before == now).collect();
        assert!(equal.is_empty() || equal.iter().any(|before| Arc::ptr_eq(before, now)), "{:?}", now.key);
    }
    let same = |old: &Snapshot, new: &Snapshot| {
        (old.services.all == new.services.all, old.endpoints == new.endpoints)
    };
    let kept = (Arc::ptr_eq(&old.services, &new.services), Arc::ptr_eq(&old.endpoints, &new.endpoints));
    assert_eq!(same(old, new), kept);
}

#[test]
fn an_updated_snapshot_is_that_of_a_cold_start() {
    for seed in 0..20 {
        let dice = &mut Dice(seed);
        let mut settings = Settings::default();
        let mut store = Store::new(settings.clone());
        let mut there: BTreeMap<Key, Event> = BTreeMap::new();
        let mut last = store.snapshot();
        for step in 0..40 {
            for _ in 0..=dice.roll(3) {
                let event = match dice.roll(30) {
                    0 => {
                        settings = mk_settings(dice);
                        Event::Settings(Box::new(settings.clone()))
                    }
                    1..8 if !there.is_empty() => {
                        let index = usize::try_from(dice.roll(there.len() as u64)).unwrap();
                        let key = there.keys().nth(index).unwrap().clone();
                        there.remove(&key);
                        Event::Gone(key)
                    }
                    _ => {
                        let event = mk_object(dice);
                        there.insert(event.key().unwrap(), event.clone());
                        event
                    }
                };
                store.apply(event);
            }
            let next = store.snapshot();
            let mut cold = Store::new(settings.clone());
            let mut events: Vec<&Event> = there.values().collect();
            while !events.is_empty() {
                let index = usize::try_from(dice.roll(events.len() as u64)).unwrap();
                cold.apply(events.swap_remove(index).clone());
            }
            let (incremental, cold) = (seen(&next), seen(&cold.snapshot()));
            for (what, value) in &cold {
                assert_eq!(incremental.get(what), Some(value), "seed {seed}, step {step}: {what}");
            }
            assert_eq!(incremental.len(), cold.len(), "seed {seed}, step {step}");
            assert_kept(&last, &next);
            last = next;
        }
    }
}
