//! What was fetched, by digest, and which digest a name stood for when it was last asked. Files are written whole or not
//! at all, and what is read is checked: a damaged file is as good as none.

use std::{
    fs, io,
    path::{Path, PathBuf},
    sync::atomic::{AtomicU64, Ordering},
};

use bytes::Bytes;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::error::SourceError;

/// Without a folder nothing is kept.
#[derive(Clone, Debug)]
pub(super) struct Cache {
    folder: Option<PathBuf>,
}

/// What a name stood for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Record {
    pub digest: String,
    pub version: String,
}

impl Cache {
    /// In this folder, or in the user's own.
    pub(super) fn new(folder: Option<&Path>) -> Self {
        let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let own = || {
            let caches = set("XDG_CACHE_HOME").or_else(|| Some(set("HOME")?.join(".cache")))?;
            Some(caches.join("mizzen/charts"))
        };
        Self { folder: folder.map(Path::to_owned).or_else(own) }
    }

    pub(super) fn folder(&self) -> Result<&Path, SourceError> {
        self.folder.as_deref().ok_or(SourceError::NoCache)
    }

    pub(super) fn blob(&self, digest: &str) -> Option<Bytes> {
        let path = self.blob_path(digest)?;
        let bytes = Bytes::from(fs::read(&path).ok()?);
        if digest_of(&bytes) == digest {
            return Some(bytes);
        }
        let _ = fs::remove_file(path);
        None
    }

    /// Kept where it can be; that it cannot is no reason not to go on.
    pub(super) fn keep(&self, digest: &str, bytes: &[u8]) {
        if let Some(path) = self.blob_path(digest) {
            written(&path, bytes);
        }
    }

    pub(super) fn record(&self, name: &str) -> Option<Record> {
        let value: Value = serde_json::from_slice(&fs::read(self.record_path(name)?).ok()?).ok()?;
        let text = |key: &str| value.get(key)?.as_str().map(str::to_owned);
        // Two names with one digest of names: as good as none.
        (text("name")? == name).then_some(())?;
        Some(Record { digest: text("digest").filter(|digest| is_digest(digest))?, version: text("version")? })
    }

    pub(super) fn remember(&self, name: &str, record: &Record) {
        if let Some(path) = self.record_path(name) {
            let value = json!({"name": name, "digest": record.digest, "version": record.version});
            written(&path, value.to_string().as_bytes());
        }
    }

    fn blob_path(&self, digest: &str) -> Option<PathBuf> {
        // The digest is part of a path.
        let hex = digest.strip_prefix("sha256:").filter(|_| is_digest(digest))?;
        Some(self.folder.as_ref()?.join("blobs").join(hex))
    }

    fn record_path(&self, name: &str) -> Option<PathBuf> {
        let digest = digest_of(name.as_bytes());
        Some(self.folder.as_ref()?.join("names").join(digest.trim_start_matches("sha256:")))
    }
}

pub(super) fn digest_of(bytes: &[u8]) -> String {
    use std::fmt::Write;
    let mut text = "sha256:".to_owned();
    for byte in Sha256::digest(bytes) {
        let _ = write!(text, "{byte:02x}");
    }
    text
}

/// `sha256:` and 64 digits.
pub(super) fn is_digest(text: &str) -> bool {
    text.strip_prefix("sha256:").is_some_and(|hex| {
        hex.len() == 64 && hex.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
    })
}

/// Beside its place first: whoever reads finds all of it or nothing.
fn written(path: &Path, bytes: &[u8]) {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let write = || -> io::Result<()> {
        let folder = path.parent().ok_or(io::ErrorKind::NotFound)?;
        fs::create_dir_all(folder)?;
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let part = path.with_extension(format!("part-{}-{number}", std::process::id()));
        let result = fs::write(&part, bytes).and_then(|()| fs::rename(&part, path));
        if result.is_err() {
            let _ = fs::remove_file(&part);
        }
        result
    };
    if let Err(error) = write() {
        tracing::warn!("{} cannot be kept for later: {error}", path.display());
    }
}
