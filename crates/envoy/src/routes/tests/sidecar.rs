use super::{World, clusters, host, istio, names, proxy, service, sidecar, to, virtual_service};
use mizzen_proto::istio::mesh::v1alpha1::mesh_config::{
    OutboundTrafficPolicy, outbound_traffic_policy::Mode,
};
use serde_json::json;

fn domains(world: &mut World, namespace: &str, route: &str, name: &str) -> Vec<String> {
    host(&world.ask(&sidecar(namespace), route), name).domains.clone()
}

#[test]
fn a_service_has_its_short_names_in_its_namespace_and_longer_ones_elsewhere() {
    let mut world = World::new(&service("a", "ns", "10.1.0.1", &[("http", 80)]));
    let name = "a.ns.svc.cluster.local:80";
    let whole = ["a.ns.svc.cluster.local", "a.ns.svc.cluster.local."];
    let near = [&whole[..], &["a", "a.ns.svc", "a.ns", "10.1.0.1"]].concat();
    let far = [&whole[..], &["a.ns", "a.ns.svc", "10.1.0.1"]].concat();
    assert_eq!(domains(&mut world, "ns", "80", name), near);
    assert_eq!(domains(&mut world, "other", "80", name), far);
}

#[test]
fn hosts_stand_by_name_and_the_rest_goes_through_or_nowhere() {
    let objects = [
        service("b", "ns", "10.1.0.2", &[("http", 80)]),
        service("a", "ns", "10.1.0.1", &[("http", 80), ("tcp", 81), ("grpc-x", 82)]),
    ]
    .concat();
    let mut world = World::new(&objects);
    let seen = world.ask(&sidecar("ns"), "80");
    assert_eq!(names(&seen), ["a.ns.svc.cluster.local:80", "b.ns.svc.cluster.local:80", "allow_any"]);
    assert_eq!(clusters(&seen.virtual_hosts[2]), ["PassthroughCluster"]);
    // TCP has no routes.
    assert_eq!(names(&world.ask(&sidecar("ns"), "81")), ["allow_any"]);
    assert_eq!(names(&world.ask(&sidecar("ns"), "82")), ["a.ns.svc.cluster.local:82", "allow_any"]);
    assert_eq!(names(&world.ask(&sidecar("ns"), "1234")), ["allow_any"]);
    let strict = |mesh: &mut mizzen_proto::istio::mesh::v1alpha1::MeshConfig| {
        mesh.outbound_traffic_policy =
            Some(OutboundTrafficPolicy { mode: Mode::RegistryOnly.into(), tls: None });
    };
    let mut world = World::with_mesh(&objects, strict);
    assert_eq!(names(&world.ask(&sidecar("ns"), "1234")), ["block_all"]);
}

#[test]
fn a_listener_for_one_service_takes_whatever_is_asked_for() {
    let objects = [service("a", "ns", "10.1.0.1", &[("", 70)]), service("b", "ns", "10.1.0.2", &[("", 70)])];
    let mut world = World::new(&objects.concat());
    let seen = world.ask(&sidecar("ns"), "a.ns.svc.cluster.local:70");
    assert_eq!(names(&seen), ["a.ns.svc.cluster.local:70"]);
    assert_eq!(seen.virtual_hosts[0].domains, ["*"]);
    assert_eq!(names(&world.ask(&sidecar("ns"), "c.ns.svc.cluster.local:70")), [""; 0]);
    assert_eq!(names(&world.ask(&sidecar("ns"), "a.ns.svc.cluster.local:71")), [""; 0]);
}

#[test]
fn a_listener_for_all_ports_tells_them_apart_by_the_name() {
    let objects = [service("a", "ns", "10.1.0.1", &[("http", 80), ("http2-x", 81)])].concat();
    let seen = World::new(&objects).ask(&sidecar("ns"), "http_proxy");
    assert_eq!(names(&seen), ["a.ns.svc.cluster.local:80", "a.ns.svc.cluster.local:81", "allow_any"]);
    assert!(seen.virtual_hosts[0].domains.contains(&"a".to_owned()));
    assert!(seen.virtual_hosts[0].domains.contains(&"a:80".to_owned()));
    let other = &seen.virtual_hosts[1].domains;
    assert!(other.contains(&"a:81".to_owned()) && !other.contains(&"a".to_owned()), "{other:?}");
}

