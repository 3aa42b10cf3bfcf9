//! A content's name: its SHA-256, computed while the content is written.

use std::{
    fmt,
    io::{self, Write},
};

use sha2::{Digest as _, Sha256};

/// Printed as `sha256:…`.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Digest {
    hex: String,
}

impl Digest {
    pub(crate) fn of(bytes: &[u8]) -> Self {
        Self::finish(Sha256::new_with_prefix(bytes))
    }

    /// Without the name of the algorithm.
    pub fn hex(&self) -> &str {
        &self.hex
    }

    fn finish(hasher: Sha256) -> Self {
        use fmt::Write as _;
        let mut hex = String::with_capacity(64);
        for byte in hasher.finalize() {
            // Writing to a String cannot fail.
            let _ = write!(hex, "{byte:02x}");
        }
        Self { hex }
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "sha256:{}", self.hex)
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl serde::Serialize for Digest {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// Hands everything on, counting and hashing it.
pub(crate) struct Hashing<W> {
    inner: W,
    hasher: Sha256,
    written: u64,
}

impl<W: Write> Hashing<W> {
    pub(crate) fn new(inner: W) -> Self {
        Self { inner, hasher: Sha256::new(), written: 0 }
    }

    pub(crate) fn finish(self) -> (Digest, u64) {
        (Digest::finish(self.hasher), self.written)
    }
}

impl<W: Write> Write for Hashing<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = self.inner.write(bytes)?;
        self.hasher.update(&bytes[..count]);
        self.written += count as u64;
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}
