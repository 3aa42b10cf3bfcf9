//! A built resource.

use bytes::Bytes;
use prost::Message;
use std::sync::Arc;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resource {
    pub name: Arc<str>,
    /// The encoded message.
    pub body: Bytes,
}

impl Resource {
    pub fn encode(name: impl Into<Arc<str>>, message: &impl Message) -> Arc<Self> {
        Self::encoded(name, message.encode_to_vec())
    }

    pub fn encoded(name: impl Into<Arc<str>>, body: impl Into<Bytes>) -> Arc<Self> {
        Arc::new(Self { name: name.into(), body: body.into() })
    }
}
