//! One message as it was sent and as an Envoy shows it, in the same words.
//!
//! Envoy's own `version_info` will not do: a listener of which only filter chains have changed keeps the version that it had.
//! What cannot be read is a text that says so, which is equal to no message.

use mizzen_proto::descriptors;
use mizzen_testkit::proxy::{Kind, to_json};
use prost::Message as _;
use prost_reflect::DynamicMessage;
use serde_json::Value;

/// From the bytes that were sent.
pub(super) fn decoded(kind: Kind, bytes: &[u8]) -> Value {
    to_json(kind.message(), bytes).unwrap_or_else(|error| format!("unreadable: {error}").into())
}

/// From a dump, where fields have other names and numbers other forms.
pub(super) fn shown(kind: Kind, message: &Value) -> Value {
    let mut message = message.clone();
    if let Some(fields) = message.as_object_mut() {
        fields.remove("@type");
    }
    let Some(descriptor) = descriptors().get_message_by_name(kind.message()) else {
        return format!("unreadable: {} is not known", kind.message()).into();
    };
    match DynamicMessage::deserialize(descriptor, message) {
        Ok(message) => decoded(kind, &message.encode_to_vec()),
        Err(error) => format!("unreadable dump: {error}").into(),
    }
}

/// The first place where two messages differ, and both values there. Depth is bounded by the decoder.
pub(super) fn difference(sent: &Value, taken: &Value) -> Option<String> {
    let nothing = Value::Null;
    match (sent, taken) {
        _ if sent == taken => None,
        (Value::Object(one), Value::Object(other)) => {
            let keys = one.keys().chain(other.keys().filter(|key| !one.contains_key(*key)));
            keys.map(|key| (key, one.get(key), other.get(key))).find_map(|(key, one, other)| {
                let below = difference(one.unwrap_or(&nothing), other.unwrap_or(&nothing))?;
                Some(format!(".{key}{below}"))
            })
        }
        (Value::Array(one), Value::Array(other)) if one.len() == other.len() => {
            let places = one.iter().zip(other).enumerate();
            let mut found = places.filter_map(|(place, (one, other))| Some((place, difference(one, other)?)));
            found.next().map(|(place, below)| format!("[{place}]{below}"))
        }
        _ => Some(format!(" is {taken}, sent was {sent}")),
    }
}
