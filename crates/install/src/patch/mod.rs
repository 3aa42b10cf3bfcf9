//! Changes to rendered objects: strategic merges with the rules of Kubernetes' own types, and the path patches of
//! `k8s.overlays`.

mod directive;
mod list;
mod overlay;
mod route;
mod strategic;
mod tree;

pub use overlay::{OverlayError, overlay};
pub use strategic::strategic;

use mizzen_text::{At, Path};

/// Why a strategic merge cannot be done.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PatchError {
    #[error("{api_version} {kind} is no kind whose merge rules are known")]
    UnknownKind { api_version: String, kind: String },
    #[error("{path}: {message}")]
    Field { path: Path, message: String },
}

impl PatchError {
    fn at(at: &At<'_>, message: impl Into<String>) -> Self {
        Self::Field { path: at.path(), message: message.into() }
    }
}
