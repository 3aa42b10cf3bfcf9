//! What a client gets of a service's endpoints.
#![allow(clippy::unwrap_used, reason = "a broken test may panic")]

mod support;

use mizzen_envoy::endpoints;
use serde_json::{Value, json};
use std::sync::Arc;
use support::{Mesh, WEB, WEB_V1, mk_pod, mk_rule, mk_sidecar, mk_web};

/// Each group as `locality priority weight: addresses`.
fn groups(assignment: &Value) -> Vec<String> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let group = |group: &Value| {
        let locality = &group["locality"];
        let endpoints = group["lbEndpoints"].as_array().cloned().unwrap_or_default();
        let addresses: Vec<String> = endpoints
            .iter()
            .map(|one| text(&one["endpoint"]["address"]["socketAddress"]["address"]))
            .collect();
        format!(
            "{}/{} p{} w{}: {}",
            text(&locality["region"]),
            text(&locality["zone"]),
            group["priority"].as_u64().unwrap_or_default(),
            group["loadBalancingWeight"],
            addresses.join(" ")
        )
    };
    assignment["endpoints"].as_array().map(|all| all.iter().map(group).collect()).unwrap_or_default()
}

fn web(rule: &str) -> Vec<String> {
    let mut mesh = Mesh::new(&(mk_web() + &mk_rule(rule)));
    groups(&mesh.endpoints(&mk_pod("client", "10.1.9.1"), WEB).unwrap())
}

#[test]
fn endpoints_are_grouped_by_locality() {
    let expected =
        ["region1/zone1 p0 w1: 10.1.0.0", "region1/zone2 p0 w1: 10.1.0.1", "region2/zone1 p0 w1: 10.1.0.2"];
    assert_eq!(web("exportTo: ['*']"), expected);
}

#[test]
fn an_endpoint_says_what_it_is() {
    let mut mesh = Mesh::new(&mk_web());
    let assignment = mesh.endpoints(&mk_sidecar("10.1.9.1"), WEB).unwrap();
    let expected = json!({
        "endpoint": {"address": {"socketAddress": {"address": "10.1.0.0", "portValue": 8080}}},
        "healthStatus": "HEALTHY",
        "loadBalancingWeight": 1,
        "metadata": {"filterMetadata": {
            "envoy.transport_socket_match": {"tlsMode": "istio"},
            "istio": {"workload": "web-0;default;web;v0;Kubernetes"},
        }},
    });
    assert_eq!(assignment["endpoints"][0]["lbEndpoints"][0], expected);
}

#[test]
fn a_subset_has_the_endpoints_with_its_labels() {
    let mut mesh = Mesh::new(&(mk_web() + &mk_rule("subsets: [{name: v1, labels: {version: v1}}]")));
    let proxy = mk_sidecar("10.1.9.1");
    assert_eq!(groups(&mesh.endpoints(&proxy, WEB_V1).unwrap()), ["region1/zone2 p0 w1: 10.1.0.1"]);
    assert_eq!(mesh.endpoints(&proxy, "outbound|80|v9|web.default.svc.cluster.local"), None);
}

