//! An object's metadata, as far as it can be judged without a server.
//!
//! Types first, as the server decodes them (a wrong one and it looks no further, here the other fields are still
//! checked), then names, labels, annotations, owners and finalizers. A namespace may be left out: it is filled in when
//! the object is sent. What only the server writes (`managedFields`, `resourceVersion`, …) has its type checked only.

use mizzen_api::Metadata;
use mizzen_text::At;
use serde_json::{Map, Value};

use super::{Unknown, format::Format, names, rules::present};
use crate::Findings;

/// Of keys and values of all annotations together.
const ANNOTATIONS: usize = 256 * 1024;
/// Where a generated name is cut before its five characters are appended.
const GENERATED: usize = 58;

const NO_METADATA: Value = Value::Null;

pub(super) fn check(metadata: Option<&Value>, unknown: Unknown, findings: &mut Findings) {
    let at = At::TOP.field("metadata");
    let metadata = metadata.unwrap_or(&NO_METADATA);
    match metadata {
        Value::Object(fields) => types(fields, &at, unknown, findings),
        Value::Null => {}
        _ => return findings.error(&at, "must be a map"),
    }
    names(metadata, &at, findings);
    labels(metadata, &at, findings);
    annotations(metadata, &at, findings);
    owners(metadata, &at, findings);
    finalizers(metadata, &at, findings);
}

fn types(fields: &Map<String, Value>, at: &At<'_>, unknown: Unknown, findings: &mut Findings) {
    for (name, value) in fields {
        let at = at.field(name);
        let wanted = match name.as_str() {
            "name" | "generateName" | "namespace" | "selfLink" | "uid" | "resourceVersion" => "a string",
            "generation" | "deletionGracePeriodSeconds" => "an integer",
            "creationTimestamp" | "deletionTimestamp" => "a time such as 2026-01-31T12:00:00Z",
            "labels" | "annotations" => "a map",
            "ownerReferences" | "finalizers" | "managedFields" => "a list",
            _ => {
                unknown.tell(name, Metadata::FIELDS.iter().copied(), &at, findings);
                continue;
            }
        };
        let fits = value.is_null()
            || match wanted {
                "a string" => value.is_string(),
                "an integer" => value.is_i64(),
                "a map" => value.is_object(),
                "a list" => value.is_array(),
                _ => value.as_str().is_some_and(|text| Format::DateTime.refuses(text).is_none()),
            };
        if !fits {
            findings.error(&at, format!("must be {wanted}"));
        }
    }
}

fn names(metadata: &Value, at: &At<'_>, findings: &mut Findings) {
    let text = |field| present(metadata, field).and_then(Value::as_str).filter(|text| !text.is_empty());
    let generated = text("generateName").map(|start| (start, generated_name(start)));
    if let Some((_, Err(message))) = &generated {
        findings.error(&at.field("generateName"), message.as_str());
    }
    match text("name") {
        Some(name) => tell(names::subdomain(name), &at.field("name"), findings),
        None if generated.is_some() || present(metadata, "name").is_some_and(|name| !name.is_string()) => {}
        None => findings.error(&at.field("name"), "is required, or generateName"),
    }
    if let Some(namespace) = text("namespace") {
        tell(names::dns_label(namespace), &at.field("namespace"), findings);
    }
}

/// The start of a generated name must be good as it stands, but for a dash at its end, and with what is appended.
fn generated_name(start: &str) -> Result<(), String> {
    names::subdomain(start.strip_suffix('-').filter(|start| !start.is_empty()).unwrap_or(start)).or_else(
        |message| {
            // `a.-` is masked by the server before it looks; only what it generates from it shows the mistake.
            if start.ends_with(".-") { Ok(()) } else { Err(message) }
        },
    )?;
    let kept: String = start.chars().take(GENERATED).collect();
    names::subdomain(&format!("{kept}xxxxx"))
}

fn labels(metadata: &Value, at: &At<'_>, findings: &mut Findings) {
    let at = at.field("labels");
    for (key, value) in entries(metadata, "labels") {
        let at = at.field(key);
        tell(names::qualified(key), &at, findings);
        match value {
            Value::String(value) => tell(names::label_value(value), &at, findings),
            Value::Null => {}
            _ => findings.error(&at, "must be a string"),
        }
    }
}

fn annotations(metadata: &Value, at: &At<'_>, findings: &mut Findings) {
    let at = at.field("annotations");
    let mut size = 0;
    for (key, value) in entries(metadata, "annotations") {
        let text = value.as_str().unwrap_or_default();
        size += key.len() + text.len();
        // Upper and lower case do not matter here.
        tell(names::qualified(&key.to_lowercase()), &at.field(key), findings);
        if !value.is_string() && !value.is_null() {
            findings.error(&at.field(key), "must be a string");
        }
    }
    if size > ANNOTATIONS {
        findings.error(&at, format!("must have at most {ANNOTATIONS} bytes together, have {size}"));
    }
}

