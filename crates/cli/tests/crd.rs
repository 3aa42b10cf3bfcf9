//! `crd print`: the definitions of Istio's kinds.

#![allow(clippy::unwrap_used, reason = "what a test builds on is there, or the test fails")]

mod common;

use common::run;
use mizzen_text::{Source, yaml};
use serde_json::Value;

fn json(line: &str) -> Value {
    serde_json::from_str(&run(line).good()).unwrap()
}

fn kinds(list: &Value) -> Vec<&str> {
    list["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|item| item["spec"]["names"]["kind"].as_str().unwrap())
        .collect()
}

#[test]
fn all_fifteen_are_printed_with_their_schemas() {
    let list = json("mizzen crd print -o json");
    assert_eq!(kinds(&list).len(), 15);
    for definition in list["items"].as_array().unwrap() {
        assert_eq!(definition["kind"], "CustomResourceDefinition");
        for version in definition["spec"]["versions"].as_array().unwrap() {
            assert_eq!(version["schema"]["openAPIV3Schema"]["type"], "object");
        }
    }
}

#[test]
fn a_kind_is_found_by_any_of_its_names_and_printed_once() {
    let one = json("mizzen crd print VirtualService -o json");
    assert_eq!(one["metadata"]["name"], "virtualservices.networking.istio.io");
    for name in ["virtualservice", "VIRTUALSERVICES", "vs", "virtualservices.networking.istio.io"] {
        assert_eq!(json(&format!("mizzen crd print {name} vs -o json")), one, "{name}");
    }
    assert_eq!(kinds(&json("mizzen crd print se gw -o json")), ["ServiceEntry", "Gateway"]);
}

#[test]
fn yaml_has_a_document_a_kind() {
    let yaml = run("mizzen crd print gateway telemetry").good();
    assert_eq!(yaml.lines().filter(|line| *line == "---").count(), 2);
    assert!(
        yaml.starts_with("---\napiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\n"),
        "{yaml:.200}"
    );
    assert_eq!(run("mizzen crd print -o yaml").good().lines().filter(|line| *line == "---").count(), 15);
}

#[test]
fn yaml_says_the_same_as_json() {
    let source = Source::new("printed", run("mizzen crd print").good());
    let options = yaml::Options::default();
    let documents: Vec<Value> =
        yaml::load_all(&source, &options).map(|document| document.unwrap().value).collect();
    assert_eq!(Value::from(documents), json("mizzen crd print -o json")["items"]);
}

#[test]
fn an_unknown_kind_is_wrong_usage_and_the_nearest_is_named() {
    let said = run("mizzen crd print gateway VirtualServce").bad(2);
    assert!(said.contains("'VirtualServce'") && said.contains("did you mean VirtualService?"), "{said}");
    let said = run("mizzen crd print Deployment").bad(2);
    assert!(said.contains("hint: the kinds are TrafficExtension, "), "{said}");
}

#[test]
fn the_resources_of_the_operators_are_printed_by_name_only() {
    for name in ["istio", "Istios", "istios.operator.kyma-project.io"] {
        let definition = json(&format!("mizzen crd print {name} -o json"));
        assert_eq!(definition["metadata"]["name"], "istios.operator.kyma-project.io", "{name}");
    }
    let both = json("mizzen crd print iop istio istio -o json");
    assert_eq!(kinds(&both), ["IstioOperator", "Istio"]);
    assert!(!kinds(&json("mizzen crd print -o json")).contains(&"Istio"));
}

#[test]
fn no_task_is_wrong_usage() {
    run("mizzen crd").bad(2);
}
