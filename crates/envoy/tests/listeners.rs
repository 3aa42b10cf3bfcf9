//! What a proxy listens on, for small meshes.
#![allow(clippy::unwrap_used, reason = "a broken test may panic")]

mod support;

use mizzen_envoy::{Filters, listeners};
use serde_json::{Value, json};
use std::sync::Arc;
use support::{Mesh, Resources, mk_proxy, mk_sidecar};

/// A service with these ports (`name:port`), older the smaller `age` is.
fn mk_service(name: &str, address: &str, age: u32, ports: &[&str]) -> String {
    let ports: Vec<Value> = ports
        .iter()
        .map(|port| {
            let (name, number) = port.split_once(':').unwrap();
            json!({"name": name, "port": number.parse::<i64>().unwrap()})
        })
        .collect();
    let service = json!({
        "apiVersion": "v1", "kind": "Service",
        "metadata": {"name": name, "namespace": "default", "creationTimestamp": format!("2024-01-01T00:00:{age:02}Z")},
        "spec": {"clusterIP": address, "selector": {"app": name}, "ports": ports},
    });
    format!("---\n{service}\n")
}

fn mk_pod(name: &str, app: &str, address: &str) -> String {
    let pod = json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {"name": name, "namespace": "default", "labels": {"app": app}},
        "status": {"phase": "Running", "podIP": address, "podIPs": [{"ip": address}]},
    });
    format!("---\n{pod}\n")
}

fn mk_slice(service: &str, port: &str, addresses: &[&str]) -> String {
    let (name, number) = port.split_once(':').unwrap();
    let endpoints: Vec<Value> = addresses
        .iter()
        .map(|address| json!({"addresses": [address], "conditions": {"ready": true}}))
        .collect();
    let slice = json!({
        "apiVersion": "discovery.k8s.io/v1", "kind": "EndpointSlice", "addressType": "IPv4",
        "metadata": {"name": service, "namespace": "default", "labels": {"kubernetes.io/service-name": service}},
        "ports": [{"name": name, "port": number.parse::<i64>().unwrap(), "protocol": "TCP"}],
        "endpoints": endpoints,
    });
    format!("---\n{slice}\n")
}

fn names(listeners: &Resources) -> Vec<&str> {
    listeners.keys().map(String::as_str).filter(|name| !name.starts_with("virtual")).collect()
}

/// Where a chain leads: `http ROUTES`, `tcp CLUSTER`, `tcp CLUSTER*WEIGHT …`.
fn leads(chain: &Value) -> String {
    let filter = chain["filters"].as_array().unwrap().last().unwrap();
    let config = &filter["typedConfig"];
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    if let Some(routes) = config["rds"]["routeConfigName"].as_str() {
        return format!("http {routes}");
    }
    if !config["routeConfig"].is_null() {
        return format!("http {}", text(&config["routeConfig"]["name"]));
    }
    match config["weightedClusters"]["clusters"].as_array() {
        Some(clusters) => {
            let each = clusters.iter().map(|one| format!("{}*{}", text(&one["name"]), one["weight"]));
            format!("tcp {}", each.collect::<Vec<_>>().join(" "))
        }
        None => format!("tcp {}", text(&config["cluster"])),
    }
}

fn chains(listener: &Value) -> Vec<String> {
    let all = listener["filterChains"].as_array().into_iter().flatten();
    all.chain(Some(&listener["defaultFilterChain"]).filter(|chain| !chain.is_null())).map(leads).collect()
}

#[test]
fn http_services_of_a_port_share_a_listener_and_others_have_their_own() {
    let objects = mk_service("a", "10.0.0.1", 1, &["http:80", "tcp-raw:90", "guess:91"])
        + &mk_service("b", "10.0.0.2", 2, &["http2:80", "tls:443", "udp-dns:53"]);
    let listeners = Mesh::new(&objects).listeners(&mk_sidecar("10.1.0.1"));
    assert_eq!(names(&listeners), ["0.0.0.0_80", "10.0.0.1_90", "10.0.0.1_91", "10.0.0.2_443"]);
    assert_eq!(chains(&listeners["0.0.0.0_80"]), ["http 80", "tcp PassthroughCluster"]);
    assert_eq!(chains(&listeners["10.0.0.1_90"]), ["tcp outbound|90||a.default.svc.cluster.local"]);
    assert_eq!(
        chains(&listeners["10.0.0.1_91"]),
        ["http a.default.svc.cluster.local:91", "tcp outbound|91||a.default.svc.cluster.local"]
    );
}