fn owners(metadata: &Value, at: &At<'_>, findings: &mut Findings) {
    let at = at.field("ownerReferences");
    let mut controllers = 0;
    for (index, owner) in items(metadata, "ownerReferences").enumerate() {
        let at = at.index(index);
        if !owner.is_object() && !owner.is_null() {
            findings.error(&at, "must be a map");
            continue;
        }
        for field in ["apiVersion", "kind", "name", "uid"] {
            match present(owner, field) {
                Some(Value::String(text)) if !text.is_empty() => {}
                Some(Value::String(_)) | None => findings.error(&at.field(field), "must not be empty"),
                Some(_) => findings.error(&at.field(field), "must be a string"),
            }
        }
        for field in ["controller", "blockOwnerDeletion"] {
            match present(owner, field) {
                Some(Value::Bool(set)) => controllers += u32::from(*set && field == "controller"),
                None => {}
                Some(_) => findings.error(&at.field(field), "must be true or false"),
            }
        }
        if owner["kind"] == "Event" && owner["apiVersion"] == "v1" {
            findings.error(&at, "an Event cannot own anything");
        }
    }
    if controllers > 1 {
        findings.error(&at, "only one of them can be the controller");
    }
}

fn finalizers(metadata: &Value, at: &At<'_>, findings: &mut Findings) {
    let at = at.field("finalizers");
    for (index, finalizer) in items(metadata, "finalizers").enumerate() {
        match finalizer {
            Value::String(name) => tell(names::qualified(name), &at.index(index), findings),
            Value::Null => findings.error(&at.index(index), "must have a name"),
            _ => findings.error(&at.index(index), "must be a string"),
        }
    }
    let named = |name: &str| items(metadata, "finalizers").any(|finalizer| finalizer == name);
    if named("orphan") && named("foregroundDeletion") {
        findings.error(&at, "orphan and foregroundDeletion exclude each other");
    }
}

fn tell(outcome: Result<(), String>, at: &At<'_>, findings: &mut Findings) {
    if let Err(message) = outcome {
        findings.error(at, message);
    }
}

fn entries<'v>(metadata: &'v Value, field: &str) -> impl Iterator<Item = (&'v String, &'v Value)> {
    metadata.get(field).and_then(Value::as_object).into_iter().flatten()
}

fn items<'v>(metadata: &'v Value, field: &str) -> impl Iterator<Item = &'v Value> {
    metadata.get(field).and_then(Value::as_array).into_iter().flatten()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn found(metadata: &Value) -> Vec<String> {
        let mut findings = Findings::default();
        check(Some(metadata), Unknown::Refuse, &mut findings);
        findings.errors().map(|finding| finding.path.to_string()).collect()
    }

    #[test]
    fn bad_metadata_is_found_where_it_is() {
        let long = "a".repeat(ANNOTATIONS);
        let owner = json!({ "apiVersion": "v1", "kind": "Pod", "name": "x", "uid": "1", "controller": true });
        let cases = [
            (json!({ "name": "a.b" }), vec![]),
            (json!({ "generateName": "a-" }), vec![]),
            (json!({ "name": "a", "namespace": "b", "creationTimestamp": null, "generation": 2 }), vec![]),
            (json!({}), vec!["metadata.name"]),
            (json!(null), vec!["metadata.name"]),
            (json!("x"), vec!["metadata"]),
            (json!({ "name": 1 }), vec!["metadata.name"]),
            (json!({ "name": "A" }), vec!["metadata.name"]),
            (json!({ "generateName": "A-" }), vec!["metadata.generateName"]),
            (json!({ "generateName": "a.-" }), vec!["metadata.generateName"]),
            (json!({ "name": "a", "namespace": "a.b" }), vec!["metadata.namespace"]),
            (json!({ "name": "a", "labels": { "a b": "c" } }), vec!["metadata.labels[\"a b\"]"]),
            (json!({ "name": "a", "labels": { "a": "c d" } }), vec!["metadata.labels.a"]),
            (json!({ "name": "a", "labels": { "a": 1 } }), vec!["metadata.labels.a"]),
            (json!({ "name": "a", "labels": [] }), vec!["metadata.labels"]),
            (json!({ "name": "a", "annotations": { "X.io/A": "any thing" } }), vec![]),
            (json!({ "name": "a", "annotations": { "x": long } }), vec!["metadata.annotations"]),
            (json!({ "name": "a", "annotations": { "x": true } }), vec!["metadata.annotations.x"]),
            (json!({ "name": "a", "creationTimestamp": "now" }), vec!["metadata.creationTimestamp"]),
            (json!({ "name": "a", "generation": "x" }), vec!["metadata.generation"]),
            (json!({ "name": "a", "nmae": "b" }), vec!["metadata.nmae"]),
            (json!({ "name": "a", "finalizers": ["b c"] }), vec!["metadata.finalizers[0]"]),
            (json!({ "name": "a", "ownerReferences": [owner] }), vec![]),
            (json!({ "name": "a", "ownerReferences": [owner, owner] }), vec!["metadata.ownerReferences"]),
            (json!({ "name": "a", "ownerReferences": [1] }), vec!["metadata.ownerReferences[0]"]),
        ];
        for (metadata, expected) in cases {
            assert_eq!(found(&metadata), expected, "{metadata:.200}");
        }
    }
}
