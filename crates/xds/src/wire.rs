//! Responses as bytes.
//!
//! A response is a head that is a stream's own (version, type, nonce) and parts that are shared by all streams that are sent
//! the same. Fields of a message may stand in any order and repeated ones may be interleaved, so parts are just put one after
//! another; nothing is encoded again for a stream, and in the send queues of a thousand streams lies one copy.

use std::sync::Arc;

use bytes::{BufMut, Bytes, BytesMut};
use prost::encoding::{encode_varint, encoded_len_varint};

use crate::{kind::Type, resource::Resource, resource::Version};

const LENGTH_DELIMITED: u64 = 2;

/// `DiscoveryResponse` and `DeltaDiscoveryResponse` have the same numbers up to here.
const VERSION: u64 = 1;
const RESOURCES: u64 = 2;
const TYPE_URL: u64 = 4;
const NONCE: u64 = 5;
const DELTA_REMOVED: u64 = 6;
const DELTA_CONTROL_PLANE: u64 = 7;
const STATE_CONTROL_PLANE: u64 = 6;

/// Below this a response is copied into one piece: one frame instead of three is worth more than a copy.
const SMALL: usize = 8 * 1024;

/// The compression flag and the length of a message.
pub(crate) const GRPC_HEAD: usize = 5;

/// The largest message that gRPC's length can say, less room for the head.
const LARGEST: usize = u32::MAX as usize - 64 * 1024;

/// The fields that are a stream's own.
pub(crate) struct Head<'a> {
    pub(crate) version: &'a str,
    pub(crate) kind: &'a Type,
    pub(crate) nonce: &'a str,
    pub(crate) control_plane: &'a str,
}

/// One gRPC message, ready for the wire. `None` if it is longer than gRPC can carry.
pub(crate) fn delta_message(head: &Head<'_>, parts: Vec<Bytes>) -> Option<Vec<Bytes>> {
    message(head, DELTA_CONTROL_PLANE, parts)
}

pub(crate) fn state_message(head: &Head<'_>, parts: Vec<Bytes>) -> Option<Vec<Bytes>> {
    message(head, STATE_CONTROL_PLANE, parts)
}

fn message(head: &Head<'_>, control_plane: u64, mut parts: Vec<Bytes>) -> Option<Vec<Bytes>> {
    parts.retain(|part| !part.is_empty());
    let shared: usize = parts.iter().map(Bytes::len).sum();
    if shared > LARGEST {
        return None;
    }
    let mut own = Vec::with_capacity(256);
    string(&mut own, VERSION, head.version);
    string(&mut own, TYPE_URL, head.kind.url());
    string(&mut own, NONCE, head.nonce);
    if !head.control_plane.is_empty() {
        let identifier = field_len(1, head.control_plane.len());
        key(&mut own, control_plane, identifier);
        string(&mut own, 1, head.control_plane);
    }
    let length = own.len() + shared;
    let together = length <= SMALL;
    let mut first = BytesMut::with_capacity(GRPC_HEAD + if together { length } else { own.len() });
    first.put_u8(0);
    first.put_u32(length as u32);
    first.put_slice(&own);
    if together {
        for part in &parts {
            first.put_slice(part);
        }
        return Some(vec![first.freeze()]);
    }
    parts.insert(0, first.freeze());
    Some(parts)
}

/// `DeltaDiscoveryResponse.resources`: name, version and the resource as an `Any`.
pub(crate) fn delta_resources(kind: &Type, resources: &[Arc<Resource>]) -> Bytes {
    let length = |resource: &Resource| {
        field_len(1, Version::WIDTH)
            + field_len(2, any_len(kind, resource))
            + field_len(3, resource.name().len())
    };
    let total = resources.iter().map(|resource| field_len(RESOURCES, length(resource))).sum();
    let mut out = Vec::with_capacity(total);
    for resource in resources {
        key(&mut out, RESOURCES, length(resource));
        bytes(&mut out, 1, &resource.version().text());
        key(&mut out, 2, any_len(kind, resource));
        any(&mut out, kind, resource);
        string(&mut out, 3, resource.name());
    }
    out.into()
}

