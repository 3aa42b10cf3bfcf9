//! Taking fields back that were ours and that somebody has set to something else since.
//!
//! An installation asks once and does not fight: what others have set stays, and is told. Whoever keeps a mesh as it should be
//! repairs instead, but for fields that two are meant to write.

use crate::{object::ObjectId, owners::Manager};
use std::collections::BTreeSet;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Reclaim {
    #[default]
    Nothing,
    /// All fields but the shared ones.
    Edited {
        /// Workloads that an autoscaler has: how many replicas they have is its word.
        scaled: BTreeSet<ObjectId>,
    },
    /// The same, and what somebody has scaled by hand; which workloads an autoscaler has is asked of the cluster.
    All,
}

impl Reclaim {
    /// `path` is as `leave_to_others` tells it.
    pub(crate) fn takes_back(&self, id: &ObjectId, manager: &Manager, path: &str) -> bool {
        let scaled = match self {
            Self::Nothing => return false,
            Self::Edited { scaled } => Some(scaled),
            Self::All => None,
        };
        // Whoever writes by a subresource, an autoscaler by `scale`, was meant to.
        if !manager.subresource.is_empty() {
            return false;
        }
        let is_webhook = id.kind.ends_with("WebhookConfiguration");
        // The control plane writes both when it serves: it has the certificate, and knows when it can be relied on.
        let is_control_planes =
            path.ends_with("clientConfig.caBundle") || (is_webhook && path.ends_with(".failurePolicy"));
        let is_autoscalers = path == "spec.replicas" && scaled.is_some_and(|scaled| scaled.contains(id));
        !is_control_planes && !is_autoscalers
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(kind: &str, name: &str) -> ObjectId {
        ObjectId::new("", kind, "n", name)
    }

    #[test]
    fn everything_is_taken_back_but_what_two_are_meant_to_write() {
        let edited = Reclaim::Edited { scaled: [id("Deployment", "scaled")].into() };
        let cases = [
            ("Deployment", "a", "", "spec.template.spec.containers[name=c].image", true),
            ("ConfigMap", "a", "", "data.mesh", true),
            ("Deployment", "a", "", "spec.replicas", true),
            ("Deployment", "scaled", "", "spec.replicas", false),
            ("Deployment", "a", "scale", "spec.replicas", false),
            ("MutatingWebhookConfiguration", "a", "", "webhooks[name=w].clientConfig.caBundle", false),
            ("ValidatingWebhookConfiguration", "a", "", "webhooks[name=w].failurePolicy", false),
            ("ValidatingWebhookConfiguration", "a", "", "webhooks[name=w].rules", true),
            ("CustomResourceDefinition", "a", "", "spec.conversion.webhook.clientConfig.caBundle", false),
            ("ValidatingAdmissionPolicy", "a", "", "spec.failurePolicy", true),
        ];
        for (kind, name, subresource, path, expected) in cases {
            let manager = Manager { name: "kubectl-edit".into(), subresource: subresource.into() };
            assert_eq!(edited.takes_back(&id(kind, name), &manager, path), expected, "{kind} {name} {path}");
            assert!(!Reclaim::Nothing.takes_back(&id(kind, name), &manager, path));
        }
    }
}
