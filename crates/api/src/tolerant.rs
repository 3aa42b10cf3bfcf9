//! What Istio's JSON reader forgives and the generated code does not: `null` is as good as absent and, in a list or map,
//! as good as nothing said; a number in a wrapper may be quoted; of a field's two spellings the newer counts; a
//! whole number in a free-form part may be larger than a float can tell.
//!
//! Such documents are rare, so the price of a copy is paid only for one that could not be read as it was.

use crate::fields::{field, inner};
use prost_reflect::{FieldDescriptor, Kind as Type, MessageDescriptor};
use serde_json::{Map, Number, Value, json};

/// The same message without any of that, or nothing if it has none.
pub(crate) fn forgiven(descriptor: &MessageDescriptor, json: &Value) -> Option<Value> {
    let mut json = json.clone();
    message(descriptor, &mut json).then_some(json)
}

/// Whether something was changed.
fn message(message: &MessageDescriptor, json: &mut Value) -> bool {
    let Value::Object(fields) = json else { return false };
    let before = fields.len();
    let newer = |fields: &Map<String, Value>, name: &str| {
        field(message, name)
            .is_some_and(|field| field.json_name() != name && fields.contains_key(field.json_name()))
    };
    let older: Vec<String> = fields.keys().filter(|name| newer(fields, name)).cloned().collect();
    fields.retain(|name, value| {
        let absent = value.is_null() && !field(message, name).is_some_and(|field| is_value(&field.kind()));
        !absent && !older.contains(name)
    });
    let mut changed = fields.len() != before;
    for (name, value) in fields {
        if let Some(field) = field(message, name) {
            changed |= field_value(&field, value);
        }
    }
    changed
}

fn field_value(field: &FieldDescriptor, json: &mut Value) -> bool {
    match json {
        Value::Object(entries) if field.is_map() => {
            let Type::Message(entry) = field.kind() else { return false };
            let kind = entry.map_entry_value_field().kind();
            entries
                .values_mut()
                .map(|value| element(field, &kind, value))
                .fold(false, |one, other| one | other)
        }
        Value::Array(items) if field.is_list() => items
            .iter_mut()
            .map(|item| element(field, &field.kind(), item))
            .fold(false, |one, other| one | other),
        value => one(field, &field.kind(), value),
    }
}

/// In a list or a map nothing can be absent, so `null` is the default.
fn element(field: &FieldDescriptor, kind: &Type, json: &mut Value) -> bool {
    if !json.is_null() {
        return one(field, kind, json);
    }
    *json = match kind {
        Type::Message(_) if is_value(kind) => return false,
        Type::Message(message) if message.name() == "ListValue" => json!([]),
        Type::Message(_) => json!({}),
        Type::String | Type::Bytes => json!(""),
        Type::Bool => json!(false),
        Type::Enum(names) => json!(names.default_value().name()),
        _ => json!(0),
    };
    true
}

fn one(field: &FieldDescriptor, kind: &Type, json: &mut Value) -> bool {
    match (inner(field), kind, &*json) {
        (Some(inner), _, _) => message(&inner, json),
        (None, Type::Message(free), _) if matches!(free.name(), "Struct" | "Value" | "ListValue") => {
            floats(json)
        }
        (None, Type::Message(wrapper), Value::String(text)) => match wrapper.name() {
            "Int32Value" | "Int64Value" | "UInt32Value" | "UInt64Value" | "DoubleValue" | "FloatValue" => {
                let Ok(number) = text.parse::<Number>() else { return false };
                *json = Value::Number(number);
                true
            }
            _ => false,
        },
        _ => false,
    }
}

/// Numbers of free-form parts are floats, also where they are whole and larger than a float can tell apart.
fn floats(json: &mut Value) -> bool {
    /// From here on, floats have gaps between whole numbers.
    const EXACT: u64 = 1 << 53;
    match json {
        Value::Number(number) => {
            let large = |size: u64| size > EXACT;
            let whole = number.as_u64().is_some_and(large)
                || number.as_i64().map(i64::unsigned_abs).is_some_and(large);
            match number.as_f64().filter(|_| whole).and_then(Number::from_f64) {
                Some(float) => {
                    *number = float;
                    true
                }
                None => false,
            }
        }
        Value::Array(items) => items.iter_mut().map(floats).fold(false, |one, other| one | other),
        Value::Object(fields) => fields.values_mut().map(floats).fold(false, |one, other| one | other),
        Value::Null | Value::Bool(_) | Value::String(_) => false,
    }
}

/// The one message of which `null` is a value.
fn is_value(kind: &Type) -> bool {
    matches!(kind, Type::Message(message) if message.full_name() == "google.protobuf.Value")
}
