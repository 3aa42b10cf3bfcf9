//! Messages put together from encoded parts: a repeated field is its elements one after the other, each with its number
//! and length before it.

use bytes::{BufMut, Bytes};
use prost::{
    Message,
    encoding::{WireType, encode_key, encode_varint, encoded_len_varint},
};

/// `RouteConfiguration.virtual_hosts`
pub(super) const VIRTUAL_HOST: u32 = 2;
/// `VirtualHost.routes`
pub(super) const ROUTE: u32 = 3;

/// An element of the repeated field `field`, as it stands in the message around it.
pub(super) fn element(field: u32, body: &[u8]) -> Bytes {
    let mut out = Vec::with_capacity(body.len() + 2 + encoded_len_varint(body.len() as u64));
    encode_key(field, WireType::LengthDelimited, &mut out);
    encode_varint(body.len() as u64, &mut out);
    out.put_slice(body);
    out.into()
}

/// A message with some of its fields encoded already.
pub(super) fn with<'a>(head: &impl Message, parts: impl Iterator<Item = &'a Bytes> + Clone) -> Vec<u8> {
    let length = parts.clone().fold(head.encoded_len(), |sum, part| sum + part.len());
    let mut out = Vec::with_capacity(length);
    head.encode_raw(&mut out);
    for part in parts {
        out.put_slice(part);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::{ROUTE, element, with};
    use mizzen_proto::envoy::config::route::v3::{Route, VirtualHost};
    use prost::Message;

    #[test]
    fn parts_in_their_order_are_the_message() {
        let route = |name: &str| Route { name: name.into(), ..Route::default() };
        let parts = ["b", "a", &"long".repeat(100)].map(|name| element(ROUTE, &route(name).encode_to_vec()));
        let head = VirtualHost {
            name: "host".into(),
            include_request_attempt_count: true,
            ..VirtualHost::default()
        };
        let read = VirtualHost::decode(with(&head, parts.iter()).as_slice()).unwrap();
        let names: Vec<_> = read.routes.iter().map(|route| route.name.len()).collect();
        assert_eq!(
            (read.name.as_str(), read.include_request_attempt_count, names),
            ("host", true, vec![1, 1, 400])
        );
    }
}
