//! Where charts come from, as a user names it: nothing (built in), a folder, a `.tgz`, a chart repository or a registry.
//!
//! ```text
//! --manifests TEXT ─▶ open ─┬─ nothing ──────────▶ BuiltIn
//!                           ├─ folder, .tgz ─────▶ charts and profiles, or one chart
//!                           └─ https://, oci:// ─▶ Published: charts by name and version ─▶ cache by digest
//! ```
//!
//! What is published has no profiles: then those that are built in are used.

mod built_in;
mod cache;
mod credentials;
mod error;
mod http;
mod local;
mod oci;
mod place;
mod published;
mod repository;
mod tree;
mod versions;

use std::path::PathBuf;

pub use built_in::BuiltIn;
pub use error::SourceError;
use place::Place;

use crate::{Charts, ChartsError};

/// How charts are looked for.
#[derive(Clone, Debug, Default)]
pub struct SourceOptions {
    /// A version or a range of them; without it the newest release.
    pub version: Option<String>,
    /// Only what the cache has.
    pub offline: bool,
    /// Where fetched charts are kept; without it in the user's cache folder.
    pub cache: Option<PathBuf>,
    /// Authorities that are trusted beside the system's, as PEM.
    pub roots: Option<String>,
    /// The folder of Docker's `config.json`; without it the user's.
    pub docker_config: Option<PathBuf>,
}

/// The charts that `text` names; the empty text names those that are built in.
pub fn open(text: &str, options: &SourceOptions) -> Result<Box<dyn Charts>, ChartsError> {
    let place = Place::parse(text).map_err(unreadable)?;
    let needs_no_version = |charts: Box<dyn Charts>| match &options.version {
        None => Ok(charts),
        Some(version) => {
            Err(unreadable(SourceError::NoVersions { what: charts.describe(), version: version.clone() }))
        }
    };
    match place {
        Place::BuiltIn => needs_no_version(Box::new(BuiltIn)),
        Place::Path(path) => needs_no_version(local::open(&path)?),
        Place::Archive(url) => {
            published::archive(&url, options).map_err(unreadable).and_then(needs_no_version)
        }
        Place::Repository(url) => {
            Ok(Box::new(published::Published::repository(url, options).map_err(unreadable)?))
        }
        Place::Registry(reference) => {
            Ok(Box::new(published::Published::registry(reference, options).map_err(unreadable)?))
        }
    }
}

#[expect(clippy::needless_pass_by_value, reason = "it is given to `map_err`")]
fn unreadable(error: SourceError) -> ChartsError {
    ChartsError::Unreadable(error.to_string())
}

/// A chart's folder in an Istio release, and the name that the same chart is published under.
const PUBLISHED: &[(&str, &str)] = &[
    ("base", "base"),
    ("istio-control/istio-discovery", "istiod"),
    ("gateway", "gateway"),
    ("istio-cni", "cni"),
    ("ztunnel", "ztunnel"),
];

/// All folders with the name that the chart in it says of itself.
const FOLDERS: &[(&str, &str)] = &[
    ("base", "base"),
    ("default", "istio-default"),
    ("istio-control/istio-discovery", "istiod"),
    ("gateways/istio-ingress", "istio-ingress"),
    ("gateways/istio-egress", "istio-egress"),
    ("gateway", "gateway"),
    ("istio-cni", "cni"),
    ("ztunnel", "ztunnel"),
];