#[test]
fn where_only_the_registry_is_allowed_unknown_traffic_goes_nowhere() {
    let objects = mk_service("a", "10.0.0.1", 1, &["http:80"]);
    let mut mesh = Mesh::with(&objects, "outboundTrafficPolicy: {mode: REGISTRY_ONLY}");
    let listeners = mesh.listeners(&mk_sidecar("10.1.0.1"));
    assert_eq!(chains(&listeners["0.0.0.0_80"]), ["http 80", "tcp BlackHoleCluster"]);
    assert_eq!(chains(&listeners["virtualOutbound"]), ["tcp BlackHoleCluster", "tcp BlackHoleCluster"]);
}

#[test]
fn of_two_services_that_cannot_be_told_apart_the_older_has_the_listener() {
    let entry = |name: &str, host: &str, protocol: &str, age: u32| {
        let entry = json!({
            "apiVersion": "networking.istio.io/v1", "kind": "ServiceEntry",
            "metadata": {"name": name, "namespace": "default", "creationTimestamp": format!("2024-01-01T00:00:{age:02}Z")},
            "spec": {"hosts": [host], "addresses": ["10.9.9.9"], "resolution": "STATIC",
                     "ports": [{"number": 70, "name": "x", "protocol": protocol}]},
        });
        format!("---\n{entry}\n")
    };
    let cases = [
        ("TCP", "TCP", vec!["tcp outbound|70||old.com"], 1),
        ("MONGO", "TCP", vec!["tcp outbound|70||old.com"], 1),
        ("TCP", "MYSQL", vec!["tcp outbound|70||old.com"], 1),
        ("MONGO", "MONGO", vec!["tcp outbound|70||old.com"], 1),
    ];
    for (older, newer, expected, conflicts) in cases {
        let objects = entry("new", "new.com", newer, 2) + &entry("old", "old.com", older, 1);
        let mut mesh = Mesh::new(&objects);
        let proxy = mk_sidecar("10.1.0.1");
        assert_eq!(chains(&mesh.listeners(&proxy)["10.9.9.9_70"]), expected, "{older} {newer}");
        let lost = mesh.look(&proxy, |context| listeners::all(context).outbound_conflicts).0;
        assert_eq!(lost.len(), conflicts, "{lost:?}");
        assert_eq!((&*lost[0].host, lost[0].listener.as_str()), ("new.com", "10.9.9.9_70"));
    }
}

#[test]
fn a_service_without_an_address_has_a_listener_for_each_pod_but_the_own() {
    let objects = mk_service("db", "None", 1, &["tcp:90", "http:80"])
        + &mk_slice("db", "tcp:90", &["10.1.0.1", "10.1.0.2", "10.1.0.3"]);
    let mut mesh = Mesh::new(&objects);
    let of = |mesh: &mut Mesh, address: &str| mesh.look(&mk_sidecar(address), listeners::build);
    let all = mesh.listeners(&mk_sidecar("10.1.9.1"));
    assert_eq!(names(&all), ["0.0.0.0_80", "10.1.0.1_90", "10.1.0.2_90", "10.1.0.3_90"]);
    assert_eq!(names(&mesh.listeners(&mk_sidecar("10.1.0.2"))), ["0.0.0.0_80", "10.1.0.1_90", "10.1.0.3_90"]);
    // Those that are none of the pods are not told apart by their addresses.
    assert_eq!(of(&mut mesh, "10.1.9.1").1, of(&mut mesh, "10.1.9.2").1);
    assert_ne!(of(&mut mesh, "10.1.9.1").1, of(&mut mesh, "10.1.0.2").1);
}

