//! As much of JSON Schema as the models use.

use regex::Regex;
use serde_json::Value;

pub(crate) fn fits(schema: &Value, value: &Value) -> bool {
    let each = |name: &str| schema[name].as_array().into_iter().flatten();
    each("allOf").all(|part| fits(part, value))
        && (schema["anyOf"].is_null() || each("anyOf").any(|part| fits(part, value)))
        && (schema["oneOf"].is_null() || each("oneOf").filter(|part| fits(part, value)).count() == 1)
        && (schema["not"].is_null() || !fits(&schema["not"], value))
        && (schema["if"].is_null()
            || fits(&schema[if fits(&schema["if"], value) { "then" } else { "else" }], value))
        && (schema["enum"].is_null() || each("enum").any(|word| word == value))
        && (schema["const"].is_null() || schema["const"] == *value)
        && kind(schema, value)
        && match value {
            Value::Object(_) => map(schema, value),
            Value::Array(items) => list(schema, items),
            Value::String(text) => string(schema, text),
            Value::Number(number) => self::number(schema, number.as_f64().unwrap()),
            Value::Null | Value::Bool(_) => true,
        }
}

fn kind(schema: &Value, value: &Value) -> bool {
    let is = |name: &str| match name {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        other => panic!("type {other}"),
    };
    match &schema["type"] {
        Value::String(name) => is(name),
        Value::Array(names) => names.iter().any(|name| is(name.as_str().unwrap())),
        _ => true,
    }
}

fn sized(schema: &Value, what: &str, size: usize) -> bool {
    let limit = |name: &str| schema[format!("{name}{what}")].as_u64();
    limit("min").is_none_or(|least| size as u64 >= least)
        && limit("max").is_none_or(|most| size as u64 <= most)
}

fn map(schema: &Value, value: &Value) -> bool {
    let fields = value.as_object().unwrap();
    let required = schema["required"].as_array().into_iter().flatten();
    sized(schema, "Properties", fields.len())
        && required.map(|name| name.as_str().unwrap()).all(|name| fields.contains_key(name))
        && fields.iter().all(|(name, value)| {
            let named = schema["propertyNames"].is_null()
                || fits(&schema["propertyNames"], &Value::from(name.as_str()));
            named
                && match (&schema["properties"][name], &schema["additionalProperties"]) {
                    (Value::Null, Value::Bool(false)) => false,
                    (Value::Null, Value::Null) => true,
                    (Value::Null, more) => fits(more, value),
                    (property, _) => fits(property, value),
                }
        })
}

fn list(schema: &Value, items: &[Value]) -> bool {
    sized(schema, "Items", items.len())
        && (schema["items"].is_null() || items.iter().all(|item| fits(&schema["items"], item)))
}

fn string(schema: &Value, text: &str) -> bool {
    let pattern = schema["pattern"].as_str();
    sized(schema, "Length", text.chars().count())
        && pattern.is_none_or(|pattern| Regex::new(pattern).unwrap().is_match(text))
}

fn number(schema: &Value, number: f64) -> bool {
    let limit = |name: &str| schema[name].as_f64();
    limit("minimum").is_none_or(|least| number >= least)
        && limit("maximum").is_none_or(|most| number <= most)
        && limit("exclusiveMinimum").is_none_or(|least| number > least)
        && limit("exclusiveMaximum").is_none_or(|most| number < most)
}
