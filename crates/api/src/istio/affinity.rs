//! The schema of Kubernetes' Affinity, which a definition has to write out.

use serde_json::{Value, json};

pub(super) fn affinity() -> Value {
    object(&json!({
        "nodeAffinity": object(&json!({
            "preferredDuringSchedulingIgnoredDuringExecution": list(required(
                object(&json!({ "preference": node_term(), "weight": weight() })),
                &["preference", "weight"],
            )),
            "requiredDuringSchedulingIgnoredDuringExecution": atomic(required(
                object(&json!({ "nodeSelectorTerms": list(node_term()) })),
                &["nodeSelectorTerms"],
            )),
        })),
        "podAffinity": pods(),
        "podAntiAffinity": pods(),
    }))
}

fn pods() -> Value {
    object(&json!({
        "preferredDuringSchedulingIgnoredDuringExecution": list(required(
            object(&json!({ "podAffinityTerm": pod_term(), "weight": weight() })),
            &["podAffinityTerm", "weight"],
        )),
        "requiredDuringSchedulingIgnoredDuringExecution": list(pod_term()),
    }))
}

fn pod_term() -> Value {
    let term = object(&json!({
        "labelSelector": label_selector(), "matchLabelKeys": words(), "mismatchLabelKeys": words(),
        "namespaceSelector": label_selector(), "namespaces": words(), "topologyKey": word(),
    }));
    required(term, &["topologyKey"])
}

fn node_term() -> Value {
    atomic(object(&json!({ "matchExpressions": list(expression()), "matchFields": list(expression()) })))
}

fn label_selector() -> Value {
    let labels = json!({ "type": "object", "additionalProperties": word() });
    atomic(object(&json!({ "matchExpressions": list(expression()), "matchLabels": labels })))
}

fn expression() -> Value {
    let expression = object(&json!({ "key": word(), "operator": word(), "values": words() }));
    required(expression, &["key", "operator"])
}

fn weight() -> Value {
    json!({ "type": "integer", "format": "int32" })
}

fn word() -> Value {
    json!({ "type": "string" })
}

fn words() -> Value {
    list(word())
}

/// As a whole somebody's.
#[expect(clippy::needless_pass_by_value, reason = "schemas are built from the inside out")]
fn list(items: Value) -> Value {
    json!({ "type": "array", "items": items, "x-kubernetes-list-type": "atomic" })
}

fn atomic(mut schema: Value) -> Value {
    schema["x-kubernetes-map-type"] = "atomic".into();
    schema
}

pub(super) fn object(properties: &Value) -> Value {
    json!({ "type": "object", "properties": properties })
}

pub(super) fn required(mut schema: Value, fields: &[&str]) -> Value {
    schema["required"] = fields.into();
    schema
}