#[test]
fn impossible_ports_and_the_proxy_s_own_have_no_listener_and_their_neighbours_do() {
    let entry = |name: &str, port: u32| {
        let entry = json!({
            "apiVersion": "networking.istio.io/v1", "kind": "ServiceEntry",
            "metadata": {"name": name, "namespace": "default"},
            "spec": {"hosts": [format!("{name}.com")], "addresses": ["10.0.0.3", "10.8.0.0/16"], "resolution": "NONE",
                     "ports": [{"number": port, "name": "tcp", "protocol": "TCP"}]},
        });
        format!("---\n{entry}\n")
    };
    let objects = mk_service("a", "10.0.0.1", 1, &["tcp-d:65535", "http:15001"])
        + &mk_service("b", "10.0.0.2", 1, &["tcp-a:0", "tcp-b:-1", "http-c:70000"])
        + &entry("far", 70000)
        + &entry("no", 0)
        + &entry("good", 91);
    let listeners = Mesh::new(&objects).listeners(&mk_sidecar("10.1.0.1"));
    assert_eq!(names(&listeners), ["0.0.0.0_91", "10.0.0.1_65535", "10.0.0.3_91"]);
}

#[test]
fn routes_for_bytes_lead_by_port_label_weight_and_name() {
    let routes = |spec: Value| {
        let object = json!({
            "apiVersion": "networking.istio.io/v1", "kind": "VirtualService",
            "metadata": {"name": "v", "namespace": "default"}, "spec": spec,
        });
        format!("---\n{object}\n")
    };
    let to = |host: &str, weight: i64| json!({"destination": {"host": host, "port": {"number": 90}}, "weight": weight});
    let (a, b) =
        ("tcp outbound|90||a.default.svc.cluster.local", "tcp outbound|90||b.default.svc.cluster.local");
    let both = "tcp outbound|90||a.default.svc.cluster.local*30 outbound|90||b.default.svc.cluster.local*70";
    let cases = [
        ("another port", json!({"tcp": [{"match": [{"port": 91}], "route": [to("b", 0)]}]}), vec![a]),
        ("everything", json!({"tcp": [{"route": [to("b", 0)]}]}), vec![b]),
        ("weights", json!({"tcp": [{"route": [to("a", 30), to("b", 70)]}]}), vec![both]),
        ("no weight at all", json!({"tcp": [{"route": [to("a", 0), to("b", 0)]}]}), vec![a]),
        ("negative weights", json!({"tcp": [{"route": [to("a", -5), to("b", -5)]}]}), vec![a]),
        ("no route", json!({"tcp": [{"match": [{"port": 90}]}]}), vec![a]),
        ("no destination", json!({"tcp": [{"route": [{}]}]}), vec!["tcp UnknownService"]),
        (
            "labels of others",
            json!({"tcp": [{"match": [{"sourceLabels": {"x": "y"}}], "route": [to("b", 0)]}]}),
            vec![a],
        ),
        (
            "own labels",
            json!({"tcp": [{"match": [{"sourceLabels": {"app": "c"}}], "route": [to("b", 0)]}]}),
            vec![b],
        ),
        ("a gateway's", json!({"tcp": [{"match": [{"gateways": ["g"]}], "route": [to("b", 0)]}]}), vec![a]),
        (
            "subnets beside the rest",
            json!({"tcp": [{"match": [{"destinationSubnets": ["10.0.0.0/8", "nonsense"]}], "route": [to("b", 0)]}]}),
            vec![b, a],
        ),
        (
            "names are of TLS only",
            json!({"tls": [{"match": [{"sniHosts": ["x.com"]}], "route": [to("b", 0)]}]}),
            vec![a],
        ),
    ];
    let services = mk_service("a", "10.0.0.1", 1, &["tcp:90"]) + &mk_service("b", "10.0.0.2", 2, &["tcp:90"]);
    for (about, mut spec, expected) in cases {
        spec["hosts"] = json!(["a"]);
        let mut mesh = Mesh::new(&(services.clone() + &routes(spec)));
        let proxy = mk_proxy("sidecar", "10.1.0.1", &json!({"LABELS": {"app": "c"}}));
        assert_eq!(chains(&mesh.listeners(&proxy)["10.0.0.1_90"]), expected, "{about}");
    }
}

