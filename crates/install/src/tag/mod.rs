//! Revision tags: other names for a revision, which namespaces can ask for.
//!
//! In: the injection webhook of the revision, as the cluster has it (its authority and where it is served are known nowhere
//! else), the tag's name, the charts. Out: the objects of the tag.

mod canonical;
mod chart;
mod objects;
mod validator;

pub use objects::{Tag, deactivated};

use crate::{ChartsError, Refused};

/// The tag that answers where a namespace names no revision, and the name of the revision without one.
pub const DEFAULT: &str = "default";
/// The webhook that belongs to the tag [`DEFAULT`].
pub const VALIDATOR: &str = "istiod-default-validator";

pub(crate) const REVISION: &str = "istio.io/rev";
pub(crate) const TAG: &str = "istio.io/tag";

/// Why there are no objects.
#[derive(Debug, thiserror::Error)]
pub enum NoTag {
    #[error("the webhook {0:?} has no label istio.io/rev: it belongs to no revision")]
    NoRevision(String),
    #[error("could not find sidecar-injector webhook in canonical webhook {0:?}")]
    NoInjection(String),
    #[error("could not find {kind} in manifests: {charts} make none for a tag")]
    NotInCharts { kind: &'static str, charts: String },
    #[error(transparent)]
    Charts(#[from] ChartsError),
    #[error(transparent)]
    Refused(#[from] Refused),
}
