//! Revision tags: other names for a revision, which namespaces can ask for.
//!
//! ```text
//! cluster ─▶ State ─┬─▶ the list of tags
//!                   ├─▶ Request, charts ─▶ Change ─▶ cluster
//!                   └─▶ Removal ─▶ cluster
//! ```
//!
//! The injection webhook of a revision is looked for in the cluster, as what it tells (who signs for it, where it is served) is known
//! nowhere else. Reading and writing the cluster are in `state` and `act`; all else is decided without it.

mod act;
mod canonical;
mod change;
mod chart;
mod listed;
mod objects;
mod overlap;
mod removal;
mod state;
mod validator;

pub use change::{Change, Request};
pub use listed::Listed;
pub use objects::{Tag, deactivated};
pub use overlap::{Conflict, conflicts};
pub use removal::Removal;
pub use state::State;

use crate::{ChartsError, Refused};

/// The tag that answers where a namespace names no revision, and the name of the revision without one.
pub const DEFAULT: &str = "default";
/// The webhook that belongs to the tag [`DEFAULT`].
pub const VALIDATOR: &str = "istiod-default-validator";

pub(crate) const REVISION: &str = "istio.io/rev";
pub(crate) const TAG: &str = "istio.io/tag";

/// Why a tag is not made, changed or removed. Where istioctl has a sentence, it is this one.
#[derive(Debug, thiserror::Error)]
pub enum NoTag {
    #[error("cannot create revision tag {0:?}: found existing control plane revision with same name")]
    NamedLikeRevision(String),
    #[error("cannot modify tag: cannot find MutatingWebhookConfiguration or Service with revision {0:?}")]
    NoSuchRevision(String),
    #[error(
        "cannot modify tag: cannot find MutatingWebhookConfiguration with revision {0:?}, only its Service"
    )]
    NoWebhook(String),
    #[error("cannot modify tag: found multiple canonical webhooks or services with revision {0:?}")]
    Ambiguous(String),
    #[error("revision tag {0:?} already exists, and --overwrite is false")]
    Exists(String),
    #[error("cannot remove tag {0:?}: cannot find MutatingWebhookConfiguration or Service for tag")]
    NoSuchTag(String),
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

fn label<'v>(object: &'v serde_json::Value, name: &str) -> Option<&'v str> {
    crate::tree::text(object, &["metadata", "labels", name])
}

fn name(object: &serde_json::Value) -> &str {
    crate::tree::text(object, &["metadata", "name"]).unwrap_or_default()
}

#[cfg(test)]
mod tests;
