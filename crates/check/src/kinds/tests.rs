//! How the kinds' tests say what they expect of an object.

#![allow(clippy::needless_pass_by_value, reason = "json!(…) stands in the call")]

use crate::{Finding, Findings, validate};
use mizzen_api::{Kind, Object};
use mizzen_text::Severity;
use serde_json::{Value, json};

fn findings(kind: &str, metadata: &Value, spec: &Value) -> Findings {
    let known = Kind::ALL.iter().find(|known| known.name() == kind).unwrap();
    let mut document = json!({
        "apiVersion": format!("{}/{}", known.group(), known.versions()[0]),
        "kind": kind,
        "metadata": {"name": "name", "namespace": "space"},
        "spec": spec,
    });
    for (name, value) in metadata.as_object().unwrap() {
        document["metadata"][name] = value.clone();
    }
    validate(&Object::read(&document).unwrap())
}

fn paths<'a>(found: impl Iterator<Item = &'a Finding>) -> Vec<String> {
    found.map(|finding| finding.path.to_string()).collect()
}

/// Without a word.
pub(crate) fn accepted(kind: &str, spec: Value) {
    accepted_with(kind, &json!({}), spec);
}

pub(crate) fn accepted_with(kind: &str, metadata: &Value, spec: Value) {
    let found = findings(kind, metadata, &spec);
    assert_eq!(found.iter().next(), None, "{spec:#}");
}

/// With errors at exactly these paths.
pub(crate) fn refused(kind: &str, spec: Value, at: &[&str]) {
    refused_with(kind, &json!({}), spec, at);
}

pub(crate) fn refused_with(kind: &str, metadata: &Value, spec: Value, at: &[&str]) {
    let found = findings(kind, metadata, &spec);
    assert_eq!(paths(found.errors()), at, "{spec:#}\n{found:#?}");
}

/// Accepted, with warnings at exactly these paths.
pub(crate) fn warned(kind: &str, spec: Value, at: &[&str]) {
    warned_with(kind, &json!({}), spec, at);
}

pub(crate) fn warned_with(kind: &str, metadata: &Value, spec: Value, at: &[&str]) {
    let found = findings(kind, metadata, &spec);
    assert!(found.accepted(), "{spec:#}\n{found:#?}");
    let warnings = found.iter().filter(|finding| finding.severity == Severity::Warning);
    assert_eq!(paths(warnings), at, "{spec:#}\n{found:#?}");
}
