//! EnvoyFilters beside Istio's webhook: every type that a filter's configuration may have, and odd values in every field
//! of every message that can be patched.

#![allow(clippy::unwrap_used, reason = "what a test builds on is there, or the test fails")]
#![allow(clippy::print_stdout, reason = "the counts of what was compared are what this test is for")]

use mizzen_api::{Object, proto::descriptors};
use mizzen_check::validate;
use mizzen_testkit::{Oracle, Result, needs, oracle::Verdict};
use mizzen_text::Severity;
use serde_json::{Value, json};

/// Linked into istiod by its telemetry and not by its webhook, which is all that the oracle has.
const NOT_IN_THE_ORACLE: &str = "stats.";

/// Contributed extensions and others of which the descriptor set does not know; the last of each pair is misspelt.
const OTHERS: &[&str] = &[
    "envoy.extensions.filters.http.golang.v3alpha.Config",
    "envoy.extensions.filters.http.golang.v3alpha.Confi",
    "envoy.extensions.filters.network.kafka_broker.v3.KafkaBroker",
    "envoy.extensions.filters.network.kafka_broker.v3.kafkaBroker",
    "envoy.extensions.filters.network.sip_proxy.v3alpha.SipProxy.SipSettings",
    "envoy.extensions.filters.network.sip_proxy.v3alpha.SipSettings",
    "io.istio.http.peer_metadata.Config",
    "io.istio.http.peer_metadata",
    "xds.type.matcher.v3.CelMatcher",
    "xds.type.matcher.v3.CelMatcher.",
    "istio.envoy.config.filter.http.jwt_auth.v2alpha1.JwtRule",
    "envoy.config.filter.http.lua.v2.Lua",
];

const PATCHED: &[(&str, &str)] = &[
    ("BOOTSTRAP", "envoy.config.bootstrap.v3.Bootstrap"),
    ("CLUSTER", "envoy.config.cluster.v3.Cluster"),
    ("EXTENSION_CONFIG", "envoy.config.core.v3.TypedExtensionConfig"),
    ("FILTER_CHAIN", "envoy.config.listener.v3.FilterChain"),
    ("HTTP_FILTER", "envoy.extensions.filters.network.http_connection_manager.v3.HttpFilter"),
    ("HTTP_ROUTE", "envoy.config.route.v3.Route"),
    ("LISTENER", "envoy.config.listener.v3.Listener"),
    ("LISTENER_FILTER", "envoy.config.listener.v3.ListenerFilter"),
    ("NETWORK_FILTER", "envoy.config.listener.v3.Filter"),
    ("ROUTE_CONFIGURATION", "envoy.config.route.v3.RouteConfiguration"),
    ("VIRTUAL_HOST", "envoy.config.route.v3.VirtualHost"),
];

fn odd_values() -> Vec<Value> {
    vec![
        Value::Null,
        json!(true),
        json!("true"),
        json!("a"),
        json!(""),
        json!("5"),
        json!(" 5 "),
        json!("5.0"),
        json!("NaN"),
        json!("null"),
        json!("1s"),
        json!("YQ=="),
        json!(0),
        json!(-1),
        json!(-0.0),
        json!(1.5),
        json!(4_294_967_296_u64),
        json!(1e30),
        json!([]),
        json!([null]),
        json!(["a"]),
        json!([1, 300]),
        json!([{}]),
        json!({}),
        json!({"name": "a"}),
        json!({"a": null}),
        json!({"a": {}}),
        json!({"@type": "a"}),
        json!({"@type": "type.googleapis.com/envoy.extensions.filters.http.router.v3.Router"}),
        json!({"@type": "google.protobuf.Duration", "value": "1s"}),
    ]
}

fn filter(apply_to: &str, value: &Value) -> Value {
    json!({
        "apiVersion": "networking.istio.io/v1alpha3",
        "kind": "EnvoyFilter",
        "metadata": {"name": "name", "namespace": "space"},
        "spec": {"configPatches": [{"applyTo": apply_to, "patch": {"operation": "MERGE", "value": value}}]},
    })
}

/// How many objects have the same verdict and, if accepted, warnings besides the one that all have; and which have not.
fn compared(objects: &[Value]) -> Result<(usize, Vec<String>)> {
    let mut equal = 0;
    let mut wrong = Vec::new();
    for (object, theirs) in objects.iter().zip(Oracle::shared().verdicts(objects)?) {
        assert_eq!((&theirs.decode, &theirs.panic), (&None, &None), "{object}");
        let found = validate(&Object::read(object).unwrap());
        let warnings = found.iter().filter(|finding| finding.severity == Severity::Warning).count();
        if found.accepted() == theirs.accepted && (!theirs.accepted || (warnings > 1) == warned(&theirs)) {
            equal += 1;
        } else {
            let spec = &object["spec"];
            wrong.push(format!("{spec}\n  {:?} {:?}\n  ours {found:?}", theirs.errors, theirs.warnings));
        }
    }
    Ok((equal, wrong))
}

fn warned(theirs: &Verdict) -> bool {
    theirs.warnings.len() > 1
}

#[test]
fn a_filter_may_have_the_types_that_istio_knows() -> Result<()> {
    needs!(Oracle::NEEDS);
    let mut names: Vec<String> =
        descriptors().all_messages().map(|message| message.full_name().to_owned()).collect();
    // The entries of maps are messages of ours only.
    names.retain(|name| {
        let message = descriptors().get_message_by_name(name).unwrap();
        !message.is_map_entry() && !name.starts_with(NOT_IN_THE_ORACLE)
    });
    names.extend(OTHERS.iter().map(|name| (*name).to_owned()));
    let objects: Vec<Value> = names
        .iter()
        .map(|name| {
            let mut config = json!({"@type": format!("type.googleapis.com/{name}")});
            // Some of these are not an object of their fields, and then stand in a field of this name.
            if name.starts_with("google.protobuf.") {
                config["value"] = Value::Null;
            }
            filter("EXTENSION_CONFIG", &json!({"name": "a", "typed_config": config}))
        })
        .collect();
    let (equal, wrong) = compared(&objects)?;
    println!("types of a filter: {equal} / {}", objects.len());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    Ok(())
}

#[test]
fn odd_values_are_taken_as_istio_takes_them() -> Result<()> {
    needs!(Oracle::NEEDS);
    let mut objects = Vec::new();
    for (apply_to, name) in PATCHED {
        let message = descriptors().get_message_by_name(name).unwrap();
        for (index, field) in message.fields().enumerate() {
            let name = if index % 2 == 0 { field.name() } else { field.json_name() };
            for value in odd_values() {
                objects.push(filter(apply_to, &json!({name: value})));
            }
        }
    }
    let (equal, wrong) = compared(&objects)?;
    println!("odd values in {} fields: {equal} / {}", objects.len() / odd_values().len(), objects.len());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    Ok(())
}
