//! ServiceEntries.

use crate::{ENTRY, endpoints, mk_mesh, places, service};
use mizzen_mesh::{
    Event, Health, Locality, Protocol, Registry, Resolution, Settings, Snapshot, Store, TlsMode, Visibility,
    input::PortName,
};
use mizzen_text::{Source, yaml};
use serde_json::{Value, json};

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
