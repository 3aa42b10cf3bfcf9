//! After any events, what was kept up to date equals what is made anew, and whatever is equal to what was before is the very same.

use crate::mesh::{documents, http, l4, proxy, settings};
use mizzen_mesh::{
    Event, Key, ProxyKind, Service, Settings, Snapshot, Store,
    config::{DestinationRule, L4Routes, Merged, MtlsMode, VirtualService},
};
use proptest::prelude::*;
use serde_json::json;
use std::{collections::BTreeMap, sync::Arc};

const NAMESPACES: [&str; 4] = ["a", "b", "c", "istio-system"];

/// Several versions of each of some objects, which meet in names, hosts, delegates and exports.
fn objects() -> Vec<Event> {
    let mut yaml = String::new();
    let mut add = |api: &str, kind: &str, namespace: &str, name: &str, day: usize, spec: &str| {
        yaml += &format!(
            "---\napiVersion: {api}\nkind: {kind}\nmetadata: {{name: {name}, namespace: {namespace}, creationTimestamp: '2024-01-{day:02}T00:00:00Z'}}\nspec: {spec}\n"
        );
    };
    let networking = "networking.istio.io/v1";
    let exports =
        ["", "exportTo: [.]", "exportTo: [a]", "exportTo: [., b]", "exportTo: ['*']", "exportTo: ['~']"];
    let hosts = ["s", "s.a.svc.cluster.local", "'*.svc.cluster.local'", "x.com", "'*.com'", "'*'"];
    for (at, namespace) in NAMESPACES.into_iter().enumerate() {
        for (day, export) in exports.into_iter().enumerate() {
            let host = hosts[(at + day) % hosts.len()];
            let other = hosts[(at * 2 + day) % hosts.len()];
            let day = day % 3 + 1;
            let to = "route: [{destination: {host: s}}]";
            for name in ["one", "two"] {
                let spec =
                    format!("{{host: {host}, subsets: [{{name: {name}}}, {{name: v{day}}}], {export}}}");
                add(networking, "DestinationRule", namespace, name, day, &spec);
                let http = format!("http: [{{name: {name}{day}, {to}}}]");
                add(
                    networking,
                    "VirtualService",
                    namespace,
                    name,
                    day,
                    &format!("{{hosts: [{other}], {http}, {export}}}"),
                );
                let tcp = format!("tcp: [{{match: [{{port: {day}}}], {to}}}]");
                add(
                    networking,
                    "VirtualService",
                    namespace,
                    name,
                    day,
                    &format!("{{hosts: [{host}], {http}, {tcp}, gateways: [mesh, c/in]}}"),
                );
                let entry = format!(
                    "{{hosts: [x.com, {name}.com], resolution: DNS, ports: [{{number: 8{day}, name: h, protocol: HTTP}}], {export}}}"
                );
                add(networking, "ServiceEntry", namespace, name, day, &entry);
            }
            let select = format!(
                "{{host: {host}, workloadSelector: {{matchLabels: {{app: web}}}}, subsets: [{{name: w{day}}}]}}"
            );
            add(networking, "DestinationRule", namespace, "some", day, &select);
            let part = format!("{{http: [{{match: [{{uri: {{prefix: /a/{day}}}}}], {to}}}], {export}}}");
            add(networking, "VirtualService", namespace, "part", day, &part);
            let delegate = format!("delegate: {{name: part, namespace: {}}}", NAMESPACES[day % 4]);
            let root = format!(
                "{{hosts: [{host}], http: [{{match: [{{uri: {{prefix: /a}}}}], {delegate}}}, {{{to}}}]}}"
            );
            add(networking, "VirtualService", namespace, "root", day, &root);
            let mode = ["STRICT", "DISABLE", "UNSET"][day - 1];
            add(
                "security.istio.io/v1",
                "PeerAuthentication",
                namespace,
                "p",
                day,
                &format!("{{mtls: {{mode: {mode}}}}}"),
            );
            let web = format!(
                "{{selector: {{matchLabels: {{app: web}}}}, portLevelMtls: {{8{day}: {{mode: {mode}}}}}}}"
            );
            add("security.istio.io/v1", "PeerAuthentication", namespace, "web", day, &web);
            let server = format!("{{port: {{number: 8{day}, name: h, protocol: HTTP}}, hosts: [{other}]}}");
            add(
                networking,
                "Gateway",
                namespace,
                "in",
                day,
                &format!("{{selector: {{app: web}}, servers: [{server}]}}"),
            );
            add(
                "v1",
                "Service",
                namespace,
                "s",
                day,
                &format!("{{clusterIP: 10.0.0.{day}, ports: [{{name: http, port: 8{day}}}]}}"),
            );
        }
    }
    documents(&yaml).iter().map(|document| Event::read(document).unwrap()).collect()
}

#[derive(Clone, Debug)]
enum Step {
    Set(usize),
    Delete(usize),
    Break(usize),
    Settings(usize),
}

fn steps(count: usize) -> impl Strategy<Value = Vec<Vec<Step>>> {
    let step = prop_oneof![
        12 => (0..count).prop_map(Step::Set),
        4 => (0..count).prop_map(Step::Delete),
        1 => (0..count).prop_map(Step::Break),
        1 => (0..3_usize).prop_map(Step::Settings),
    ];
    prop::collection::vec(prop::collection::vec(step, 1..4), 1..30)
}

fn meshes() -> [Settings; 3] {
    [
        Settings::default(),
        settings(
            "{defaultVirtualServiceExportTo: [.], defaultDestinationRuleExportTo: [.], defaultServiceExportTo: [.]}",
        ),
        settings("rootNamespace: c"),
    ]
}

