//! A spec as a person wrote it → the one form in which Istio would write it: without defaults and nulls, fields by
//! their JSON names, enums by theirs, durations in seconds. Written against the descriptors, not against the types.

use mizzen_api::proto::Duration;
use prost_reflect::{FieldDescriptor, Kind as Type, MessageDescriptor};
use serde_json::{Map, Value, json};

pub(crate) fn spec(message: &MessageDescriptor, json: &Value) -> Value {
    let Value::Object(fields) = json else { return json.clone() };
    let mut plain = Map::new();
    for (name, value) in fields {
        let field = message.get_field_by_json_name(name).or_else(|| message.get_field_by_name(name));
        let Some(field) = field else {
            // Unknown: kept, so that the comparison fails.
            plain.insert(name.clone(), value.clone());
            continue;
        };
        if let Some(value) = field_value(&field, value) {
            plain.insert(field.json_name().to_owned(), value);
        }
    }
    Value::Object(plain)
}

fn field_value(field: &FieldDescriptor, json: &Value) -> Option<Value> {
    match json {
        Value::Array(items) if field.is_list() => {
            (!items.is_empty()).then(|| items.iter().map(|item| one(&field.kind(), item)).collect())
        }
        Value::Object(entries) if field.is_map() => {
            let Type::Message(entry) = field.kind() else { return None };
            let kind = entry.map_entry_value_field().kind();
            let one = |(key, value): (&String, &Value)| (key.clone(), one(&kind, value));
            (!entries.is_empty()).then(|| Value::Object(entries.iter().map(one).collect()))
        }
        Value::Null if !is(&field.kind(), "Value") => None,
        json => {
            let value = one(&field.kind(), json);
            let default = match field.kind() {
                Type::Message(_) => false,
                Type::Enum(names) => value == json!(names.default_value().name()),
                Type::Int64 | Type::Uint64 => value == json!("0"),
                _ => [json!(""), json!(0), json!(false)].contains(&value),
            };
            let told = !default || field.supports_presence();
            told.then_some(value)
        }
    }
}

fn one(kind: &Type, json: &Value) -> Value {
    match kind {
        // Nothing can be absent from a list or a map.
        Type::Message(message) if json.is_null() && message.package_name() != "google.protobuf" => json!({}),
        Type::Message(message) if message.package_name() == "google.protobuf" => {
            well_known(message.name(), json)
        }
        Type::Message(message) => spec(message, json),
        Type::Enum(names) => {
            let by_number = json.as_i64().and_then(|number| names.get_value(number as i32));
            by_number.map_or_else(|| json.clone(), |value| json!(value.name()))
        }
        Type::Int64 | Type::Uint64 => json!(json.as_str().map_or_else(|| json.to_string(), str::to_owned)),
        Type::Int32 | Type::Uint32 => {
            json.as_str().and_then(|text| text.parse::<i64>().ok()).map_or(number(json), Value::from)
        }
        _ => number(json),
    }
}

fn well_known(name: &str, json: &Value) -> Value {
    match (name, json) {
        ("Duration", Value::String(text)) => {
            text.parse::<Duration>().map_or_else(|_| json.clone(), |length| json!(length.to_string()))
        }
        // Istio writes these six fields (all of Stackdriver) in quotes, the generated code does not; and both are read.
        ("Int64Value", Value::Number(number)) => json!(number.to_string()),
        ("Struct" | "Value" | "ListValue", Value::Object(fields)) => Value::Object(
            fields.iter().map(|(name, value)| (name.clone(), well_known("Value", value))).collect(),
        ),
        ("Struct" | "Value" | "ListValue", Value::Array(items)) => {
            items.iter().map(|item| well_known("Value", item)).collect()
        }
        _ => number(json),
    }
}

/// Whole numbers without a fraction.
fn number(json: &Value) -> Value {
    match json.as_f64() {
        Some(float) if json.is_f64() && float.fract() == 0.0 && float.abs() < 1e15 => json!(float as i64),
        _ => json.clone(),
    }
}

fn is(kind: &Type, name: &str) -> bool {
    matches!(kind, Type::Message(message) if message.package_name() == "google.protobuf" && message.name() == name)
}
