//! What will lie where in an image, before anything is read: a sorted map, completed with the folders in between.

use std::{
    collections::BTreeMap,
    fs,
    os::unix::fs::{FileTypeExt, PermissionsExt},
    path::{Path, PathBuf},
};

use crate::{
    error::Error,
    path::{inside, parents},
};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Node {
    Folder { mode: u32 },
    File { source: PathBuf, mode: u32 },
    Text { content: Vec<u8>, mode: u32 },
    Link { target: String },
}

#[derive(Debug, Default)]
pub(crate) struct Tree {
    nodes: BTreeMap<String, Node>,
}

impl Tree {
    /// Puts something at a path; what was there before is replaced.
    pub(crate) fn put(&mut self, path: &str, node: Node) -> Result<(), Error> {
        self.nodes.insert(inside(path)?, node);
        Ok(())
    }

    /// Puts something at a path, unless something is there already.
    pub(crate) fn offer(&mut self, path: &str, node: Node) -> Result<(), Error> {
        self.nodes.entry(inside(path)?).or_insert(node);
        Ok(())
    }

    /// Puts a folder of this machine, with everything below it, at a path. Links stay links. Calls back for each
    /// file with its source and its path in the image.
    pub(crate) fn put_folder(
        &mut self,
        source: &Path,
        path: &str,
        file: &mut impl FnMut(&Path, &str),
    ) -> Result<(), Error> {
        for entry in fs::read_dir(source).map_err(Error::read(source))? {
            let entry = entry.map_err(Error::read(source))?;
            let source = entry.path();
            let name = entry.file_name();
            let bad =
                || Error::Path { path: name.to_string_lossy().into_owned(), reason: "it must be UTF-8" };
            let path = format!("{path}/{}", name.to_str().ok_or_else(bad)?);
            let meta = entry.metadata().map_err(Error::read(&source))?;
            let mode = meta.permissions().mode() & 0o7777;
            if meta.is_dir() {
                self.put(&path, Node::Folder { mode })?;
                self.put_folder(&source, &path, file)?;
            } else if meta.is_symlink() {
                let target = fs::read_link(&source).map_err(Error::read(&source))?;
                let target = target.to_str().ok_or_else(bad)?.to_owned();
                self.put(&path, Node::Link { target })?;
            } else if special(meta.file_type()) {
                return Err(Error::Kind { path: source });
            } else {
                file(&source, &path);
                self.put(&path, Node::File { source, mode })?;
            }
        }
        Ok(())
    }

    /// Adds the folders in between; then everything, sorted, parents first.
    pub(crate) fn complete(mut self) -> Result<BTreeMap<String, Node>, Error> {
        let mut folders = Vec::new();
        for path in self.nodes.keys() {
            for parent in parents(path) {
                match self.nodes.get(parent) {
                    Some(Node::Folder { .. }) => {}
                    None => folders.push(parent.to_owned()),
                    Some(Node::File { .. } | Node::Text { .. } | Node::Link { .. }) => {
                        let path = format!("/{path}");
                        return Err(Error::Path {
                            path,
                            reason: "it lies below something that is no folder",
                        });
                    }
                }
            }
        }
        self.nodes.extend(folders.into_iter().map(|path| (path, Node::Folder { mode: 0o755 })));
        Ok(self.nodes)
    }
}

fn special(kind: fs::FileType) -> bool {
    kind.is_block_device() || kind.is_char_device() || kind.is_fifo() || kind.is_socket()
}
