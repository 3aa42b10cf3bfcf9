//! A tree → the bytes of one layer: a tar without times, owners or any order but the paths' own.

use std::{
    collections::BTreeMap,
    fs::File,
    io::{self, Read, Write},
    path::Path,
};

use tar::{Builder, EntryType, Header};

use crate::{error::Error, tree::Node};

/// Why a layer was not written: a source that could not be read, or the target.
pub(crate) enum Failed {
    Source(Error),
    Target(io::Error),
}

pub(crate) fn write(nodes: &BTreeMap<String, Node>, target: impl Write) -> Result<(), Failed> {
    let mut tar = Builder::new(target);
    for (path, node) in nodes {
        match node {
            Node::Folder { mode } => {
                let mut header = header(EntryType::Directory, *mode, 0);
                tar.append_data(&mut header, format!("{path}/"), io::empty()).map_err(Failed::Target)?;
            }
            Node::Link { target } => {
                let mut header = header(EntryType::Symlink, 0o777, 0);
                tar.append_link(&mut header, path, target).map_err(Failed::Target)?;
            }
            Node::Text { content, mode } => {
                let mut header = header(EntryType::Regular, *mode, content.len() as u64);
                tar.append_data(&mut header, path, content.as_slice()).map_err(Failed::Target)?;
            }
            Node::File { source, mode } => append_file(&mut tar, path, source, *mode)?,
        }
    }
    tar.into_inner().and_then(|mut target| target.flush()).map_err(Failed::Target)
}

fn append_file(tar: &mut Builder<impl Write>, path: &str, source: &Path, mode: u32) -> Result<(), Failed> {
    let unreadable = |error| Failed::Source(Error::read(source)(error));
    let file = File::open(source).map_err(unreadable)?;
    let meta = file.metadata().map_err(unreadable)?;
    if !meta.is_file() {
        return Err(Failed::Source(Error::Kind { path: source.to_owned() }));
    }
    let mut content = Watched { inner: file.take(meta.len()), read: 0, failed: None };
    let mut header = header(EntryType::Regular, mode, meta.len());
    let appended = tar.append_data(&mut header, path, &mut content);
    match (appended, content.failed) {
        (_, Some(error)) => Err(unreadable(error)),
        (Err(error), None) => Err(Failed::Target(error)),
        // The size stands in the header already: a file that shrank would shift everything behind it.
        (Ok(()), None) if content.read != meta.len() => {
            Err(Failed::Source(Error::Changed { path: source.to_owned() }))
        }
        (Ok(()), None) => Ok(()),
    }
}

fn header(kind: EntryType, mode: u32, size: u64) -> Header {
    let mut header = Header::new_gnu();
    header.set_entry_type(kind);
    header.set_mode(mode);
    header.set_size(size);
    header.set_uid(0);
    header.set_gid(0);
    header.set_mtime(0);
    header
}

/// Remembers how much was read and what went wrong on this side: `append_data` has one error for both.
struct Watched<R> {
    inner: R,
    read: u64,
    failed: Option<io::Error>,
}

impl<R: Read> Read for Watched<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self.inner.read(buffer) {
            Ok(count) => {
                self.read += count as u64;
                Ok(count)
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Err(error),
            Err(error) => {
                let kind = error.kind();
                self.failed = Some(error);
                Err(kind.into())
            }
        }
    }
}
