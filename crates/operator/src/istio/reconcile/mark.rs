//! By what objects that were made here are known again: the labels of Kyma's older reconciler.

use super::Outcome;
use mizzen_cluster::{Action, ObjectId};
use serde_json::{Value, json};

pub(super) const MARK: (&str, &str) = ("reconciler.kyma-project.io/managed-by", "reconciler");
const ORIGIN: &str = "reconciler.kyma-project.io/origin-version";
const DISCLAIMER: &str = "reconciler.kyma-project.io/managed-by-reconciler-disclaimer";

/// `kyma` is a version of Kyma.
pub(super) fn metadata(name: &str, namespace: &str, kyma: &str) -> Value {
    let mut metadata = json!({
        "name": name,
        "labels": { MARK.0: MARK.1, ORIGIN: kyma },
        "annotations": { DISCLAIMER: crate::istio::DISCLAIMED },
    });
    if !namespace.is_empty() {
        metadata["namespace"] = namespace.into();
    }
    metadata
}

/// Marks what somebody else has described.
pub(super) fn mark(mut object: Value, kyma: &str) -> Value {
    for (label, value) in [MARK, (ORIGIN, kyma)] {
        object["metadata"]["labels"][label] = value.into();
    }
    object
}

/// Whether an object goes in this pass, or has gone.
pub(super) fn is_deleted(before: &[Outcome], id: &ObjectId) -> bool {
    let steps = before.iter().flat_map(|outcome| &outcome.steps);
    steps.into_iter().any(|step| step.action == Action::Delete && step.id == *id)
}
