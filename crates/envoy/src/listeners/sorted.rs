//! `google.protobuf.Struct` with its fields written in order: the generated one has a map without an order, and equal inputs must
//! give equal bytes.

use mizzen_proto::google::protobuf::{Value, value::Kind};
use prost::Message;
use serde_json::{Map, Value as Json};
use std::collections::BTreeMap;

/// Values are held encoded: bytes and messages look alike on the wire.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct Struct {
    #[prost(btree_map = "string, bytes", tag = "1")]
    fields: BTreeMap<String, Vec<u8>>,
}

#[derive(Clone, PartialEq, prost::Message)]
struct Nested {
    #[prost(message, optional, tag = "5")]
    object: Option<Struct>,
}

#[derive(Clone, PartialEq, prost::Message)]
struct Listed {
    #[prost(message, optional, tag = "6")]
    list: Option<List>,
}

#[derive(Clone, PartialEq, prost::Message)]
struct List {
    #[prost(bytes = "vec", repeated, tag = "1")]
    values: Vec<Vec<u8>>,
}

impl Struct {
    pub(super) fn new(map: &Map<String, Json>) -> Self {
        Self { fields: map.iter().map(|(name, json)| (name.clone(), value(json))).collect() }
    }
}

/// A `google.protobuf.Value`, encoded. What reads JSON bounds its depth.
fn value(json: &Json) -> Vec<u8> {
    let kind = match json {
        Json::Object(map) => return Nested { object: Some(Struct::new(map)) }.encode_to_vec(),
        Json::Array(list) => {
            let values = list.iter().map(value).collect();
            return Listed { list: Some(List { values }) }.encode_to_vec();
        }
        Json::Null => Kind::NullValue(0),
        Json::Bool(flag) => Kind::BoolValue(*flag),
        Json::Number(number) => Kind::NumberValue(number.as_f64().unwrap_or_default()),
        Json::String(text) => Kind::StringValue(text.clone()),
    };
    Value { kind: Some(kind) }.encode_to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;
    use mizzen_proto::google::protobuf;
    use serde_json::json;

    #[test]
    fn what_is_written_is_read_as_the_generated_message() {
        let json = json!({"b": [1, true, null], "a": {"x": "y"}, "empty": {}});
        let bytes = Struct::new(json.as_object().unwrap()).encode_to_vec();
        let read = protobuf::Struct::decode(bytes.as_slice()).unwrap();
        assert_eq!(read.fields.len(), 3);
        let Some(Kind::ListValue(list)) = &read.fields["b"].kind else { panic!("{read:?}") };
        let kinds: Vec<_> = list.values.iter().map(|value| value.kind.clone().unwrap()).collect();
        assert_eq!(kinds, [Kind::NumberValue(1.0), Kind::BoolValue(true), Kind::NullValue(0)]);
        let Some(Kind::StructValue(nested)) = &read.fields["a"].kind else { panic!("{read:?}") };
        assert_eq!(nested.fields["x"].kind, Some(Kind::StringValue("y".to_owned())));
        let Some(Kind::StructValue(empty)) = &read.fields["empty"].kind else { panic!("{read:?}") };
        assert!(empty.fields.is_empty());
    }
}
