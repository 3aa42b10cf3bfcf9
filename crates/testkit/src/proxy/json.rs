//! Resources as JSON: protobuf's own mapping, with every `Any` opened by its type.
//!
//! A field that the descriptors do not have would be lost without a word, and two messages that differ in it be taken for
//! equal: such a message is an error.

use std::collections::BTreeMap;

use mizzen_proto::descriptors;
use prost_reflect::{DynamicMessage, ReflectMessage as _, SerializeOptions, Value as Field};
use serde_json::Value;

use super::{kind::Kind, ledger::Ledger};
use crate::error::{Error, Result};

/// All that a proxy has: for each kind the messages by name.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Configuration(pub BTreeMap<Kind, BTreeMap<String, Value>>);

impl Configuration {
    pub(super) fn of(ledger: &Ledger) -> Result<Self> {
        let kinds = Kind::ALL.into_iter().map(|kind| {
            let held = ledger.resources(kind).iter();
            let messages = held.map(|(name, held)| Ok((name.clone(), to_json(kind.message(), &held.body)?)));
            Ok((kind, messages.collect::<Result<_>>()?))
        });
        kinds.collect::<Result<_>>().map(Self)
    }
}

/// An encoded message of Envoy's or Istio's API as JSON.
pub fn to_json(message: &str, bytes: &[u8]) -> Result<Value> {
    let failed = |reason: String| Error::other(format_args!("{message} as JSON: {reason}"));
    let decoded = decode(message, bytes).map_err(failed)?;
    known(&decoded, 0).map_err(failed)?;
    decoded
        .serialize_with_options(serde_json::value::Serializer, &SerializeOptions::new())
        .map_err(|error| failed(error.to_string()))
}

fn decode(message: &str, bytes: &[u8]) -> Result<DynamicMessage, String> {
    let kind = descriptors().get_message_by_name(message).ok_or_else(|| format!("{message} is not known"))?;
    DynamicMessage::decode(kind, bytes).map_err(|error| format!("{message}: {error}"))
}

/// The decoder refuses more than a hundred messages in each other, but with every `Any` it begins anew.
const PACKED: usize = 16;

fn known(message: &DynamicMessage, packed: usize) -> Result<(), String> {
    let name = message.descriptor().full_name().to_owned();
    if let Some(field) = message.unknown_fields().next() {
        return Err(format!("field {} of {name} is not known", field.number()));
    }
    if name == "google.protobuf.Any" {
        if packed == PACKED {
            return Err(format!("more than {PACKED} packed messages in each other"));
        }
        return known(&opened(message)?, packed + 1);
    }
    message.fields().try_for_each(|(_, value)| known_in(value, packed))
}

fn known_in(value: &Field, packed: usize) -> Result<(), String> {
    match value {
        Field::Message(message) => known(message, packed),
        Field::List(items) => items.iter().try_for_each(|item| known_in(item, packed)),
        Field::Map(entries) => entries.values().try_for_each(|entry| known_in(entry, packed)),
        _ => Ok(()),
    }
}

fn opened(any: &DynamicMessage) -> Result<DynamicMessage, String> {
    let url = any.get_field_by_name("type_url");
    let url = url.as_ref().and_then(|url| url.as_str()).unwrap_or_default();
    let value = any.get_field_by_name("value");
    let value = value.as_ref().and_then(|value| value.as_bytes()).cloned().unwrap_or_default();
    decode(url.rsplit_once('/').map_or(url, |(_, name)| name), &value)
}

#[cfg(test)]
mod tests {
    use envoy_types::pb::{
        envoy::config::{
            cluster::v3::Cluster,
            core::v3::{TransportSocket, transport_socket::ConfigType},
        },
        google::protobuf::Any,
    };
    use prost::Message;
    use serde_json::json;

    use super::{Kind, to_json};

    fn cluster(value: Vec<u8>) -> Vec<u8> {
        let socket = Any {
            type_url: "type.googleapis.com/envoy.extensions.transport_sockets.raw_buffer.v3.RawBuffer"
                .to_owned(),
            value,
        };
        let socket =
            TransportSocket { name: "raw".to_owned(), config_type: Some(ConfigType::TypedConfig(socket)) };
        Cluster { name: "a".to_owned(), transport_socket: Some(socket), ..Default::default() }.encode_to_vec()
    }

    #[test]
    fn what_is_packed_is_opened() {
        let json = to_json(Kind::Clusters.message(), &cluster(Vec::new())).unwrap();
        let url = "type.googleapis.com/envoy.extensions.transport_sockets.raw_buffer.v3.RawBuffer";
        assert_eq!(
            json,
            json!({ "name": "a", "transportSocket": { "name": "raw", "typedConfig": { "@type": url } } })
        );
    }

    #[test]
    fn a_field_that_is_not_known_is_an_error_and_not_lost() {
        // Field 3,000 with a number, behind the message and within what is packed in it.
        let unknown = [0xc0, 0xbb, 0x01, 0x01];
        let mut behind = cluster(Vec::new());
        behind.extend(unknown);
        for bytes in [behind, cluster(unknown.to_vec())] {
            let error = to_json(Kind::Clusters.message(), &bytes).unwrap_err();
            assert!(error.to_string().contains("field 3000 of"), "{}", error.to_string());
        }
    }
}
