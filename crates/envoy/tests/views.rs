//! Over random histories: a view that proxies share is what each would get alone, and what came about step by step is
//! what a cold start would give.

use mizzen_envoy::views::{Client, Factory, Generation};
use mizzen_mesh::{Event, Key, Node, Proxy, Settings, Store};
use mizzen_xds::{ResourceSet, Subscription, Type};
use serde_json::{Value, json};
use std::{collections::BTreeMap, sync::Arc, time::Instant};

/// Small numbers from a seed: the same every time.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % sides
    }

    fn pick<'a>(&mut self, of: &[&'a str]) -> &'a str {
        of[usize::try_from(self.roll(of.len() as u64)).unwrap_or(0)]
    }
}

const NAMESPACES: [&str; 3] = ["one", "two", "istio-system"];
const SERVICES: [&str; 4] = ["a", "b", "c", "d"];

/// Some object, new or in the place of one that is there.
fn object(dice: &mut Dice) -> Value {
    let (namespace, name) = (dice.pick(&NAMESPACES), dice.pick(&SERVICES));
    let host = format!("{}.{}.svc.cluster.local", dice.pick(&SERVICES), dice.pick(&NAMESPACES));
    let metadata =
        json!({ "name": name, "namespace": namespace, "creationTimestamp": "2026-01-01T00:00:00Z" });
    let istio = |kind: &str, spec: Value| {
        let group = if kind == "PeerAuthentication" { "security" } else { "networking" };
        json!({ "apiVersion": format!("{group}.istio.io/v1"), "kind": kind, "metadata": metadata, "spec": spec })
    };
    match dice.roll(10) {
        0 | 1 => {
            let protocol = dice.pick(&["http", "tcp", "grpc", "unknown"]);
            let address = format!("10.96.{}.{}", namespace.len(), name.as_bytes()[0]);
            json!({ "apiVersion": "v1", "kind": "Service", "metadata": metadata, "spec": {
                "clusterIP": if dice.roll(5) == 0 { "None" } else { &address }, "selector": { "app": name },
                "ports": [{ "name": protocol, "port": 80 + dice.roll(2), "targetPort": 8080 }] } })
        }
        2..=4 => {
            let endpoints: Vec<Value> = (0..dice.roll(4))
                .map(|number| {
                    json!({ "addresses": [format!("10.1.{}.{number}", name.as_bytes()[0])], "conditions": { "ready": true },
                        "targetRef": { "kind": "Pod", "name": format!("{name}-{number}"), "namespace": namespace } })
                })
                .collect();
            let mut slice = json!({ "apiVersion": "discovery.k8s.io/v1", "kind": "EndpointSlice", "addressType": "IPv4",
                "metadata": metadata, "endpoints": endpoints });
            slice["metadata"]["labels"] = json!({ "kubernetes.io/service-name": name });
            slice["ports"] = ["http", "tcp", "grpc", "unknown"]
                .iter()
                .map(|name| json!({ "name": name, "port": 8080 }))
                .collect();
            slice
        }
        5 => {
            let number = dice.roll(4);
            json!({ "apiVersion": "v1", "kind": "Pod",
                "metadata": { "name": format!("{name}-{number}"), "namespace": namespace, "labels": {
                    "app": name, "version": dice.pick(&["v1", "v2"]), "security.istio.io/tlsMode": "istio" } },
                "spec": { "serviceAccountName": dice.pick(&["x", "y"]), "nodeName": "n" },
                "status": { "phase": "Running", "podIP": format!("10.1.{}.{number}", name.as_bytes()[0]) } })
        }
        6 => istio(
            "VirtualService",
            json!({
            "hosts": [host], "exportTo": [dice.pick(&["*", "."])],
            "http": [{ "match": [{ "uri": { "prefix": format!("/{}", dice.roll(3)) }, "sourceLabels": { "app": dice.pick(&SERVICES) } }],
                "route": [{ "destination": { "host": host, "subset": "v1" } }] }, { "route": [{ "destination": { "host": host } }] }],
            "tcp": [{ "route": [{ "destination": { "host": host } }] }] }),
        ),
        7 => istio(
            "DestinationRule",
            json!({
            "host": host, "exportTo": [dice.pick(&["*", "."])],
            "trafficPolicy": { "outlierDetection": { "consecutive5xxErrors": dice.roll(5) + 1 },
                "loadBalancer": { "localityLbSetting": { "enabled": dice.roll(2) == 0 } } },
            "subsets": [{ "name": "v1", "labels": { "version": "v1" } }] }),
        ),
        8 => istio(
            "PeerAuthentication",
            json!({ "mtls": { "mode": dice.pick(&["STRICT", "DISABLE", "PERMISSIVE"]) } }),
        ),
        _ => istio(
            "ServiceEntry",
            json!({
            "hosts": [format!("{name}.example.com")], "location": "MESH_EXTERNAL",
            "resolution": dice.pick(&["DNS", "NONE"]), "ports": [{ "number": 80, "name": "http", "protocol": "HTTP" }] }),
        ),
    }
}