/// A service with its rules.
type Ruled = (Arc<Service>, Vec<Arc<DestinationRule>>);

/// All that proxies can see, by value and by pointer.
#[derive(Default)]
struct Seen {
    services: BTreeMap<(&'static str, bool), Vec<Ruled>>,
    offered: BTreeMap<(&'static str, bool), Vec<Arc<Service>>>,
    http: BTreeMap<(&'static str, &'static str), Vec<Arc<VirtualService>>>,
    l4: BTreeMap<(&'static str, &'static str), Vec<Arc<L4Routes>>>,
    modes: Vec<MtlsMode>,
    gateways: Vec<Merged>,
    problems: Vec<String>,
}

fn look(snapshot: &Snapshot) -> Seen {
    let mut seen = Seen {
        problems: snapshot
            .problems
            .iter()
            .map(|problem| format!("{} {}", problem.key, problem.reason))
            .collect(),
        ..Seen::default()
    };
    for name in NAMESPACES {
        let namespace: Arc<str> = name.into();
        for kind in [ProxyKind::Sidecar, ProxyKind::Router] {
            let scope = snapshot.scope(kind, &namespace);
            let router = kind == ProxyKind::Router;
            let services =
                scope.services().iter().map(|visible| (Arc::clone(&visible.service), visible.rules.to_vec()));
            seen.services.insert((name, router), services.collect());
            let offered = scope.offered().iter().map(|visible| Arc::clone(&visible.service));
            seen.offered.insert((name, router), offered.collect());
        }
        seen.http.insert((name, "mesh"), http(snapshot, name).list.clone());
        seen.l4.insert((name, "mesh"), l4(snapshot, name).list.clone());
        seen.http.insert((name, "c/in"), snapshot.virtual_services.for_gateway("c/in", name));
        seen.l4.insert((name, "c/in"), snapshot.virtual_services.l4_for_gateway("c/in", name));
        let web = [("app".into(), "web".into())].into();
        for port in [80, 81, 82, 83] {
            seen.modes.push(snapshot.authentication.of_workload(name, &web, port));
        }
        seen.modes.push(snapshot.authentication.of_namespace(name));
        let router = proxy(snapshot, "router", name, &json!({"app": "web"}));
        seen.gateways.push(snapshot.gateways.for_router(&router));
    }
    seen
}

fn assert_equal(kept: &Seen, anew: &Seen) {
    assert_eq!(kept.services, anew.services);
    assert_eq!(kept.offered, anew.offered);
    assert_eq!(kept.http, anew.http);
    assert_eq!(kept.l4, anew.l4);
    assert_eq!(kept.modes, anew.modes);
    assert_eq!(kept.gateways, anew.gateways);
    assert_eq!(kept.problems, anew.problems);
}

/// Every value that is in both is one.
fn assert_same<T: PartialEq + std::fmt::Debug>(old: &[Arc<T>], new: &[Arc<T>]) {
    for value in new {
        if let Some(before) = old.iter().find(|before| **before == *value) {
            assert!(
                old.iter().any(|before| Arc::ptr_eq(before, value)),
                "made again: {value:?}\nwas {before:?}"
            );
        }
    }
}

fn assert_kept(old: &Seen, new: &Seen) {
    for (key, services) in &new.services {
        let before = &old.services[key];
        let service =
            |list: &[Ruled]| list.iter().map(|(service, _)| Arc::clone(service)).collect::<Vec<_>>();
        assert_same(&service(before), &service(services));
        let rules = |list: &[Ruled]| list.iter().flat_map(|(_, rules)| rules).cloned().collect::<Vec<_>>();
        assert_same(&rules(before), &rules(services));
    }
    new.http.iter().for_each(|(key, list)| assert_same(&old.http[key], list));
    new.l4.iter().for_each(|(key, list)| assert_same(&old.l4[key], list));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

    #[test]
    fn a_kept_snapshot_equals_one_made_anew_and_keeps_what_is_equal(rounds in steps(objects().len())) {
        let objects = objects();
        let meshes = meshes();
        let mut store = Store::new(meshes[0].clone());
        let mut there: BTreeMap<Key, Event> = BTreeMap::new();
        let mut broken: BTreeMap<Key, Event> = BTreeMap::new();
        let mut mesh = 0;
        let mut before: Option<(Arc<Snapshot>, Seen)> = None;
        for round in rounds {
            let mut settled = true;
            for step in round {
                let event = match step {
                    Step::Set(at) => {
                        let key = objects[at].key().unwrap();
                        broken.remove(&key);
                        there.insert(key, objects[at].clone());
                        objects[at].clone()
                    }
                    Step::Delete(at) => {
                        let key = objects[at].key().unwrap();
                        broken.remove(&key);
                        there.remove(&key);
                        Event::Gone(key)
                    }
                    Step::Break(at) => {
                        let key = objects[at].key().unwrap();
                        let event = Event::Broken { key: key.clone(), reason: "broken".into() };
                        broken.insert(key, event.clone());
                        event
                    }
                    Step::Settings(at) => {
                        mesh = at;
                        settled = false;
                        Event::Settings(Box::new(meshes[at].clone()))
                    }
                };
                store.apply(event);
            }
            let snapshot = store.snapshot();
            let seen = look(&snapshot);
            let mut cold = Store::new(meshes[mesh].clone());
            there.values().chain(broken.values()).for_each(|event| cold.apply(event.clone()));
            assert_equal(&seen, &look(&cold.snapshot()));
            prop_assert!(Arc::ptr_eq(&snapshot, &store.snapshot()), "nothing happened, so nothing is new");
            if let Some((_, last)) = before.filter(|_| settled) {
                assert_kept(&last, &seen);
            }
            before = Some((snapshot, seen));
        }
    }
}
