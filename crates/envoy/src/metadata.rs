//! Metadata with its keys in order. The generated types keep maps in no order: the same metadata would be other bytes
//! each time, and a resource that did not change would be sent again. These are the same messages on the wire.

use std::collections::BTreeMap;

/// Istio's own.
pub const ISTIO: &str = "istio";
/// What a cluster's `transport_socket_matches` look at.
pub const TRANSPORT_SOCKET: &str = "envoy.transport_socket_match";

/// `envoy.config.core.v3.Metadata`
#[derive(Clone, PartialEq, prost::Message)]
pub struct Metadata {
    #[prost(btree_map = "string, message", tag = "1")]
    pub filter_metadata: BTreeMap<String, Struct>,
}

/// `google.protobuf.Struct`
#[derive(Clone, PartialEq, prost::Message)]
pub struct Struct {
    #[prost(btree_map = "string, message", tag = "1")]
    pub fields: BTreeMap<String, Value>,
}

/// `google.protobuf.Value`, as far as it is used.
#[derive(Clone, PartialEq, prost::Message)]
pub struct Value {
    #[prost(oneof = "Kind", tags = "3, 4, 5, 6")]
    pub kind: Option<Kind>,
}

#[derive(Clone, PartialEq, prost::Oneof)]
pub enum Kind {
    #[prost(string, tag = "3")]
    Text(String),
    #[prost(bool, tag = "4")]
    Yes(bool),
    #[prost(message, tag = "5")]
    Struct(Struct),
    #[prost(message, tag = "6")]
    List(List),
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct List {
    #[prost(message, repeated, tag = "1")]
    pub values: Vec<Value>,
}

impl Value {
    pub fn text(text: impl Into<String>) -> Self {
        Self { kind: Some(Kind::Text(text.into())) }
    }

    pub fn yes(yes: bool) -> Self {
        Self { kind: Some(Kind::Yes(yes)) }
    }

    pub fn list(values: Vec<Self>) -> Self {
        Self { kind: Some(Kind::List(List { values })) }
    }

    pub fn object<const N: usize>(fields: [(&str, Self); N]) -> Self {
        Self { kind: Some(Kind::Struct(Struct::of(fields))) }
    }
}

impl Struct {
    pub fn of<const N: usize>(fields: [(&str, Value); N]) -> Self {
        Self { fields: fields.into_iter().map(|(key, value)| (key.to_owned(), value)).collect() }
    }
}

impl Metadata {
    pub fn set(&mut self, filter: &str, key: &str, value: Value) {
        // Most are set once: the two look-ups cost less than a key that is made for nothing.
        match self.filter_metadata.get_mut(filter) {
            Some(values) => {
                values.fields.insert(key.to_owned(), value);
            }
            None => {
                self.filter_metadata.insert(filter.to_owned(), Struct::of([(key, value)]));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{ISTIO, Metadata, TRANSPORT_SOCKET, Value};
    use mizzen_proto::envoy::config::core::v3;
    use prost::Message;

    #[test]
    fn it_is_envoy_s_message() {
        let mut metadata = Metadata::default();
        metadata.set(TRANSPORT_SOCKET, "tlsMode", Value::text("istio"));
        metadata.set(ISTIO, "external", Value::yes(true));
        metadata.set(ISTIO, "services", Value::list(vec![Value::object([("host", Value::text("a"))])]));
        let read = v3::Metadata::decode(metadata.encode_to_vec().as_slice()).unwrap();
        assert_eq!(read.filter_metadata.len(), 2);
        let istio = &read.filter_metadata[ISTIO].fields;
        assert_eq!(istio.keys().collect::<std::collections::BTreeSet<_>>().len(), 2);
        assert!(format!("{istio:?}").contains("StringValue(\"a\")"), "{istio:?}");
    }
}