#[test]
fn localities_stand_in_for_each_other_where_failures_are_noticed() {
    let cases: &[(&str, &[&str])] = &[
        (
            "trafficPolicy: {outlierDetection: {interval: 1s}}",
            &[
                "region1/zone1 p0 w1: 10.1.0.0",
                "region1/zone2 p1 w1: 10.1.0.1",
                "region2/zone1 p2 w1: 10.1.0.2",
            ],
        ),
        (
            "trafficPolicy: {outlierDetection: {interval: 1s}, loadBalancer: {localityLbSetting: {enabled: false}}}",
            &[
                "region1/zone1 p0 w1: 10.1.0.0",
                "region1/zone2 p0 w1: 10.1.0.1",
                "region2/zone1 p0 w1: 10.1.0.2",
            ],
        ),
        (
            "trafficPolicy: {outlierDetection: {interval: 1s}, loadBalancer: {localityLbSetting: {failoverPriority: [topology.kubernetes.io/region]}}}",
            &[
                "region1/zone1 p0 w1: 10.1.0.0",
                "region1/zone2 p0 w1: 10.1.0.1",
                "region2/zone1 p1 w1: 10.1.0.2",
            ],
        ),
        (
            "trafficPolicy: {outlierDetection: {interval: 1s}, loadBalancer: {localityLbSetting: {failoverPriority: ['version=v2']}}}",
            &[
                "region1/zone1 p1 w1: 10.1.0.0",
                "region1/zone2 p1 w1: 10.1.0.1",
                "region2/zone1 p0 w1: 10.1.0.2",
            ],
        ),
        (
            "trafficPolicy: {loadBalancer: {localityLbSetting: {distribute: [{from: region1/zone1/*, to: {'region1/zone1/*': 70, 'region2/*': 30}}]}}}",
            &["region1/zone1 p0 w70: 10.1.0.0", "region1/zone2 p0 w1: ", "region2/zone1 p0 w30: 10.1.0.2"],
        ),
        (
            "trafficPolicy: {loadBalancer: {zoneAwareLbSetting: {enabled: true}}}",
            &[
                "region1/zone1 p0 w1: 10.1.0.0",
                "region1/zone2 p0 w1: 10.1.0.1",
                "region2/zone1 p1 w1: 10.1.0.2",
            ],
        ),
    ];
    for (rule, expected) in cases {
        assert_eq!(web(rule), *expected, "{rule}");
    }
}

#[test]
fn a_service_that_prefers_its_zone_has_other_zones_behind_it() {
    let mut mesh = Mesh::new(
        &mk_web().replace("clusterIP: 10.0.0.1", "clusterIP: 10.0.0.1\n  trafficDistribution: PreferClose"),
    );
    let assignment = mesh.endpoints(&mk_pod("client", "10.1.9.1"), WEB).unwrap();
    let expected =
        ["region1/zone1 p0 w1: 10.1.0.0", "region1/zone2 p1 w1: 10.1.0.1", "region2/zone1 p2 w1: 10.1.0.2"];
    assert_eq!(groups(&assignment), expected);
}

#[test]
fn a_service_of_the_machine_has_endpoints_there_only() {
    let objects =
        mk_web().replace("clusterIP: 10.0.0.1", "clusterIP: 10.0.0.1\n  internalTrafficPolicy: Local");
    let mut mesh = Mesh::new(&objects);
    let proxy = support::mk_proxy("sidecar", "10.1.9.1", &json!({"NODE_NAME": "node2"}));
    assert_eq!(groups(&mesh.endpoints(&proxy, WEB).unwrap()), ["region2/zone1 p0 w1: 10.1.0.2"]);
}

#[test]
fn the_client_s_place_is_asked_for_only_where_it_matters() {
    for (rule, asked) in [
        ("exportTo: ['*']", false),
        ("trafficPolicy: {outlierDetection: {interval: 1s}}", true),
        ("trafficPolicy: {loadBalancer: {localityLbSetting: {failover: [{from: a, to: b}]}}}", false),
        (
            "trafficPolicy: {outlierDetection: {interval: 1s}, loadBalancer: {localityLbSetting: {failoverPriority: [version]}}}",
            false,
        ),
    ] {
        let mut mesh = Mesh::new(&(mk_web() + &mk_rule(rule)));
        let (_, reads) = mesh.look(&mk_sidecar("10.1.9.1"), |context| endpoints::build(context, WEB));
        assert_eq!(format!("{reads:?}").contains("(Locality,"), asked, "{rule}: {reads:?}");
    }
}

