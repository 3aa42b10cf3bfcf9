//! An editor must not refuse what can be built: every good block and every example fits the schema.
#![allow(clippy::unwrap_used, reason = "this is test code, which the lint cannot see here")]

mod common;

use common::rows::{Rows, all, merged};
use mizzen_app::{File, schema, starter};
use mizzen_text::{Source, yaml};
use regex::Regex;
use serde_json::{Value, json};

/// As much of JSON Schema as ours uses.
fn fits(schema: &Value, value: &Value) -> bool {
    let each = |name: &str| schema[name].as_array().into_iter().flatten();
    let is = |name: &str| match name {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "integer" => value.is_i64(),
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        other => panic!("type {other}"),
    };
    let types = match &schema["type"] {
        Value::String(name) => is(name),
        Value::Array(names) => names.iter().any(|name| is(name.as_str().unwrap())),
        _ => true,
    };
    let size = match value {
        Value::Array(items) => Some(items.len()),
        Value::Object(fields) => Some(fields.len()),
        Value::String(text) => Some(text.chars().count()),
        _ => None,
    };
    let least = ["minItems", "minLength"].iter().filter_map(|name| schema[*name].as_u64()).max();
    let most = ["maxItems", "maxProperties"].iter().filter_map(|name| schema[*name].as_u64()).min();
    let sized = size.is_none_or(|size| {
        least.is_none_or(|least| size as u64 >= least) && most.is_none_or(|most| size as u64 <= most)
    });
    let number = value.as_f64().is_none_or(|number| {
        schema["minimum"].as_f64().is_none_or(|least| number >= least)
            && schema["maximum"].as_f64().is_none_or(|most| number <= most)
    });
    let pattern = match (schema["pattern"].as_str(), value.as_str()) {
        (Some(pattern), Some(text)) => Regex::new(pattern).unwrap().is_match(text),
        _ => true,
    };
    let fields = value.as_object().is_none_or(|fields| {
        fields.iter().all(|(name, value)| {
            match (&schema["properties"][name], &schema["additionalProperties"]) {
                (Value::Null, Value::Bool(false)) => false,
                (Value::Null, Value::Null) => true,
                (Value::Null, more) => fits(more, value),
                (property, _) => fits(property, value),
            }
        })
    });
    let required = value.as_object().is_none_or(|fields| {
        each("required").all(|name| fields.contains_key(name.as_str().unwrap()))
            && schema["dependencies"].as_object().into_iter().flatten().all(|(name, needs)| {
                !fields.contains_key(name)
                    || needs
                        .as_array()
                        .unwrap()
                        .iter()
                        .all(|need| fields.contains_key(need.as_str().unwrap()))
            })
    });
    let items = schema["items"].is_null()
        || value.as_array().is_none_or(|items| items.iter().all(|item| fits(&schema["items"], item)));
    types
        && sized
        && number
        && pattern
        && fields
        && required
        && items
        && (schema["enum"].is_null() || each("enum").any(|word| word == value))
        && (schema["const"].is_null() || schema["const"] == *value)
        && each("allOf").all(|part| fits(part, value))
        && (schema["anyOf"].is_null() || each("anyOf").any(|part| fits(part, value)))
        && (schema["oneOf"].is_null() || each("oneOf").filter(|part| fits(part, value)).count() == 1)
        && (schema["not"].is_null() || !fits(&schema["not"], value))
}

fn read(text: &str) -> Value {
    yaml::load_first(&Source::new("text", text), &yaml::Options::OWN).unwrap().unwrap()
}

#[test]
fn what_can_be_built_is_not_refused() {
    let schema = schema(File::App);
    let (mut refused, mut count) = (0, 0);
    for Rows { word, base, rows, .. } in all() {
        for row in rows {
            let app =
                |block: &Value| json!({"name": "shop", "istio": {&word: {"one": merged(&base, block)}}});
            assert!(fits(&schema, &app(&row.good)), "{word} {}: {}", row.attribute, row.good);
            count += 1;
            refused += usize::from(!fits(&schema, &app(&row.bad)));
        }
    }
    // The rest are rules of Istio's that no schema can say.
    assert!(refused * 3 > count * 2, "{refused} of {count} mistakes are seen");
}

#[test]
fn the_examples_and_the_starter_fit() {
    let example = |name: &str| {
        let path = format!("{}/../../examples/{name}", env!("CARGO_MANIFEST_DIR"));
        read(&std::fs::read_to_string(path).unwrap())
    };
    for (file, value) in [
        (File::App, example("wordpress-example/app.yaml")),
        (File::Platform, example("wordpress-example/platform.yaml")),
        (File::App, example("shop/app.yaml")),
        (File::Overlay, example("shop/app.dev.yaml")),
        (File::Overlay, example("shop/app.prod.yaml")),
        (File::Platform, example("shop/platform.yaml")),
        (File::App, read(&starter("shop"))),
        (File::Overlay, read("istio: { gateways: { a: null, b: { listeners: null } } }")),
    ] {
        assert!(fits(&schema(file), &value), "{file:?} {value}");
    }
    assert!(!fits(&schema(File::App), &json!({"istio": {}})), "without a name it is no application");
    assert!(!fits(&schema(File::Overlay), &json!({"stacks": {}})), "an overlay names no stacks");
}
