#![allow(clippy::needless_pass_by_value, reason = "json!(…) stands in the call")]

use crate::kinds::tests::{refused, warned};
use serde_json::{Value, json};

const KIND: &str = "EnvoyFilter";

fn one(patch: Value) -> Value {
    json!({"configPatches": [patch]})
}

fn value(apply_to: &str, value: Value) -> Value {
    one(json!({"applyTo": apply_to, "patch": {"operation": "MERGE", "value": value}}))
}

/// Nothing but the warning that every EnvoyFilter gets.
fn accepted(spec: Value) {
    warned(KIND, spec, &["spec"]);
}

fn warned_at(spec: Value, path: &str) {
    warned(KIND, spec, &["spec", path]);
}

fn refused_at(spec: Value, path: &str) {
    refused(KIND, spec, &[path]);
}

#[test]
fn every_one_is_warned_of() {
    accepted(json!({}));
    warned_at(json!({"workloadSelector": {}}), "spec.workloadSelector");
    refused_at(json!({"workloadSelector": {"labels": {"a": "*"}}}), "spec.workloadSelector.labels.a");
}

#[test]
fn a_patch_says_what_is_done_to_what() {
    accepted(one(json!({"applyTo": "CLUSTER", "patch": {"operation": "REMOVE"}})));
    for (patch, path) in [
        (json!({"patch": {"operation": "REMOVE"}}), "applyTo"),
        (json!({"applyTo": "CLUSTER"}), "patch"),
        (json!({"applyTo": "CLUSTER", "patch": {"value": {}}}), "patch.operation"),
        (json!({"applyTo": "CLUSTER", "patch": {"operation": "MERGE"}}), "patch.value"),
    ] {
        refused_at(one(patch), &format!("spec.configPatches[0].{path}"));
    }
}

#[test]
fn nothing_is_asked_of_a_patch_for_waypoints() {
    accepted(one(json!({"match": {"context": "WAYPOINT"}})));
}

#[test]
fn what_is_matched_is_of_the_sort_that_is_patched() {
    let matching = |apply_to: &str, object: &str| {
        one(json!({"applyTo": apply_to, "match": {object: {}}, "patch": {"operation": "REMOVE"}}))
    };
    for (apply_to, object) in [
        ("LISTENER", "listener"),
        ("HTTP_FILTER", "listener"),
        ("VIRTUAL_HOST", "routeConfiguration"),
        ("CLUSTER", "cluster"),
        ("BOOTSTRAP", "cluster"),
        ("LISTENER_FILTER", "cluster"),
    ] {
        accepted(matching(apply_to, object));
    }
    for (apply_to, object) in [
        ("NETWORK_FILTER", "cluster"),
        ("FILTER_CHAIN", "waypoint"),
        ("HTTP_ROUTE", "listener"),
        ("CLUSTER", "routeConfiguration"),
    ] {
        refused_at(matching(apply_to, object), &format!("spec.configPatches[0].match.{object}"));
    }
}

#[test]
fn a_proxy_s_version_is_matched_by_a_regular_expression() {
    let version = |version: &str| {
        let proxy = json!({"proxy": {"proxyVersion": version}});
        one(json!({"applyTo": "CLUSTER", "match": proxy, "patch": {"operation": "REMOVE"}}))
    };
    let at = "spec.configPatches[0].match.proxy.proxyVersion";
    accepted(version("^1\\.31.*"));
    refused_at(version("1.(31"), at);
    warned_at(version(&"(".repeat(1025)), at);
}