#[test]
fn an_inbound_port_takes_what_its_mode_allows() {
    let objects = mk_service("a", "10.0.0.1", 1, &["http:80", "tcp:90"]) + &mk_pod("client", "a", "10.1.0.1");
    let policy = |mode: &str, port: &str| {
        let policy = json!({
            "apiVersion": "security.istio.io/v1", "kind": "PeerAuthentication",
            "metadata": {"name": "p", "namespace": "default"},
            "spec": {"selector": {"matchLabels": {"app": "a"}}, "mtls": {"mode": mode},
                     "portLevelMtls": {"80": {"mode": port}, "99": {"mode": port}}},
        });
        format!("---\n{policy}\n")
    };
    let of = |listeners: &Resources, port: u32| -> Vec<String> {
        let chains = listeners["virtualInbound"]["filterChains"].as_array().unwrap();
        let mine = chains.iter().filter(|chain| {
            chain["filterChainMatch"]["destinationPort"].as_u64().unwrap_or(0) == u64::from(port)
        });
        let tls = |chain: &Value| if chain["transportSocket"].is_null() { "plain" } else { "mutual" };
        mine.map(|chain| format!("{} {}", tls(chain), leads(chain))).collect()
    };
    let mut mesh = Mesh::new(&objects);
    let permissive = mesh.listeners(&mk_sidecar("10.1.0.1"));
    assert_eq!(of(&permissive, 80), ["mutual http inbound|80||", "plain http inbound|80||"]);
    assert_eq!(
        of(&permissive, 90),
        ["mutual tcp inbound|90||", "plain tcp inbound|90||", "plain tcp inbound|90||"]
    );
    assert_eq!(of(&permissive, 0).len(), 5);
    mesh.apply(&policy("STRICT", "DISABLE"));
    let strict = mesh.listeners(&mk_sidecar("10.1.0.1"));
    assert_eq!(of(&strict, 80), ["plain http inbound|80||"]);
    assert_eq!(of(&strict, 90), ["mutual tcp inbound|90||"]);
    assert!(of(&strict, 0).iter().all(|chain| chain.starts_with("mutual")), "{:?}", of(&strict, 0));
    assert!(of(&strict, 99).iter().all(|chain| chain == "plain http InboundPassthroughCluster"
        || chain == "plain tcp InboundPassthroughCluster"));
}

#[test]
fn without_redirection_listeners_are_bound_beside_the_workload() {
    let objects =
        mk_service("a", "10.0.0.1", 1, &["http:8080", "tcp:90"]) + &mk_pod("client", "a", "10.1.0.1");
    let mut mesh = Mesh::new(&objects);
    let none = mesh.listeners(&mk_proxy(
        "sidecar",
        "10.1.0.1",
        &json!({"INTERCEPTION_MODE": "NONE", "UNPRIVILEGED_POD": "true"}),
    ));
    assert_eq!(none.keys().collect::<Vec<_>>(), ["127.0.0.1_8080"]);
    assert_eq!(none["127.0.0.1_8080"]["bindToPort"], Value::Null);
    let transparent =
        mesh.listeners(&mk_proxy("sidecar", "10.1.0.1", &json!({"INTERCEPTION_MODE": "TPROXY"})));
    for name in ["virtualOutbound", "virtualInbound"] {
        assert_eq!(transparent[name]["transparent"], json!(true), "{name}");
    }
}

#[test]
fn what_did_not_change_is_not_built_again() {
    let mut mesh = Mesh::new(&mk_service("a", "10.0.0.1", 1, &["http:80", "tcp:90"]));
    let find = |mesh: &mut Mesh, address: &str, name: &str| {
        let all = mesh.look(&mk_sidecar(address), listeners::build).0;
        Arc::clone(all.iter().find(|one| **one.name() == *name).unwrap())
    };
    let names = ["0.0.0.0_80", "10.0.0.1_90", "virtualInbound", "virtualOutbound"];
    let first: Vec<_> = names.iter().map(|name| find(&mut mesh, "10.1.0.1", name)).collect();
    mesh.apply(&mk_service("b", "10.0.0.2", 2, &["http:80", "tcp:90"]));
    for (before, name) in first.iter().zip(names) {
        assert!(Arc::ptr_eq(before, &find(&mut mesh, "10.1.0.2", name)), "{name}");
    }
}

