//! Istio's order of objects: the older first, then by name, then by namespace.

use mizzen_api::Metadata;
use std::sync::Arc;

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Age {
    /// RFC 3339 as Kubernetes prints it, which sorts as text; nothing is older than everything.
    pub(crate) created: Arc<str>,
    pub(crate) name: Arc<str>,
    pub(crate) namespace: Arc<str>,
}

impl Age {
    pub(crate) fn of(metadata: &Metadata) -> Self {
        Self {
            created: metadata.creation_timestamp.as_str().into(),
            name: metadata.name.as_str().into(),
            namespace: metadata.namespace.as_str().into(),
        }
    }
}