#[test]
fn a_virtual_service_takes_the_place_of_a_service_s_route() {
    let objects = [
        service("a", "ns", "10.1.0.1", &[("http", 90)]),
        service("b", "ns", "10.1.0.2", &[("http", 91)]),
        virtual_service(
            "v",
            "ns",
            &json!({"hosts": ["a"], "http": [
                {"match": [{"uri": {"prefix": "/x"}}, {"uri": {"prefix": "/"}}, {"uri": {"exact": "/never"}}],
                 "route": [{"destination": {"host": "b", "subset": "v1", "port": {"number": 91}}}]},
                {"route": [{"destination": {"host": "never"}}]},
            ]}),
        ),
    ];
    let mut world = World::new(&objects.concat());
    let seen = world.ask(&sidecar("ns"), "90");
    assert_eq!(names(&seen), ["a.ns.svc.cluster.local:90", "allow_any"]);
    // Nothing comes after a route for everything.
    assert_eq!(clusters(&seen.virtual_hosts[0]), ["outbound|91|v1|b.ns.svc.cluster.local"; 2]);
    assert_eq!(seen.virtual_hosts[0].domains.len(), 6);
}

#[test]
fn hosts_that_are_no_services_are_known_on_port_80_alone() {
    let spec = json!({"hosts": ["example.com", "a", "*.wild.com"], "http": to("b")});
    let objects = [service("a", "ns", "10.1.0.1", &[("http", 90)]), virtual_service("v", "ns", &spec)];
    let mut world = World::new(&objects.concat());
    let seen = world.ask(&sidecar("ns"), "80");
    assert_eq!(names(&seen), ["*.wild.com:80", "a.ns.svc.cluster.local:80", "example.com:80", "allow_any"]);
    assert_eq!(host(&seen, "a.ns.svc.cluster.local:80").domains, ["a.ns.svc.cluster.local"]);
    // Beside a service of the port the others are there, too.
    let seen = world.ask(&sidecar("ns"), "90");
    assert_eq!(names(&seen), ["*.wild.com:90", "a.ns.svc.cluster.local:90", "example.com:90", "allow_any"]);
    assert_eq!(names(&world.ask(&sidecar("ns"), "91")), ["allow_any"]);
}

#[test]
fn of_several_virtual_services_for_one_host_the_first_counts() {
    let spec = |host: &str| json!({"hosts": ["a"], "http": to(host)});
    let objects = [
        service("a", "ns", "10.1.0.1", &[("http", 80)]),
        virtual_service("w", "ns", &spec("second")),
        virtual_service("v", "ns", &spec("first")),
    ];
    let seen = World::new(&objects.concat()).ask(&sidecar("ns"), "80");
    assert_eq!(
        clusters(host(&seen, "a.ns.svc.cluster.local:80")),
        ["outbound|80||first.ns.svc.cluster.local"]
    );
}

#[test]
fn the_most_specific_wildcard_has_a_service() {
    let spec = |pattern: &str, host: &str| json!({"hosts": [pattern], "http": to(host)});
    let objects = [
        service("a", "ns", "10.1.0.1", &[("http", 90)]),
        service("b", "ns", "10.1.0.2", &[("http", 90)]),
        service("c", "other", "10.1.0.3", &[("http", 90)]),
        virtual_service("t", "ns", &spec("*", "all")),
        virtual_service("u", "ns", &spec("*.ns.svc.cluster.local", "near")),
        virtual_service("v", "ns", &spec("b.ns.svc.cluster.local", "one")),
    ];
    let seen = World::new(&objects.concat()).ask(&sidecar("ns"), "90");
    for (name, target) in [("a.ns", "near"), ("b.ns", "one"), ("c.other", "all")] {
        let found = clusters(host(&seen, &format!("{name}.svc.cluster.local:90")));
        assert_eq!(found, [format!("outbound|90||{target}.ns.svc.cluster.local")], "{name}");
    }
}

#[test]
fn a_short_name_gives_way_to_a_service_that_is_called_so() {
    let entry = json!({"hosts": ["a.ns"], "ports": [{"name": "http", "number": 80, "protocol": "HTTP"}],
        "resolution": "DNS", "location": "MESH_EXTERNAL"});
    let objects = [service("a", "ns", "10.1.0.1", &[("http", 80)]), istio("ServiceEntry", "e", "ns", &entry)];
    let seen = World::new(&objects.concat()).ask(&sidecar("ns"), "80");
    assert_eq!(host(&seen, "a.ns:80").domains, ["a.ns", "a.ns."]);
    let domains = &host(&seen, "a.ns.svc.cluster.local:80").domains;
    assert!(!domains.contains(&"a.ns".to_owned()) && domains.contains(&"a".to_owned()), "{domains:?}");
}

