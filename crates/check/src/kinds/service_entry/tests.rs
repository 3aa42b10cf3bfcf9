use crate::kinds::tests::{accepted, accepted_with, refused, refused_with, warned, warned_with};
use serde_json::{Value, json};

const KIND: &str = "ServiceEntry";

fn with(base: &Value, more: &Value) -> Value {
    let mut all = base.clone();
    for (name, value) in more.as_object().unwrap() {
        all[name] = value.clone();
    }
    all
}

fn external() -> Value {
    json!({
        "hosts": ["a.example.com"],
        "ports": [{"number": 80, "name": "http", "protocol": "HTTP"}],
        "resolution": "DNS",
    })
}

#[test]
fn a_service_by_its_name_is_accepted() {
    accepted(KIND, external());
    accepted(KIND, with(&external(), &json!({"resolution": "NONE", "addresses": ["10.0.0.0/8"]})));
}

#[test]
fn hosts_are_names_whose_first_label_may_be_a_wildcard() {
    refused(KIND, with(&external(), &json!({"hosts": [], "resolution": "NONE"})), &["spec.hosts"]);
    refused(
        KIND,
        with(&external(), &json!({"hosts": ["*", "a.*", "*.example.com"], "resolution": "NONE"})),
        &["spec.hosts[0]", "spec.hosts[1]"],
    );
    warned(
        KIND,
        with(&external(), &json!({"hosts": ["*-a.example.com"], "resolution": "NONE"})),
        &["spec.hosts[0]"],
    );
}

#[test]
fn addresses_are_ips_and_blocks_only_where_nothing_is_resolved() {
    accepted(KIND, with(&external(), &json!({"addresses": ["1.2.3.4", "::1"]})));
    refused(
        KIND,
        with(&external(), &json!({"addresses": ["a", "10.0.0.0/8"]})),
        &["spec.addresses[0]", "spec.addresses[1]"],
    );
    accepted(KIND, with(&external(), &json!({"addresses": ["10.0.0.0/8"], "resolution": "STATIC"})));
}

#[test]
fn ports_have_a_name_a_number_and_a_protocol_of_their_own() {
    let ports = |ports: Value| with(&external(), &json!({"ports": ports}));
    accepted(KIND, ports(json!([{"number": 1, "name": "a"}, {"number": 2, "name": "b", "targetPort": 80}])));
    refused(
        KIND,
        ports(json!([{"number": 1, "name": "a"}, {"number": 1, "name": "a"}])),
        &["spec.ports[1].name", "spec.ports[1].number"],
    );
    refused(
        KIND,
        ports(json!([{"number": 0, "name": "", "protocol": "x", "targetPort": 70000}])),
        &["spec.ports[0].targetPort", "spec.ports[0].name", "spec.ports[0].protocol", "spec.ports[0].number"],
    );
}

#[test]
fn a_tcp_port_wants_an_address() {
    let tcp = with(&external(), &json!({"ports": [{"number": 1, "name": "a", "protocol": "TCP"}]}));
    accepted(KIND, tcp.clone());
    let declined = json!({"labels": {"networking.istio.io/enable-autoallocate-ip": "False"}});
    warned_with(KIND, &declined, tcp.clone(), &["spec.ports[0].protocol"]);
    warned(KIND, with(&tcp, &json!({"resolution": "NONE"})), &["spec.ports[0].protocol"]);
    accepted_with(KIND, &declined, with(&tcp, &json!({"addresses": ["1.2.3.4"]})));
}

#[test]
fn endpoints_come_from_a_selector_or_from_a_list() {
    let fixed = with(&external(), &json!({"resolution": "STATIC"}));
    accepted(KIND, with(&fixed, &json!({"workloadSelector": {"labels": {"a": "b"}}})));
    warned(KIND, with(&fixed, &json!({"workloadSelector": {}})), &["spec.workloadSelector"]);
    refused(
        KIND,
        with(
            &fixed,
            &json!({"workloadSelector": {"labels": {"a": "b"}}, "endpoints": [{"address": "1.2.3.4"}]}),
        ),
        &["spec.workloadSelector"],
    );
    refused(
        KIND,
        with(&fixed, &json!({"workloadSelector": {"labels": {"a": "*"}}})),
        &["spec.workloadSelector.labels.a"],
    );
}

