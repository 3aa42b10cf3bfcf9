//! Every field path that a kind has.

use prost_reflect::{FieldDescriptor, Kind as Type, MessageDescriptor};

/// Fields from the spec downwards. List and map levels have no step of their own.
pub(crate) type FieldPath = Vec<FieldDescriptor>;

pub(crate) fn all(message: &MessageDescriptor) -> Vec<FieldPath> {
    let mut found = Vec::new();
    walk(message, &mut Vec::new(), &mut found);
    found
}

fn walk(message: &MessageDescriptor, way: &mut FieldPath, found: &mut Vec<FieldPath>) {
    for field in message.fields() {
        let inner = message_of(&field);
        // A message inside itself would have no end; Istio's have none but for free-form values.
        assert!(way.len() < 32, "{} holds itself", message.full_name());
        way.push(field);
        found.push(way.clone());
        if let Some(inner) = inner {
            walk(&inner, way, found);
        }
        way.pop();
    }
}

/// The message that a field's values are, unless it is written as a plain value.
pub(crate) fn message_of(field: &FieldDescriptor) -> Option<MessageDescriptor> {
    let kind = match field.kind() {
        Type::Message(entry) if field.is_map() => entry.map_entry_value_field().kind(),
        kind => kind,
    };
    match kind {
        Type::Message(message) if message.package_name() != "google.protobuf" => Some(message),
        _ => None,
    }
}

pub(crate) fn name(path: &FieldPath) -> String {
    path.iter().map(|field| field.json_name().to_owned()).collect::<Vec<_>>().join(".")
}
