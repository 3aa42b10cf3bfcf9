//! One resource: a name, encoded bytes, and a version that is a hash of them.

use std::{fmt, sync::Arc};

use bytes::Bytes;
use prost::Message;
use sha2::{Digest, Sha256};

/// A version is the content: equal bytes have equal versions on every replica, so that a proxy that reconnects
/// anywhere is sent only what is different. 64 bits, because it is only ever compared with the version of the same name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Version(u64);

impl Version {
    /// How long it is as text.
    pub(crate) const WIDTH: usize = 16;

    pub fn of(body: &[u8]) -> Self {
        let digest = Sha256::digest(body);
        let mut first = [0; 8];
        first.copy_from_slice(&digest[..8]);
        Self(u64::from_be_bytes(first))
    }

    pub(crate) fn text(self) -> [u8; Self::WIDTH] {
        let mut text = [0; Self::WIDTH];
        for (place, digit) in text.iter_mut().enumerate() {
            let nibble = (self.0 >> (60 - 4 * place)) & 0xf;
            *digit = b"0123456789abcdef"[nibble as usize];
        }
        text
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

#[derive(Clone, PartialEq, Eq)]
pub struct Resource {
    name: Arc<str>,
    version: Version,
    body: Bytes,
}

impl Resource {
    /// `body` is the encoded message: what stands in `Any.value` under the type's URL.
    pub fn new(name: impl Into<Arc<str>>, body: impl Into<Bytes>) -> Self {
        let body = body.into();
        Self { name: name.into(), version: Version::of(&body), body }
    }

    /// The message under its name, shared from here on.
    pub fn encode(name: impl Into<Arc<str>>, message: &impl Message) -> Arc<Self> {
        Arc::new(Self::new(name, message.encode_to_vec()))
    }

    pub fn name(&self) -> &Arc<str> {
        &self.name
    }

    pub fn version(&self) -> Version {
        self.version
    }

    pub fn body(&self) -> &Bytes {
        &self.body
    }
}

impl fmt::Debug for Resource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}@{} ({} bytes)", self.name, self.version, self.body.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_the_content() {
        let one = Resource::new("a", "x");
        assert_eq!(one.version(), Resource::new("b", "x").version());
        assert_ne!(one.version(), Resource::new("a", "y").version());
    }

    #[test]
    fn a_version_is_written_the_same_way_everywhere() {
        for body in ["", "x", "some more"] {
            let version = Version::of(body.as_bytes());
            assert_eq!(version.to_string().as_bytes(), version.text());
        }
    }
}
