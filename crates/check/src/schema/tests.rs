use super::*;
use serde_json::{Map, json};

fn found(object: &Value) -> Vec<String> {
    let findings = check(object, Unknown::Refuse).unwrap();
    findings.errors().map(|finding| format!("{}: {}", finding.path, finding.message)).collect()
}

fn object(kind: &str, spec: &Value) -> Value {
    let crd = Crd::called(kind).unwrap();
    let version = crd.served().next().unwrap();
    json!({
        "apiVersion": format!("{}/{version}", crd.group), "kind": kind, "metadata": { "name": "x" }, "spec": spec,
    })
}

#[test]
fn every_kind_compiles_and_takes_its_smallest_object() {
    for crd in Crd::all() {
        let smallest = match crd.kind.as_str() {
            "ServiceEntry" => json!({ "hosts": ["a"] }),
            "WorkloadEntry" => json!({ "address": "1.1.1.1" }),
            "WorkloadGroup" => json!({ "template": {} }),
            "WasmPlugin" => json!({ "url": "oci://a/b" }),
            "TrafficExtension" => json!({ "lua": { "inlineCode": "x" } }),
            "DestinationRule" => json!({ "host": "a" }),
            _ => json!({}),
        };
        assert_eq!(found(&object(&crd.kind, &smallest)), [""; 0], "{}", crd.kind);
    }
}

#[test]
fn a_version_that_is_not_served_is_told_with_those_that_are() {
    let mut object = object("Telemetry", &json!({}));
    object["apiVersion"] = "telemetry.istio.io/v2".into();
    let expected = "apiVersion: Telemetry has no version \"v2\"; it is served as telemetry.istio.io/v1, \
                    telemetry.istio.io/v1alpha1";
    assert_eq!(found(&object), [expected]);
}

#[test]
fn what_is_not_istios_is_not_judged() {
    for (version, kind) in
        [("v1", "Pod"), ("networking.istio.io/v1", "Pod"), ("gateway.networking.k8s.io/v1", "Gateway")]
    {
        assert!(check(&json!({ "apiVersion": version, "kind": kind }), Unknown::Refuse).is_none());
    }
    for value in [json!(null), json!([]), json!({}), json!({ "apiVersion": 1, "kind": [] })] {
        assert!(check(&value, Unknown::Refuse).is_none());
    }
}

#[test]
fn several_mistakes_are_found_in_one_pass() {
    let service = object(
        "VirtualService",
        &json!({
            "hosts": "a",
            "http": [
                { "timeout": "soon", "retries": { "attempts": "many" } },
                { "rewrite": { "uri": "/" }, "fault": { "abort": { "httpStatus": 500, "grpcStatus": "x" } } },
            ],
        }),
    );
    assert_eq!(
        found(&service),
        [
            "spec.hosts: must be a list, not \"a\"",
            "spec.http[0].retries.attempts: must be an integer, not \"many\"",
            "spec.http[0].timeout: must be a valid duration greater than 1ms",
            "spec.http[1].fault.abort: only one of httpStatus, grpcStatus can be set",
        ]
    );
}

#[test]
fn unknown_fields_are_for_the_caller_to_judge() {
    let filter = object(
        "EnvoyFilter",
        &json!({ "priorty": 1, "configPatches": [{ "applyTo": "CLUSTER", "patch": { "value": { "any": [{ "thing": 1 }] } } }] }),
    );
    assert_eq!(found(&filter), ["spec.priorty: is an unknown field"]);
    assert_eq!(check(&filter, Unknown::Ignore).unwrap().iter().count(), 0);
    let warned = check(&filter, Unknown::Warn).unwrap();
    assert!(warned.accepted() && warned.iter().count() == 1);
}

#[test]
fn nulls_are_absent_where_they_are_not_allowed() {
    assert_eq!(found(&object("DestinationRule", &json!({ "host": null }))), ["spec.host: is required"]);
    assert_eq!(found(&object("DestinationRule", &json!({ "host": "a", "subsets": null }))), [""; 0]);
    assert_eq!(
        found(&object("DestinationRule", &json!({ "host": "a", "subsets": [null] }))),
        ["spec.subsets[0]: must be a map, not null"]
    );
    assert_eq!(found(&object("WasmPlugin", &json!({ "url": "a", "priority": null }))), [""; 0]);
}

#[test]
fn a_status_is_checked_only_as_a_status() {
    let mut object = object("Gateway", &json!({}));
    object["status"] =
        json!({ "conditions": [{ "lastProbeTime": "now", "observedGeneration": true }], "own": 1 });
    assert_eq!(found(&object), [""; 0]);
    let status: Vec<_> =
        check_status(&object).unwrap().errors().map(|finding| finding.path.to_string()).collect();
    assert_eq!(
        status,
        [
            "status.conditions[0].lastProbeTime",
            "status.conditions[0].observedGeneration",
            "status.conditions[0].observedGeneration"
        ]
    );
}

#[test]
fn deep_and_odd_objects_do_no_harm() {
    let mut deep = json!(1);
    for _ in 0..100_000 {
        deep = Value::Object(Map::from_iter([("a".to_owned(), deep)]));
    }
    let mut filter = object("EnvoyFilter", &json!({ "configPatches": [{ "patch": {} }] }));
    filter["spec"]["configPatches"][0]["patch"]["value"] = deep;
    assert_eq!(found(&filter), [""; 0]);
    // Dropping it by recursion would overflow the stack, which is its maker's business.
    std::mem::forget(filter);
    for spec in [json!(null), json!(1), json!("x"), json!([[[]]]), json!({ "": { "": [] } }), json!(true)] {
        for crd in Crd::all() {
            let _ = found(&object(&crd.kind, &spec));
        }
    }
}
