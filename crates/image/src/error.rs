//! Why an image could not be made. Each names the file or path that is to blame.

use std::{
    io,
    path::{Path, PathBuf},
};

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("{}: {source}", path.display())]
    Read { path: PathBuf, source: io::Error },
    #[error("cannot write image {}: {source}", path.display())]
    Write { path: PathBuf, source: io::Error },
    #[error("{}: {reason}", path.display())]
    Program { path: PathBuf, reason: String },
    #[error("{} needs {library}, which is not in {}", path.display(), searched.join(", "))]
    Library { path: PathBuf, library: String, searched: Vec<String> },
    #[error("path {path:?} in an image: {reason}")]
    Path { path: String, reason: &'static str },
    #[error("{}: neither a file, a folder nor a link, so it cannot be in an image", path.display())]
    Kind { path: PathBuf },
    #[error("{} changed while it was read", path.display())]
    Changed { path: PathBuf },
    #[error("image {name:?}: programs for {one} and for {other}; an image is for one architecture")]
    Architectures { name: String, one: &'static str, other: &'static str },
    #[error("image name {name:?} must have a host or folder and a tag or digest, like `localhost/pause:1`")]
    Name { name: String },
}

impl Error {
    pub(crate) fn read(path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Read { path: path.to_owned(), source }
    }
}
