//! By what objects that were made here are known again: the labels of Kyma's older reconciler.

use super::Outcome;
use crate::istio::{MODULE, resources::is_marked};
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

/// Whether an object was made here, and no other module has taken it over since.
pub(super) fn is_ours(live: &Value) -> bool {
    is_marked(live, MARK) && module(live).is_none_or(|module| module == "istio")
}

/// Whether it is neither from here nor from the operator for the `Istio` resource.
pub(super) fn is_foreign(live: &Value) -> bool {
    !is_ours(live) && module(live).is_none_or(|module| module != "istio")
}

fn module(live: &Value) -> Option<&str> {
    live["metadata"]["labels"].get(MODULE)?.as_str()
}

/// Whether an object goes in this pass, or has gone.
pub(super) fn is_deleted(before: &[Outcome], id: &ObjectId) -> bool {
    let steps = before.iter().flat_map(|outcome| &outcome.steps);
    steps.into_iter().any(|step| step.action == Action::Delete && step.id == *id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mark_counts_until_another_module_has_the_object() {
        let of = |labels: Value| {
            let live = json!({ "metadata": { "labels": labels } });
            (is_ours(&live), is_foreign(&live))
        };
        assert_eq!(of(json!({ MARK.0: MARK.1 })), (true, false));
        assert_eq!(of(json!({ MARK.0: MARK.1, MODULE: "istio" })), (true, false));
        assert_eq!(of(json!({ MARK.0: MARK.1, MODULE: "api-gateway" })), (false, true));
        assert_eq!(of(json!({ MODULE: "api-gateway" })), (false, true));
        assert_eq!(of(json!({ MODULE: "istio" })), (false, false), "the operator's");
        assert_eq!(of(json!({ "a": "b" })), (false, true));
        assert_eq!((is_ours(&json!({})), is_foreign(&json!({}))), (false, true));
    }
}
