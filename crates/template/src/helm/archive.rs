//! A `.tgz` → its files, in memory. Whoever made it may mean harm: nothing is written to disk, no path leads out, and
//! there is an end to how much is unpacked.

use std::{
    cell::Cell,
    collections::BTreeSet,
    io::{self, Read},
};

use bytes::Bytes;
use flate2::read::MultiGzDecoder;
use tar::{Archive, EntryType};

use super::error::ArchiveError;

#[derive(Clone, Debug)]
pub struct ArchiveLimits {
    /// Bytes of all files that are kept.
    pub total: u64,
    /// Bytes of one file that is kept.
    pub file: u64,
    /// Entries, kept or not.
    pub files: usize,
    /// Bytes that are decompressed, kept or not.
    pub stream: u64,
}

impl ArchiveLimits {
    /// As Helm has them: 100 MiB in all, 5 MiB for a file.
    pub const CHART: Self = Self { total: 100 << 20, file: 5 << 20, files: 20_000, stream: 128 << 20 };
}

/// The files that `wanted` says yes to, by their cleaned paths, in the archive's order.
pub fn unpack(
    bytes: &[u8],
    limits: &ArchiveLimits,
    mut wanted: impl FnMut(&str) -> bool,
) -> Result<Vec<(String, Bytes)>, ArchiveError> {
    if !bytes.starts_with(&[0x1f, 0x8b]) {
        return Err(ArchiveError::NotGzip);
    }
    let left = Cell::new(limits.stream);
    let stopped = |error: io::Error| match left.get() {
        0 => ArchiveError::TooLarge { limit: limits.stream },
        _ => ArchiveError::Damaged(error.to_string()),
    };
    let mut archive = Archive::new(Limited { inner: MultiGzDecoder::new(bytes), left: &left });
    let mut names = BTreeSet::new();
    let mut files = Vec::new();
    let mut total = 0;
    let mut count = 0;
    for entry in archive.entries().map_err(stopped)? {
        let mut entry = entry.map_err(stopped)?;
        count += 1;
        if count > limits.files {
            return Err(ArchiveError::TooMany { limit: limits.files });
        }
        let kind = entry.header().entry_type();
        if matches!(kind, EntryType::Directory | EntryType::XGlobalHeader | EntryType::XHeader) {
            continue;
        }
        let raw = entry.path_bytes().into_owned();
        let name = String::from_utf8(raw)
            .map_err(|error| ArchiveError::Name(String::from_utf8_lossy(error.as_bytes()).into_owned()))?;
        let path = clean(&name)?;
        if !wanted(&path) {
            continue;
        }
        if !matches!(kind, EntryType::Regular | EntryType::Continuous) {
            return Err(ArchiveError::Irregular(name));
        }
        if !names.insert(path.clone()) {
            return Err(ArchiveError::Twice(path));
        }
        let size = entry.size();
        if size > limits.file {
            return Err(ArchiveError::FileTooLarge { name, limit: limits.file });
        }
        total += size;
        if total > limits.total {
            return Err(ArchiveError::TooLarge { limit: limits.total });
        }
        let mut data = Vec::new();
        entry.read_to_end(&mut data).map_err(stopped)?;
        if data.len() as u64 != size {
            return Err(ArchiveError::Damaged(format!("{name} ends early")));
        }
        files.push((path, Bytes::from(data)));
    }
    // To the end, so that the checksum is compared: a cut archive must not pass for a smaller one.
    io::copy(&mut archive.into_inner(), &mut io::sink()).map_err(stopped)?;
    if count == 0 { Err(ArchiveError::Empty) } else { Ok(files) }
}

/// Fails where as much was read as may be, so that a bomb does not look like an archive that ends there.
struct Limited<'l, R> {
    inner: R,
    left: &'l Cell<u64>,
}

impl<R: Read> Read for Limited<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let most = usize::try_from(self.left.get()).unwrap_or(usize::MAX).min(buffer.len());
        if most == 0 && !buffer.is_empty() {
            return Err(io::Error::other("too much"));
        }
        let read = self.inner.read(&mut buffer[..most])?;
        self.left.set(self.left.get() - read as u64);
        Ok(read)
    }
}

pub(super) fn outside(name: impl Into<String>) -> ArchiveError {
    ArchiveError::Outside(name.into())
}

/// Without `.` and doubled slashes; refused where it begins at a root or climbs out. An archive made on Windows may have
/// backslashes.
fn clean(name: &str) -> Result<String, ArchiveError> {
    let slashed = if name.contains('\\') { name.replace('\\', "/") } else { name.to_owned() };
    let mut drive = slashed.chars();
    let has_drive = drive.next().is_some_and(|c| c.is_ascii_alphabetic()) && drive.as_str().starts_with(":/");
    if slashed.starts_with('/') || has_drive || slashed.contains('\0') {
        return Err(outside(name));
    }
    let mut parts = Vec::new();
    for part in slashed.split('/') {
        match part {
            "" | "." => {}
            ".." => return Err(outside(name)),
            part => parts.push(part),
        }
    }
    if parts.is_empty() { Err(outside(name)) } else { Ok(parts.join("/")) }
}
