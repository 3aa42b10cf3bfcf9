//! Generated code and data, made from interface definitions: the folder of the installed tools in, files of this
//! repository out (as paths and bytes, so that a test can compare instead of write). It is a crate of its own because
//! the compilers for protos are heavy and nothing else needs them.

pub mod crds;
pub mod protos;
pub mod shapes;

use anyhow::{Context as _, Result};
use std::path::{Path, PathBuf};

/// A file of the repository and what belongs in it.
pub struct Generated {
    pub path: PathBuf,
    pub bytes: Vec<u8>,
}

/// What of the installed tools is needed.
pub const NEEDS: &[&str] = &["istio-oracle", "modules/istio", "modules/istio-api"];

/// Everything that is generated. `tools` is the folder of the installed tools.
pub fn all(tools: &Path) -> Result<Vec<Generated>> {
    let istio_api = tools.join("modules/istio-api");
    let mut files = protos::generate(&istio_api).context("protos")?;
    files.extend(crds::generate(&istio_api).context("custom resource definitions")?);
    let (oracle, istio) = (tools.join("bin/istio-oracle"), tools.join("modules/istio"));
    files.extend(shapes::generate(&oracle, &istio).context("shapes")?);
    Ok(files)
}

/// The top of the repository.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}