fn key(document: &Value) -> Option<Key> {
    Event::read(document).ok()?.key()
}

fn proxies() -> Vec<Client> {
    let proxy = |kind: &str, app: &str, number: u8, namespace: &str, region: &str| {
        let metadata =
            json!({ "NAMESPACE": namespace, "CLUSTER_ID": "Kubernetes", "LABELS": { "app": app } });
        let address = format!("10.1.{}.{number}", app.as_bytes()[0]);
        let node = Node {
            id: format!("{kind}~{address}~{app}-{number}.{namespace}~{namespace}.svc.cluster.local"),
            metadata: metadata.as_object().cloned().unwrap_or_default(),
            locality: mizzen_mesh::Locality::parse(region),
        };
        Proxy::read(node).map(|proxy| Client::new(Arc::new(proxy)))
    };
    let all = [
        proxy("sidecar", "a", 0, "one", "r/1"),
        proxy("sidecar", "a", 1, "one", "r/1"),
        proxy("sidecar", "a", 2, "two", "r/2"),
        proxy("sidecar", "b", 0, "one", "r/1"),
        proxy("sidecar", "b", 0, "two", ""),
        proxy("router", "c", 0, "istio-system", ""),
    ];
    all.into_iter().flatten().collect()
}

fn content(set: &ResourceSet) -> BTreeMap<String, bytes::Bytes> {
    set.resources().iter().map(|one| (one.name().to_string(), one.body().clone())).collect()
}

/// What a proxy is subscribed to after it has seen its clusters and listeners; all names of routes that there may be.
fn subscriptions(generation: &Generation, proxy: &Client) -> Vec<(Type, Subscription)> {
    let clusters = generation.build(proxy, &Type::Cluster, &Subscription::everything());
    let names = clusters.resources().iter().map(|one| Arc::clone(one.name()));
    let endpoints = Subscription::to(names.filter(|name| name.starts_with("outbound|")));
    let hosts = SERVICES.iter().flat_map(|name| {
        NAMESPACES.iter().flat_map(move |namespace| {
            [80, 81].map(|port| format!("{name}.{namespace}.svc.cluster.local:{port}"))
        })
    });
    let routes = Subscription::to(hosts.chain(["80".to_owned(), "81".to_owned(), "http.80".to_owned()]));
    vec![
        (Type::Cluster, Subscription::everything()),
        (Type::Endpoints, endpoints),
        (Type::Listener, Subscription::everything()),
        (Type::Route, routes),
    ]
}

#[test]
fn what_is_shared_and_kept_is_what_each_proxy_would_get_alone_from_a_cold_start() {
    let proxies = proxies();
    assert_eq!(proxies.len(), 6);
    let mut compared = 0;
    for seed in 1..=12_u64 {
        let mut dice = Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let mut there: BTreeMap<Key, Value> = BTreeMap::new();
        let mut store = Store::new(Settings::default());
        let first = store.snapshot();
        let mut generation = Generation::first(Arc::new(Factory::default()), first, Instant::now());
        for step in 0..25 {
            for _ in 0..=dice.roll(3) {
                let document = object(&mut dice);
                let Some(key) = key(&document) else { panic!("{document}") };
                if dice.roll(4) == 0 {
                    there.remove(&key);
                    store.apply(Event::Gone(key));
                } else {
                    store.apply(Event::read(&document).unwrap_or_else(|error| panic!("{error}: {document}")));
                    there.insert(key, document);
                }
            }
            generation = generation.next(store.snapshot(), Instant::now());
            let mut cold = Store::new(Settings::default());
            for document in there.values() {
                cold.apply(Event::read(document).unwrap_or_else(|error| panic!("{error}: {document}")));
            }
            let cold = Generation::first(Arc::new(Factory::default()), cold.snapshot(), Instant::now());
            for proxy in &proxies {
                for (kind, subscription) in subscriptions(&generation, proxy) {
                    let shared = content(&generation.build(proxy, &kind, &subscription));
                    let place = format!("seed {seed}, step {step}, {} {kind:?}", proxy.proxy().id);
                    assert_eq!(
                        shared,
                        content(&generation.alone(proxy.proxy(), &kind, &subscription)),
                        "alone: {place}"
                    );
                    assert_eq!(
                        shared,
                        content(&cold.build(&Client::new(Arc::clone(proxy.proxy())), &kind, &subscription)),
                        "cold: {place}"
                    );
                    compared += shared.len();
                }
            }
        }
    }
    assert!(compared > 10_000, "only {compared} resources were compared");
}