#[test]
fn a_filter_is_matched_by_its_name() {
    let filter = |apply_to: &str, filter: Value| {
        let matches = json!({"listener": {"filterChain": {"filter": filter}}});
        one(json!({"applyTo": apply_to, "match": matches, "patch": {"operation": "REMOVE"}}))
    };
    let at = |path: &str| format!("spec.configPatches[0].match.listener.filterChain.filter{path}");
    let manager = "envoy.filters.network.http_connection_manager";
    accepted(filter("HTTP_FILTER", json!({"name": manager, "subFilter": {"name": "a"}})));
    warned_at(filter("LISTENER", json!({"name": manager})), &at(""));
    warned_at(filter("NETWORK_FILTER", json!({"name": "envoy.tcp_proxy"})), &at(".name"));
    warned_at(
        filter("HTTP_FILTER", json!({"name": manager, "subFilter": {"name": "envoy.lua"}})),
        &at(".subFilter.name"),
    );
    for (apply_to, filter_match, path) in [
        ("NETWORK_FILTER", json!({}), ".name"),
        ("NETWORK_FILTER", json!({"name": manager, "subFilter": {"name": "a"}}), ".subFilter"),
        ("HTTP_FILTER", json!({"name": "a", "subFilter": {"name": "a"}}), ".name"),
        ("HTTP_FILTER", json!({"name": manager, "subFilter": {}}), ".subFilter.name"),
    ] {
        refused_at(filter(apply_to, filter_match), &at(path));
    }
}

const VALUE: &str = "spec.configPatches[0].patch.value";

#[test]
fn a_value_is_a_part_of_the_message_that_is_patched() {
    for (apply_to, part) in [
        ("CLUSTER", json!({"name": "a", "connect_timeout": "1m30s", "lbPolicy": "RING_HASH"})),
        ("CLUSTER", json!({"lb_policy": 2, "per_connection_buffer_limit_bytes": "1024"})),
        ("LISTENER", json!({"address": null, "filter_chains": [null, {}]})),
        ("VIRTUAL_HOST", json!({"domains": ["a", null], "response_headers_to_add": []})),
        ("HTTP_ROUTE", json!({"redirect": {}, "route": {"cluster": "a"}})),
        ("ROUTE_CONFIGURATION", json!({"validate_clusters": false})),
        ("FILTER_CHAIN", json!({"metadata": {"filter_metadata": {"a": {"b": [1, null]}}}})),
        ("BOOTSTRAP", json!({"node": {"id": "a"}})),
    ] {
        accepted(value(apply_to, part));
    }
    for (apply_to, part, path) in [
        ("CLUSTER", json!({"name": 1}), ".name"),
        ("CLUSTER", json!({"connect_timeout": "1"}), ".connect_timeout"),
        ("CLUSTER", json!({"lb_policy": "BEST"}), ".lb_policy"),
        ("CLUSTER", json!({"lb_policy": true}), ".lb_policy"),
        ("CLUSTER", json!({"per_connection_buffer_limit_bytes": -1}), ".per_connection_buffer_limit_bytes"),
        ("CLUSTER", json!({"circuit_breakers": []}), ".circuit_breakers"),
        ("VIRTUAL_HOST", json!({"domains": "a"}), ".domains"),
        ("VIRTUAL_HOST", json!({"domains": ["a", 1]}), ".domains[1]"),
        ("VIRTUAL_HOST", json!({"typed_per_filter_config": []}), ".typed_per_filter_config"),
        ("ROUTE_CONFIGURATION", json!({"validate_clusters": "false"}), ".validate_clusters"),
        ("FILTER_CHAIN", json!({"metadata": {"filter_metadata": {"a": 1}}}), ".metadata.filter_metadata.a"),
    ] {
        refused_at(value(apply_to, part), &format!("{VALUE}{path}"));
    }
}

#[test]
fn all_that_is_wrong_in_a_value_is_told_at_once() {
    refused(
        KIND,
        value("CLUSTER", json!({"name": [], "lb_policy": "BEST", "circuit_breakers": {"thresholds": [1]}})),
        &[
            &format!("{VALUE}.circuit_breakers.thresholds[0]"),
            &format!("{VALUE}.lb_policy"),
            &format!("{VALUE}.name"),
        ],
    );
}

#[test]
fn a_field_that_has_no_place_is_a_warning() {
    warned_at(value("CLUSTER", json!({"nam": 1})), &format!("{VALUE}.nam"));
    warned_at(value("CLUSTER", json!({"@type": "a"})), &format!("{VALUE}[\"@type\"]"));
}

