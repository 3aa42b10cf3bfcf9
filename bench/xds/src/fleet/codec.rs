//! Messages as the bytes that they are: requests are encoded as usual, responses stay undecoded.

use bytes::{Buf as _, Bytes};
use envoy_types::pb::envoy::service::discovery::v3::DeltaDiscoveryRequest;
use prost::Message as _;
use tonic::{
    Status,
    codec::{Codec, DecodeBuf, Decoder, EncodeBuf, Encoder},
};

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Raw;

impl Codec for Raw {
    type Encode = DeltaDiscoveryRequest;
    type Decode = Bytes;
    type Encoder = Self;
    type Decoder = Self;

    fn encoder(&mut self) -> Self {
        Self
    }

    fn decoder(&mut self) -> Self {
        Self
    }
}

impl Encoder for Raw {
    type Item = DeltaDiscoveryRequest;
    type Error = Status;

    fn encode(&mut self, request: DeltaDiscoveryRequest, out: &mut EncodeBuf<'_>) -> Result<(), Status> {
        request.encode(out).map_err(|error| Status::internal(error.to_string()))
    }
}

impl Decoder for Raw {
    type Item = Bytes;
    type Error = Status;

    fn decode(&mut self, bytes: &mut DecodeBuf<'_>) -> Result<Option<Bytes>, Status> {
        Ok(Some(bytes.copy_to_bytes(bytes.remaining())))
    }
}
