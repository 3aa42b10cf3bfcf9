//! JSON Schema says what an API server says of the same objects.
#![allow(clippy::unwrap_used, reason = "this is test code, which the lint cannot see here")]

mod common;
#[path = "common/documents.rs"]
mod documents;

use common::{fits::fits, istio, models};
use mizzen_api::crd::Crd;
use mizzen_backbone::Language;
use mizzen_check::schema::{Unknown, check};
use serde_json::Value;
use std::collections::BTreeMap;

fn schemas() -> BTreeMap<String, Value> {
    let files = models(&istio(), Language::JsonSchema);
    files.into_iter().map(|file| (file.path, serde_json::from_str(&file.text).unwrap())).collect()
}

#[test]
fn every_version_of_every_kind_has_a_schema_by_the_name_that_editors_look_for() {
    let schemas = schemas();
    assert_eq!(schemas.len(), Crd::all().map(|crd| crd.versions.len()).sum::<usize>());
    let schema = &schemas["networking.istio.io/destinationrule_v1.json"];
    assert_eq!(schema["properties"]["apiVersion"]["const"], "networking.istio.io/v1");
    assert_eq!(schema["$schema"], "http://json-schema.org/draft-07/schema#");
}

#[test]
fn objects_are_taken_and_refused_as_by_the_definition() {
    let schemas = schemas();
    for case in documents::all() {
        let object = case.object();
        let findings = check(&object, Unknown::Refuse).unwrap();
        assert_eq!(findings.accepted(), case.good, "{object}");
        let schema = &schemas[&format!("{}/{}_v1.json", case.group, case.kind.to_lowercase())];
        assert_eq!(fits(schema, &object), case.good || case.by_rule_only, "{object}");
    }
}

#[test]
fn rules_that_cannot_be_said_are_carried_along() {
    fn count(schema: &Value) -> usize {
        let own = schema["x-kubernetes-validations"].as_array().map_or(0, Vec::len);
        let within = schema["properties"].as_object().into_iter().flatten().map(|(_, inner)| inner);
        let within = within
            .chain([&schema["items"], &schema["additionalProperties"]])
            .filter(|inner| inner.is_object());
        own + within.map(count).sum::<usize>()
    }
    let schemas = schemas();
    let all: usize = schemas.values().map(count).sum();
    let versions =
        Crd::all().flat_map(|crd| crd.versions.iter().filter_map(|version| crd.schema(&version.name)));
    assert_eq!(all, versions.map(count).sum::<usize>(), "as many as the definitions have");
    assert!(all > 300, "{all}");
    let unknown = serde_json::json!({"apiVersion": "networking.istio.io/v1", "kind": "DestinationRule", "spec": {"host": "a", "hots": 1}});
    assert!(!fits(&schemas["networking.istio.io/destinationrule_v1.json"], &unknown));
}
