//! A walk over a document along the fields that its kind has, for those that it has not.

use crate::{Identity, Metadata};
use mizzen_text::{At, Path};
use prost_reflect::{FieldDescriptor, Kind as Type, MessageDescriptor};
use serde_json::{Map, Value};

const OBJECT: &[&str] = &["apiVersion", "kind", "metadata", "spec", "status"];

/// The fields of one of Istio's objects that its kind does not have, in order. A status is not looked into.
pub fn unknown_fields(document: &Value) -> Vec<Path> {
    let mut found = Vec::new();
    let Some(kind) = Identity::of(document).and_then(|identity| identity.istio_kind()) else { return found };
    let at = At::TOP;
    names(document, OBJECT, &at, &mut found);
    if let Some(metadata) = document.get("metadata") {
        names(metadata, Metadata::FIELDS, &at.field("metadata"), &mut found);
    }
    if let (Some(spec), Some(message)) = (document.get("spec"), kind.descriptor()) {
        message_fields(&message, spec, &at.field("spec"), &mut found);
    }
    found
}

fn names(json: &Value, known: &[&str], at: &At<'_>, found: &mut Vec<Path>) {
    for name in json.as_object().into_iter().flat_map(Map::keys) {
        if !known.contains(&name.as_str()) {
            found.push(at.field(name).path());
        }
    }
}

fn message_fields(message: &MessageDescriptor, json: &Value, at: &At<'_>, found: &mut Vec<Path>) {
    for (name, value) in json.as_object().into_iter().flatten() {
        let at = at.field(name);
        match field(message, name) {
            None => found.push(at.path()),
            Some(field) => field_values(&field, value, &at, found),
        }
    }
}

fn field_values(field: &FieldDescriptor, json: &Value, at: &At<'_>, found: &mut Vec<Path>) {
    let Some(message) = inner(field) else { return };
    match json {
        Value::Object(entries) if field.is_map() => {
            for (key, value) in entries {
                message_fields(&message, value, &at.field(key), found);
            }
        }
        Value::Array(items) if field.is_list() => {
            for (index, item) in items.iter().enumerate() {
                message_fields(&message, item, &at.index(index), found);
            }
        }
        json => message_fields(&message, json, at, found),
    }
}

/// Both of a field's spellings are read, as Istio does.
pub(crate) fn field(message: &MessageDescriptor, name: &str) -> Option<FieldDescriptor> {
    message.get_field_by_json_name(name).or_else(|| message.get_field_by_name(name))
}

/// The message that a field's values are, unless its JSON is no plain object of fields.
pub(crate) fn inner(field: &FieldDescriptor) -> Option<MessageDescriptor> {
    let kind = match field.kind() {
        Type::Message(entry) if field.is_map() => entry.map_entry_value_field().kind(),
        kind => kind,
    };
    match kind {
        Type::Message(message) if message.package_name() != "google.protobuf" => Some(message),
        _ => None,
    }
}
