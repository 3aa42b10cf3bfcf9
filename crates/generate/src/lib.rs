//! Generated code and data, made from interface definitions: the folder of Istio's API module in, files of this
//! repository out (as paths and bytes, so that a test can compare instead of write). It is a crate of its own because
//! the compilers for protos are heavy and nothing else needs them.

pub mod crds;
pub mod protos;

use anyhow::{Context as _, Result};
use std::path::{Path, PathBuf};

/// A file of the repository and what belongs in it.
pub struct Generated {
    pub path: PathBuf,
    pub bytes: Vec<u8>,
}

/// Everything that is generated. `istio_api` is the folder of the Go module `istio.io/api`.
pub fn all(istio_api: &Path) -> Result<Vec<Generated>> {
    let mut files = protos::generate(istio_api).context("protos")?;
    files.extend(crds::generate(istio_api).context("custom resource definitions")?);
    Ok(files)
}

/// The top of the repository.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}