fn service(name: &str) -> Event {
    let service = json!({ "apiVersion": "v1", "kind": "Service", "metadata": { "name": name, "namespace": "one" },
        "spec": { "clusterIP": "10.96.0.1", "selector": { "app": name }, "ports": [{ "name": "http", "port": 80 }] } });
    Event::read(&service).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn what_a_proxy_has_is_built_for_the_next_generation_and_what_nobody_has_is_not() {
    let mut store = Store::new(Settings::default());
    store.apply(service("a"));
    let first = Generation::first(Arc::new(Factory::default()), store.snapshot(), Instant::now());
    let (kind, everything) = (Type::Cluster, Subscription::everything());
    let mut proxies = proxies();
    let (stays, goes) = (proxies.remove(0), proxies.pop().unwrap_or_else(|| panic!("no router")));
    first.build(&stays, &kind, &everything);
    first.build(&goes, &kind, &everything);
    assert_eq!(first.views(), 2);
    drop(goes);
    store.apply(service("b"));
    let next = first.next(store.snapshot(), Instant::now());
    assert_eq!(next.views(), 1);
    let set = next.ready(&stays, &kind, &everything).unwrap_or_else(|| panic!("it was not built"));
    assert!(set.get("outbound|80||b.one.svc.cluster.local").is_some());
}

#[test]
fn a_quiet_mesh_does_not_keep_what_was_once_asked_for() {
    let mut store = Store::new(Settings::default());
    store.apply(service("a"));
    let generation = Generation::first(Arc::new(Factory::default()), store.snapshot(), Instant::now());
    let all = proxies();
    for number in 0..1_000 {
        let names = [format!("outbound|{number}||a.one.svc.cluster.local")];
        generation.build(&all[0], &Type::Endpoints, &Subscription::to(names));
    }
    assert!(generation.views() < 32, "{}", generation.views());
    // Nor of those that have come and gone.
    for number in 0..1_000 {
        let metadata = json!({ "NAMESPACE": "one", "IDLE_TIMEOUT": format!("{number}s") });
        let node = Node {
            id: format!("sidecar~10.1.97.0~x-{number}.one~one.svc.cluster.local"),
            metadata: metadata.as_object().cloned().unwrap_or_default(),
            locality: mizzen_mesh::Locality::default(),
        };
        let client = Client::new(Arc::new(Proxy::read(node).unwrap_or_else(|error| panic!("{error}"))));
        generation.build(&client, &Type::Listener, &Subscription::everything());
    }
    assert!((100..200).contains(&generation.views()), "{}", generation.views());
}

#[test]
fn proxies_of_one_deployment_share_their_views() {
    let mut store = Store::new(Settings::default());
    for name in SERVICES {
        store.apply(service(name));
    }
    let generation = Generation::first(Arc::new(Factory::default()), store.snapshot(), Instant::now());
    let sets = |proxy: &Client| {
        subscriptions(&generation, proxy)
            .into_iter()
            .map(|(kind, names)| generation.build(proxy, &kind, &names))
            .collect::<Vec<_>>()
    };
    let proxies = proxies();
    for (one, other) in sets(&proxies[0]).iter().zip(sets(&proxies[1])) {
        assert!(Arc::ptr_eq(one, &other), "{:?}", one.kind());
    }
}