#[test]
fn mutual_tls_is_what_the_rule_orders_else_what_the_workload_takes() {
    let policy = |mode: &str| {
        format!(
            "\n---\napiVersion: security.istio.io/v1\nkind: PeerAuthentication\nmetadata: {{name: x, namespace: default}}\nspec: {{selector: {{matchLabels: {{version: v0}}}}, mtls: {{mode: {mode}}}}}\n"
        )
    };
    let mutual = |objects: &str| -> Vec<bool> {
        let mut mesh = Mesh::new(objects);
        let assignment = mesh.endpoints(&mk_sidecar("10.1.9.1"), WEB).unwrap();
        let groups = assignment["endpoints"].as_array().cloned().unwrap();
        let has = |group: &Value| {
            group["lbEndpoints"][0].pointer("/metadata/filterMetadata/envoy.transport_socket_match").is_some()
        };
        groups.iter().map(has).collect()
    };
    for (objects, expected) in [
        (mk_web(), [true, true, true]),
        (mk_web() + &policy("DISABLE"), [false, true, true]),
        (mk_web() + &policy("STRICT"), [true, true, true]),
        (
            mk_web() + &policy("DISABLE") + &mk_rule("trafficPolicy: {tls: {mode: ISTIO_MUTUAL}}"),
            [true, true, true],
        ),
        (mk_web() + &mk_rule("trafficPolicy: {tls: {mode: DISABLE}}"), [false, false, false]),
        (
            mk_web()
                + &mk_rule(
                    "trafficPolicy: {tls: {mode: DISABLE}, portLevelSettings: [{port: {number: 80}, tls: {mode: ISTIO_MUTUAL}}]}",
                ),
            [true, true, true],
        ),
    ] {
        assert_eq!(mutual(&objects), expected, "{}", &objects[mk_web().len()..]);
    }
}

#[test]
fn a_service_without_endpoints_has_an_empty_assignment() {
    let service = "
apiVersion: v1
kind: Service
metadata: {name: web, namespace: default}
spec: {clusterIP: 10.0.0.1, ports: [{name: http, port: 80}]}
";
    let mut mesh = Mesh::new(service);
    let proxy = mk_sidecar("10.1.9.1");
    assert_eq!(mesh.endpoints(&proxy, WEB), Some(json!({"clusterName": WEB})));
    assert_eq!(mesh.endpoints(&proxy, "outbound|81||web.default.svc.cluster.local"), None);
}

#[test]
fn proxies_share_an_assignment_and_one_endpoint_s_change_touches_one_service() {
    let other = mk_web()
        .replace("name: web,", "name: other,")
        .replace("service-name: web", "service-name: other")
        .replace("10.0.0.1", "10.0.0.2")
        .replace(
            "name: web-1, namespace: default, labels: {kubernetes",
            "name: other-1, namespace: default, labels: {kubernetes",
        );
    let mut mesh = Mesh::new(&format!("{}\n---\n{other}", mk_web()));
    const OTHER: &str = "outbound|80||other.default.svc.cluster.local";
    let build = |mesh: &mut Mesh, address: &str, name: &str| {
        mesh.look(&mk_sidecar(address), |context| endpoints::build(context, name)).0.unwrap()
    };
    let (one, two) = (build(&mut mesh, "10.1.9.1", WEB), build(&mut mesh, "10.1.9.2", WEB));
    assert!(Arc::ptr_eq(&one, &two));
    let before = build(&mut mesh, "10.1.9.1", OTHER);
    mesh.apply(
        "
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: web-1, namespace: default, labels: {kubernetes.io/service-name: web}}
addressType: IPv4
ports: [{name: http, port: 8080}]
endpoints: [{addresses: [10.1.0.0], conditions: {ready: true}}]
",
    );
    assert!(!Arc::ptr_eq(&one, &build(&mut mesh, "10.1.9.1", WEB)));
    assert!(Arc::ptr_eq(&before, &build(&mut mesh, "10.1.9.1", OTHER)));
}
