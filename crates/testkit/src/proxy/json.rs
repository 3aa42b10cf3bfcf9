//! Resources as JSON: protobuf's own mapping, with every `Any` opened by its type.

use std::collections::BTreeMap;

use mizzen_proto::descriptors;
use prost_reflect::{DynamicMessage, SerializeOptions};
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
    let kind = descriptors().get_message_by_name(message).ok_or_else(|| failed("not known".to_owned()))?;
    let decoded = DynamicMessage::decode(kind, bytes).map_err(|error| failed(error.to_string()))?;
    decoded
        .serialize_with_options(serde_json::value::Serializer, &SerializeOptions::new())
        .map_err(|error| failed(error.to_string()))
}