#[test]
fn nothing_is_resolved_to_no_endpoints() {
    let none = with(&external(), &json!({"resolution": "NONE"}));
    refused(KIND, with(&none, &json!({"endpoints": [{"address": "1.2.3.4"}]})), &["spec.endpoints"]);
    warned(
        KIND,
        with(&none, &json!({"workloadSelector": {"labels": {"a": "b"}}})),
        &["spec.workloadSelector"],
    );
}

#[test]
fn static_endpoints_are_addresses() {
    let endpoint =
        |endpoint: Value| with(&external(), &json!({"resolution": "STATIC", "endpoints": [endpoint]}));
    accepted(KIND, endpoint(json!({"address": "1.2.3.4", "ports": {"http": 8080}})));
    accepted(KIND, endpoint(json!({"address": "unix:///a"})));
    refused(KIND, endpoint(json!({"address": "a.example.com"})), &["spec.endpoints[0].address"]);
    refused(
        KIND,
        endpoint(json!({"address": "1.2.3.4", "ports": {"other": 80}})),
        &["spec.endpoints[0].ports.other"],
    );
    refused(
        KIND,
        with(&endpoint(json!({"address": "unix:///a"})), &json!({"ports": []})),
        &["spec.endpoints[0].address"],
    );
}

#[test]
fn resolved_endpoints_are_names_or_addresses() {
    let endpoints = |by: &str, endpoints: Value| {
        with(&external(), &json!({"resolution": by, "endpoints": endpoints, "hosts": ["*.example.com"]}))
    };
    accepted(KIND, endpoints("DNS", json!([{"address": "b.example.com"}, {"address": "1.2.3.4"}])));
    refused(
        KIND,
        endpoints("DNS", json!([{"address": "unix:///a"}, {"address": "a_b"}, {"network": "n"}])),
        &["spec.endpoints[0].address", "spec.endpoints[1].address", "spec.endpoints[2].address"],
    );
    refused(
        KIND,
        endpoints("DNS_ROUND_ROBIN", json!([{"address": "b.example.com"}, {"address": "1.2.3.4"}])),
        &["spec.endpoints"],
    );
    refused(KIND, endpoints("DNS", json!([])), &["spec.hosts[0]"]);
}

#[test]
fn names_found_on_the_fly_are_wildcards_without_addresses() {
    let dynamic = json!({
        "hosts": ["*.example.com"],
        "ports": [{"number": 443, "name": "tls", "protocol": "TLS"}],
        "resolution": "DYNAMIC_DNS",
    });
    accepted(KIND, dynamic.clone());
    for (more, path) in [
        (json!({"hosts": ["a.example.com"]}), "spec.hosts[0]"),
        (json!({"addresses": ["1.2.3.4"]}), "spec.addresses"),
        (json!({"endpoints": [{"address": "1.2.3.4"}]}), "spec.endpoints"),
        (json!({"ports": [{"number": 1, "name": "a", "protocol": "TCP"}]}), "spec.ports[0].protocol"),
    ] {
        refused(KIND, with(&dynamic, &more), &[path]);
    }
    let inside = with(&dynamic, &json!({"location": "MESH_INTERNAL"}));
    let waypoint = |name: &str| json!({"labels": {"istio.io/use-waypoint": name}});
    accepted_with(KIND, &waypoint("none"), inside.clone());
    refused_with(KIND, &waypoint("w"), inside, &["spec.location"]);
}

#[test]
fn several_hosts_must_be_told_apart() {
    let two = with(&external(), &json!({"hosts": ["a.example.com", "b.example.com"]}));
    accepted(KIND, two.clone());
    let tcp = with(&two, &json!({"ports": [{"number": 1, "name": "a", "protocol": "TCP"}]}));
    refused(KIND, tcp.clone(), &["spec.ports[0].protocol"]);
    warned(
        KIND,
        with(
            &two,
            &json!({"addresses": ["1.2.3.4"], "ports": [{"number": 1, "name": "a", "protocol": "TLS"}]}),
        ),
        &["spec.hosts"],
    );
    warned(KIND, with(&tcp, &json!({"resolution": "NONE"})), &["spec.ports[0].protocol"]);
}

#[test]
fn it_may_be_exported_to_nobody() {
    accepted(KIND, with(&external(), &json!({"exportTo": ["~"]})));
    refused(KIND, with(&external(), &json!({"exportTo": ["~", "a"]})), &["spec.exportTo"]);
}