/// `DiscoveryResponse.resources`: each an `Any`.
pub(crate) fn state_resources(kind: &Type, resources: &[Arc<Resource>]) -> Bytes {
    let total = resources.iter().map(|resource| field_len(RESOURCES, any_len(kind, resource))).sum();
    let mut out = Vec::with_capacity(total);
    for resource in resources {
        key(&mut out, RESOURCES, any_len(kind, resource));
        any(&mut out, kind, resource);
    }
    out.into()
}

/// `DeltaDiscoveryResponse.removed_resources`.
pub(crate) fn removed_resources(names: &[Arc<str>]) -> Bytes {
    let mut out = Vec::with_capacity(names.iter().map(|name| field_len(DELTA_REMOVED, name.len())).sum());
    for name in names {
        string(&mut out, DELTA_REMOVED, name);
    }
    out.into()
}

fn any_len(kind: &Type, resource: &Resource) -> usize {
    let body = if resource.body().is_empty() { 0 } else { field_len(2, resource.body().len()) };
    field_len(1, kind.url().len()) + body
}

fn any(out: &mut Vec<u8>, kind: &Type, resource: &Resource) {
    string(out, 1, kind.url());
    if !resource.body().is_empty() {
        bytes(out, 2, resource.body());
    }
}

fn string(out: &mut Vec<u8>, field: u64, value: &str) {
    bytes(out, field, value.as_bytes());
}

fn bytes(out: &mut Vec<u8>, field: u64, value: &[u8]) {
    key(out, field, value.len());
    out.extend_from_slice(value);
}

fn key(out: &mut Vec<u8>, field: u64, length: usize) {
    encode_varint(field << 3 | LENGTH_DELIMITED, out);
    encode_varint(length as u64, out);
}

/// All numbers here are below 16, so a key is one byte.
fn field_len(_field: u64, length: usize) -> usize {
    1 + encoded_len_varint(length as u64) + length
}

#[cfg(test)]
mod tests {
    use mizzen_proto::envoy::service::discovery::v3::{DeltaDiscoveryResponse, DiscoveryResponse};
    use prost::Message;

    use super::*;

    fn head(kind: &Type) -> Head<'_> {
        Head { version: "7", kind, nonce: "n", control_plane: "us" }
    }

    fn joined(message: &[Bytes]) -> Vec<u8> {
        let all = message.concat();
        assert_eq!(all[0], 0);
        assert_eq!(u32::from_be_bytes(all[1..5].try_into().unwrap()) as usize, all.len() - GRPC_HEAD);
        all[GRPC_HEAD..].to_vec()
    }

    #[test]
    fn a_delta_response_is_what_prost_reads() {
        for size in [0, 1, 200, 20_000] {
            let kind = Type::Cluster;
            let resources =
                vec![Arc::new(Resource::new("a", vec![1; size])), Arc::new(Resource::new("b", ""))];
            let parts =
                vec![delta_resources(&kind, &resources), removed_resources(&["x".into(), "y".into()])];
            let message = joined(&delta_message(&head(&kind), parts).unwrap());
            let read = DeltaDiscoveryResponse::decode(message.as_slice()).unwrap();
            assert_eq!((&*read.system_version_info, &*read.nonce, &*read.type_url), ("7", "n", kind.url()));
            assert_eq!(read.removed_resources, ["x", "y"]);
            assert_eq!(read.control_plane.clone().unwrap().identifier, "us");
            assert_eq!(read.resources[0].name, "a");
            assert_eq!(read.resources[0].version, resources[0].version().to_string());
            let any = read.resources[0].resource.as_ref().unwrap();
            assert_eq!((&*any.type_url, any.value.len()), (kind.url(), size));
            assert_eq!(read.encoded_len(), message.len(), "nothing but what was read");
        }
    }

    #[test]
    fn a_state_response_is_what_prost_reads() {
        let kind = Type::Listener;
        let resources = [Arc::new(Resource::new("a", vec![1; 9_000]))];
        let message = state_message(&head(&kind), vec![state_resources(&kind, &resources)]).unwrap();
        assert_eq!(message.len(), 2, "a large part is not copied");
        let read = DiscoveryResponse::decode(joined(&message).as_slice()).unwrap();
        assert_eq!((&*read.version_info, &*read.nonce), ("7", "n"));
        assert_eq!(read.resources[0].value.len(), 9_000);
        assert_eq!(read.control_plane.unwrap().identifier, "us");
    }
}