#[test]
fn of_two_spellings_the_one_of_json_counts() {
    accepted(value("CLUSTER", json!({"connect_timeout": 1, "connectTimeout": "1s"})));
}

fn filter(config: Value) -> Value {
    value("HTTP_FILTER", json!({"name": "a", "typed_config": config}))
}

#[test]
fn a_filter_has_a_type_that_is_known() {
    let lua = "type.googleapis.com/envoy.extensions.filters.http.lua.v3.Lua";
    accepted(filter(json!({"@type": lua, "inline_code": "a"})));
    accepted(filter(json!({"@type": "a/io.istio.http.peer_metadata.Config", "anything": 1})));
    accepted(filter(json!({
        "@type": "type.googleapis.com/udpa.type.v1.TypedStruct", "type_url": "a", "value": {"b": 1},
    })));
    accepted(filter(json!({"@type": "a/google.protobuf.StringValue", "value": "a", "other": 1})));
    let at = format!("{VALUE}.typed_config");
    warned_at(filter(json!({"@type": lua, "inlin_code": "a"})), &format!("{at}.inlin_code"));
    refused_at(filter(json!({"@type": lua, "inline_code": 1})), &format!("{at}.inline_code"));
    refused_at(filter(json!({})), &at);
    refused_at(filter(json!("a")), &at);
    refused_at(filter(json!({"@type": "a/google.protobuf.StringValue"})), &at);
    refused_at(filter(json!({"@type": "a/google.protobuf.StringValue", "value": 1})), &format!("{at}.value"));
    for url in [json!("a/envoy.config.filter.http.lua.v2.Lua"), json!("a"), json!(""), json!(1), Value::Null]
    {
        refused_at(filter(json!({"@type": url})), &format!("{at}[\"@type\"]"));
    }
}

#[test]
fn a_filter_that_is_only_named_is_a_warning() {
    warned_at(value("HTTP_FILTER", json!({"name": "a"})), VALUE);
    warned_at(value("NETWORK_FILTER", json!({"typed_config": null})), VALUE);
    accepted(value("HTTP_FILTER", json!({"config_discovery": {"type_urls": ["a"]}})));
    warned_at(
        value("CLUSTER", json!({"transport_socket": {"name": "tls"}})),
        &format!("{VALUE}.transport_socket"),
    );
    // Of several arms of a oneof the last stays, and Istio looks at nothing else.
    let balance = json!({"extend_balance": {"name": "a"}, "exact_balance": {}});
    warned_at(
        value("LISTENER", json!({"connection_balance_config": balance})),
        &format!("{VALUE}.connection_balance_config.extend_balance"),
    );
    let balance = json!({"extend_balance": {"name": "a"}, "cpu_locality_balance": {}});
    accepted(value("LISTENER", json!({"connection_balance_config": balance})));
    // Nor does it look into lists.
    accepted(value("FILTER_CHAIN", json!({"filters": [{"name": "a"}]})));
}

#[test]
fn a_field_of_an_old_message_may_be_required() {
    let option = json!({"name": [{"isExtension": true}]});
    refused_at(
        filter(json!({"@type": "a/google.protobuf.FieldOptions", "uninterpreted_option": [option]})),
        &format!("{VALUE}.typed_config.uninterpreted_option[0].name[0].namePart"),
    );
}

#[test]
fn nesting_without_end_is_refused_and_ends_nothing() {
    let mut matcher = json!({"any": true});
    for _ in 0..300 {
        matcher = json!({"not_id": matcher});
    }
    let found = {
        let mut spec = filter(json!({
            "@type": "a/envoy.extensions.filters.http.rbac.v3.RBAC",
            "rules": {"policies": {"a": {"principals": [matcher]}}},
        }));
        let object = json!({
            "apiVersion": "networking.istio.io/v1alpha3", "kind": "EnvoyFilter", "spec": spec.take(),
        });
        crate::validate(&mizzen_api::Object::read(&object).unwrap())
    };
    assert_eq!(found.errors().count(), 1);
}