#[test]
fn who_asks_may_decide() {
    let spec = json!({"hosts": ["a"], "http": [
        {"match": [{"sourceLabels": {"app": "x"}, "uri": {"prefix": "/l"}}], "route": [{"destination": {"host": "labels"}}]},
        {"match": [{"sourceNamespace": "ns", "uri": {"prefix": "/n"}}], "route": [{"destination": {"host": "namespace"}}]},
        {"match": [{"gateways": ["ns/gate"], "uri": {"prefix": "/g"}}], "route": [{"destination": {"host": "gateway"}}]},
        {"match": [{"gateways": ["mesh"], "sourceLabels": {"no": "one"}, "uri": {"prefix": "/m"}}], "route": [{"destination": {"host": "mesh"}}]},
        {"match": [{"port": 81}], "route": [{"destination": {"host": "port"}}]},
    ], "gateways": ["mesh", "ns/gate"]});
    let objects = [service("a", "ns", "10.1.0.1", &[("http", 80)]), virtual_service("v", "ns", &spec)];
    let mut world = World::new(&objects.concat());
    for (namespace, labels, targets) in [
        ("ns", json!({"app": "x", "more": "y"}), vec!["labels", "namespace", "mesh"]),
        ("ns", json!({}), vec!["namespace", "mesh"]),
        ("other", json!({"app": "x"}), vec!["labels", "mesh"]),
        ("other", json!({"app": "y"}), vec!["mesh"]),
    ] {
        let seen = world.ask(&proxy("sidecar", namespace, &labels), "80");
        let expected: Vec<String> =
            targets.iter().map(|target| format!("outbound|80||{target}.ns.svc.cluster.local")).collect();
        assert_eq!(clusters(host(&seen, "a.ns.svc.cluster.local:80")), expected, "{namespace} {labels}");
    }
}

#[test]
fn a_virtual_service_for_nobody_here_leaves_the_service_as_it_is() {
    let spec = json!({"hosts": ["a"], "http": [
        {"match": [{"sourceLabels": {"app": "x"}}], "route": [{"destination": {"host": "b"}}]}]});
    let objects = [service("a", "ns", "10.1.0.1", &[("http", 80)]), virtual_service("v", "ns", &spec)];
    let seen = World::new(&objects.concat()).ask(&sidecar("ns"), "80");
    assert_eq!(clusters(host(&seen, "a.ns.svc.cluster.local:80")), ["outbound|80||a.ns.svc.cluster.local"]);
}

#[test]
fn a_hash_is_the_route_s_and_its_retries_stay_with_the_host() {
    let hash = json!({"loadBalancer": {"consistentHash": {"httpHeaderName": "x-user"}}});
    let rule = json!({"host": "a", "trafficPolicy": hash, "workloadSelector": {"matchLabels": {"app": "x"}}});
    let objects = [
        service("a", "ns", "10.1.0.1", &[("http", 80)]),
        service("b", "ns", "10.1.0.2", &[("http", 80)]),
        virtual_service("v", "ns", &json!({"hosts": ["b"], "http": to("a")})),
        istio("DestinationRule", "d", "ns", &rule),
    ];
    let mut world = World::new(&objects.concat());
    for (labels, count) in [(json!({"app": "x"}), 1), (json!({}), 0)] {
        let seen = world.ask(&proxy("sidecar", "ns", &labels), "80");
        for name in ["a", "b"] {
            let route = host(&seen, &format!("{name}.ns.svc.cluster.local:80")).routes[0].clone();
            let Some(mizzen_proto::envoy::config::route::v3::route::Action::Route(action)) = route.action
            else {
                panic!("{route:?}")
            };
            assert_eq!(action.hash_policy.len(), count, "{labels} {name}");
            let tied = count == 1 && name == "b";
            assert_eq!(action.retry_policy.unwrap().retry_host_predicate.is_empty(), tied, "{labels} {name}");
        }
    }
}

#[test]
fn a_proxy_s_own_headers_go_before_the_mesh_s_and_nothing_else_of_its_configuration_is_read() {
    let mut world = World::new(&service("a", "ns", "10.1.0.1", &[("http", 80)]));
    let with = |config: serde_json::Value| {
        let mut proxy = mizzen_mesh::Proxy::clone(&sidecar("ns"));
        proxy.metadata.insert("PROXY_CONFIG".into(), config);
        std::sync::Arc::new(proxy)
    };
    let counted = with(json!({"serviceCluster": "a.ns"}));
    let other = with(json!({"serviceCluster": "b.ns", "proxyHeaders": null}));
    let silent = with(json!({"proxyHeaders": {"attemptCount": {"disabled": true}}}));
    assert!(world.ask(&counted, "80").virtual_hosts[0].include_request_attempt_count);
    assert!(!world.ask(&silent, "80").virtual_hosts[0].include_request_attempt_count);
    let snapshot = world.snapshot();
    let attributes = snapshot.attributes(&counted);
    let context = crate::Context {
        snapshot: &mizzen_mesh::Sight::new(&snapshot),
        proxy: &attributes,
        memo: &world.memo,
        shared: &crate::Shared::default(),
        options: &crate::Options::default(),
    };
    crate::routes::build(&context, "80").unwrap();
    let reads = attributes.take_reads();
    assert!(snapshot.attributes(&other).agrees(&reads));
    assert!(!snapshot.attributes(&silent).agrees(&reads));
}
