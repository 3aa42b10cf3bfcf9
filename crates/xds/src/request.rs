//! A client's request, read with bounds.
//!
//! In: the bytes of a `DiscoveryRequest` or a `DeltaDiscoveryRequest`. Out: one `Request` for both. A decoded message is many
//! times larger than its bytes if somebody wants it so (a name of no bytes is two on the wire and twenty-four here), so
//! the fields are counted before anything is decoded.

use std::collections::HashMap;

use bytes::{Buf, Bytes};
use mizzen_proto::envoy::{
    config::core::v3::Node,
    service::discovery::v3::{DeltaDiscoveryRequest, DiscoveryRequest},
};
use prost::{
    Message,
    encoding::{WireType, decode_key, decode_varint},
};

use crate::{options::Options, session::Protocol};

#[derive(Debug, Default)]
pub(crate) struct Request {
    pub(crate) node: Option<Node>,
    pub(crate) url: String,
    pub(crate) nonce: String,
    pub(crate) error: Option<ErrorDetail>,
    /// In state of the world all names that are wanted, in delta those that are added.
    pub(crate) names: Vec<String>,
    /// Delta only.
    pub(crate) unsubscribe: Vec<String>,
    pub(crate) known: HashMap<String, String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ErrorDetail {
    pub(crate) code: i32,
    pub(crate) text: String,
}

#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub(crate) enum BadRequest {
    #[error("the request cannot be read: {0}")]
    Unreadable(String),
    #[error("the request names {0} resources, more than the {1} that are allowed")]
    TooManyNames(usize, usize),
    #[error(
        "the request has {0} bytes besides resource names, more than the {LARGEST_REST} that are allowed"
    )]
    TooLarge(usize),
}

/// Node and error detail are a few kilobytes; their decoded form may be forty times that.
const LARGEST_REST: usize = 1 << 20;
/// Of a refusal's text. Envoy lists every cluster that it refuses.
const LONGEST_TEXT: usize = 8 << 10;
const LONGEST_URL: usize = 256;

impl Request {
    pub(crate) fn decode(protocol: Protocol, message: Bytes, options: &Options) -> Result<Self, BadRequest> {
        let unreadable = |error: prost::DecodeError| BadRequest::Unreadable(error.to_string());
        // The fields that name resources: as often as names, nothing else is.
        let names: &[u32] = match protocol {
            Protocol::Delta => &[3, 4, 5],
            Protocol::StateOfTheWorld => &[3],
        };
        measure(message.clone(), names, options.max_names)?;
        let request = match protocol {
            Protocol::Delta => {
                let read = DeltaDiscoveryRequest::decode(message).map_err(unreadable)?;
                Self {
                    node: read.node,
                    url: read.type_url,
                    nonce: read.response_nonce,
                    error: read.error_detail.map(|error| ErrorDetail::new(error.code, error.message)),
                    names: read.resource_names_subscribe,
                    unsubscribe: read.resource_names_unsubscribe,
                    known: read.initial_resource_versions,
                }
            }
            Protocol::StateOfTheWorld => {
                let read = DiscoveryRequest::decode(message).map_err(unreadable)?;
                Self {
                    node: read.node,
                    url: read.type_url,
                    nonce: read.response_nonce,
                    error: read.error_detail.map(|error| ErrorDetail::new(error.code, error.message)),
                    names: read.resource_names,
                    ..Self::default()
                }
            }
        };
        if request.url.is_empty() || request.url.len() > LONGEST_URL {
            return Err(BadRequest::Unreadable(format!("a type URL of {} bytes", request.url.len())));
        }
        Ok(request)
    }
}

impl ErrorDetail {
    fn new(code: i32, mut text: String) -> Self {
        if text.len() > LONGEST_TEXT {
            text.truncate(text.floor_char_boundary(LONGEST_TEXT));
            text.push('…');
        }
        Self { code, text }
    }
}

/// Counts names and everything else.
fn measure(mut message: Bytes, names: &[u32], most: usize) -> Result<(), BadRequest> {
    let unreadable = |error: prost::DecodeError| BadRequest::Unreadable(error.to_string());
    let (mut named, mut rest) = (0, 0);
    while message.has_remaining() {
        let (field, wire) = decode_key(&mut message).map_err(unreadable)?;
        let length = match wire {
            WireType::LengthDelimited => decode_varint(&mut message).map_err(unreadable)?,
            WireType::Varint => decode_varint(&mut message).map(|_| 0).map_err(unreadable)?,
            WireType::SixtyFourBit => 8,
            WireType::ThirtyTwoBit => 4,
            WireType::StartGroup | WireType::EndGroup => {
                return Err(BadRequest::Unreadable("a group".to_owned()));
            }
        };
        let length = usize::try_from(length).unwrap_or(usize::MAX);
        if length > message.remaining() {
            return Err(BadRequest::Unreadable("it ends within a field".to_owned()));
        }
        message.advance(length);
        if names.contains(&field) {
            named += 1;
        } else {
            rest += length + 2;
        }
    }
    match (named, rest) {
        (named, _) if named > most => Err(BadRequest::TooManyNames(named, most)),
        (_, rest) if rest > LARGEST_REST => Err(BadRequest::TooLarge(rest)),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decode(request: &DeltaDiscoveryRequest) -> Result<Request, BadRequest> {
        let options = Options { max_names: 10, ..Options::default() };
        Request::decode(Protocol::Delta, request.encode_to_vec().into(), &options)
    }

    #[test]
    fn requests_that_break_a_bound_are_refused_before_they_are_decoded() {
        let url = || "x".to_owned();
        let names = vec![String::new(); 11];
        let many =
            DeltaDiscoveryRequest { type_url: url(), resource_names_subscribe: names, ..Default::default() };
        assert_eq!(decode(&many).unwrap_err(), BadRequest::TooManyNames(11, 10));
        let node = Node { id: "x".repeat(LARGEST_REST), ..Default::default() };
        let large = DeltaDiscoveryRequest { type_url: url(), node: Some(node), ..Default::default() };
        assert!(matches!(decode(&large).unwrap_err(), BadRequest::TooLarge(_)));
        let long = DeltaDiscoveryRequest { type_url: "x".repeat(300), ..Default::default() };
        assert!(matches!(decode(&long).unwrap_err(), BadRequest::Unreadable(_)));
    }

    #[test]
    fn bytes_that_are_no_request_are_refused() {
        for bytes in [&b"\xff\xff\xff"[..], b"\x1a\xff\xff\xff\xff\x0f", b"\x0b", b"\x1a\x02\xff\xfe", b""] {
            for protocol in [Protocol::Delta, Protocol::StateOfTheWorld] {
                let read = Request::decode(protocol, Bytes::from_static(bytes), &Options::default());
                assert!(matches!(read, Err(BadRequest::Unreadable(_))), "{bytes:?}");
            }
        }
    }

    #[test]
    fn a_long_refusal_is_cut_between_characters() {
        let detail = ErrorDetail::new(13, "ä".repeat(LONGEST_TEXT));
        assert!(detail.text.len() <= LONGEST_TEXT + 3 && detail.text.ends_with('…'));
    }
}
