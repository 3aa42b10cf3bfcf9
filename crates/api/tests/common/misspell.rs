//! The same spec in another spelling, or with something wrong in it: what people and other programs write.

use super::{generate::Random, paths::message_of};
use mizzen_api::proto::Duration;
use prost_reflect::{FieldDescriptor, Kind as Type, MessageDescriptor};
use serde_json::{Map, Value, json};

/// Changes about one field in four.
pub(crate) fn spec(message: &MessageDescriptor, json: &Value, random: &mut Random) -> Value {
    let Value::Object(fields) = json else { return json.clone() };
    let mut odd = Map::new();
    for (name, value) in fields {
        let Some(field) = message.get_field_by_json_name(name) else { continue };
        let value = each(&field, value, random);
        let name = if random.below(6) == 0 { field.name() } else { name };
        odd.insert(name.to_owned(), value);
    }
    match random.below(12) {
        0 => drop(odd.insert("noSuchField".into(), json!({"a": [1]}))),
        1 => {
            // Not told, in words. Of a oneof only one may be there, told or not.
            let silent = message.fields().find(|field| {
                !odd.contains_key(field.json_name())
                    && !odd.contains_key(field.name())
                    && field.containing_oneof().is_none()
            });
            if let Some(field) = silent.filter(|field| !is_value(field)) {
                odd.insert(field.json_name().to_owned(), Value::Null);
            }
        }
        _ => {}
    }
    Value::Object(odd)
}

fn each(field: &FieldDescriptor, json: &Value, random: &mut Random) -> Value {
    match json {
        Value::Array(items) if field.is_list() => items.iter().map(|item| one(field, item, random)).collect(),
        Value::Object(entries) if field.is_map() => Value::Object(
            entries.iter().map(|(key, value)| (key.clone(), one(field, value, random))).collect(),
        ),
        json => one(field, json, random),
    }
}

fn one(field: &FieldDescriptor, json: &Value, random: &mut Random) -> Value {
    if let Some(message) = message_of(field) {
        return spec(&message, json, random);
    }
    if random.below(4) != 0 {
        return json.clone();
    }
    // A wrong type, now and then; but a number that an enum does not have is refused by us alone, on purpose.
    if random.below(8) == 0 && !matches!(field.kind(), Type::Enum(_)) {
        let wrong = [json!(true), json!(7), json!(1.5), json!("text"), json!([]), json!({}), json!([[]])];
        return wrong[random.below(wrong.len() as u64) as usize].clone();
    }
    match field.kind() {
        Type::Enum(names) => {
            let value = json.as_str().and_then(|name| names.get_value_by_name(name));
            value.map_or_else(|| json.clone(), |value| json!(value.number()))
        }
        Type::Message(known) if known.name() == "Duration" => {
            let length = json.as_str().and_then(|text| text.parse::<Duration>().ok());
            length
                .map_or_else(|| json.clone(), |length| json!(format!("{}ms", length.as_nanos() / 1_000_000)))
        }
        Type::Message(known) if known.name().ends_with("32Value") => json!(json.to_string()),
        Type::Int32 | Type::Uint32 => json!(json.to_string()),
        Type::Int64 | Type::Uint64 => {
            json.as_str().and_then(|text| text.parse::<i64>().ok()).map_or_else(|| json.clone(), Value::from)
        }
        _ => json.clone(),
    }
}

fn is_value(field: &FieldDescriptor) -> bool {
    matches!(field.kind(), Type::Message(message) if message.full_name() == "google.protobuf.Value")
}
