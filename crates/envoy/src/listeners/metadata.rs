//! Which object something was made of, for whoever reads a proxy's dump.

use mizzen_mesh::Key;
use mizzen_proto::{
    envoy::config::core::v3::Metadata,
    google::protobuf::{Struct, Value, value::Kind},
};
use std::collections::HashMap;

pub(super) fn of_virtual_service(key: &Key) -> Metadata {
    let path =
        format!("/apis/networking.istio.io/v1/namespaces/{}/virtual-service/{}", key.namespace, key.name);
    let value = Value { kind: Some(Kind::StringValue(path)) };
    let fields = HashMap::from([("config".to_owned(), value)]);
    Metadata {
        filter_metadata: HashMap::from([("istio".to_owned(), Struct { fields })]),
        ..Metadata::default()
    }
}