#[test]
fn the_protocol_inside_mutual_tls_is_told_by_the_filter_that_the_proxy_has() {
    for (filters, alpn, expected) in [
        (Filters::Stock, true, Some("envoy.filters.http.set_filter_state")),
        (Filters::Istio, true, Some("istio.alpn")),
        (Filters::Stock, false, None),
        (Filters::Istio, false, None),
    ] {
        let objects = mk_service("a", "10.0.0.1", 1, &["http:80"]);
        let mut mesh = Mesh::new(&objects);
        mesh.options.filters = filters;
        mesh.options.alpn = alpn;
        mesh.options.metadata_exchange = filters == Filters::Istio;
        let listeners = mesh.look(&mk_sidecar("10.1.0.1"), listeners::build).0;
        let listener = listeners.iter().find(|one| **one.name() == *"0.0.0.0_80").unwrap();
        // Istio's messages are in no descriptor: names are looked for as they stand.
        let has = |name: &str| listener.body().windows(name.len()).any(|part| part == name.as_bytes());
        for name in ["envoy.filters.http.set_filter_state", "istio.alpn"] {
            assert_eq!(has(name), expected == Some(name), "{filters:?} {alpn} {name}");
        }
        assert_eq!(has("istio.metadata_exchange"), filters == Filters::Istio);
    }
}

#[test]
fn a_router_listens_on_the_port_behind_its_service() {
    let gateway = json!({
        "apiVersion": "networking.istio.io/v1", "kind": "Gateway",
        "metadata": {"name": "g", "namespace": "default"},
        "spec": {"selector": {"app": "edge"}, "servers": [
            {"port": {"number": 80, "name": "http", "protocol": "HTTP"}, "hosts": ["*"]},
            {"port": {"number": 443, "name": "https", "protocol": "HTTPS"}, "hosts": ["*"], "tls": {"mode": "SIMPLE", "credentialName": "c"}},
            {"port": {"number": 90, "name": "tcp", "protocol": "TCP"}, "hosts": ["*"]},
            {"hosts": ["*"]},
            {"port": {"number": 70000, "name": "far", "protocol": "HTTP"}, "hosts": ["*"]},
        ]},
    });
    let service = json!({
        "apiVersion": "v1", "kind": "Service", "metadata": {"name": "edge", "namespace": "default"},
        "spec": {"clusterIP": "10.0.0.9", "selector": {"app": "edge"}, "ports": [{"name": "http", "port": 80, "targetPort": 8080}]},
    });
    let objects = format!("{service}\n---\n{gateway}\n") + &mk_pod("client", "edge", "10.1.0.1");
    let listeners =
        Mesh::new(&objects).listeners(&mk_proxy("router", "10.1.0.1", &json!({"LABELS": {"app": "edge"}})));
    assert_eq!(listeners.keys().collect::<Vec<_>>(), ["0.0.0.0_8080"]);
    assert_eq!(chains(&listeners["0.0.0.0_8080"]), ["http http.8080"]);
}

#[test]
fn where_only_the_name_tells_services_apart_the_names_of_aliases_count_too() {
    let entry = json!({
        "apiVersion": "networking.istio.io/v1", "kind": "ServiceEntry",
        "metadata": {"name": "web", "namespace": "default"},
        "spec": {"hosts": ["web.example.com"], "resolution": "DNS", "ports": [{"number": 443, "name": "tls", "protocol": "TLS"}]},
    });
    let alias = json!({
        "apiVersion": "v1", "kind": "Service", "metadata": {"name": "web", "namespace": "default"},
        "spec": {"type": "ExternalName", "externalName": "web.example.com", "ports": [{"name": "tls", "port": 443}]},
    });
    let names_of = |objects: &str| {
        let listeners = Mesh::new(objects).listeners(&mk_sidecar("10.1.0.1"));
        listeners["0.0.0.0_443"]["filterChains"][0]["filterChainMatch"]["serverNames"].clone()
    };
    assert_eq!(names_of(&format!("{entry}\n")), json!(["web.example.com"]));
    let names = names_of(&format!("{entry}\n---\n{alias}\n"));
    for name in ["web", "web.default", "web.default.svc.cluster.local", "web.example.com"] {
        assert!(names.as_array().unwrap().contains(&json!(name)), "{name} in {names}");
    }
}
