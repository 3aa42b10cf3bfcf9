//! A pod, trimmed to what is asked of any.

use crate::istio::{
    MODULE, NAMESPACE,
    rollout::{RESTARTED_FOR, RESTARTED_WITH},
};
use mizzen_cluster::Timestamp;
use serde_json::Value;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Pod {
    pub(super) namespace: String,
    pub(super) name: String,
    pub(super) uid: String,
    /// Of a module of Kyma's: those come first.
    pub(super) of_kyma: bool,
    pub(super) owner: Option<Owner>,
    pub(super) created: Option<Timestamp>,
    /// What its owner was restarted for when it was made, and who injected then.
    pub(super) restarted_for: String,
    pub(super) restarted_with: String,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::istio) struct Owner {
    /// `apps/v1`
    pub(in crate::istio) version: String,
    pub(in crate::istio) kind: String,
    pub(in crate::istio) name: String,
    /// Of this very one, not of another of its name.
    pub(in crate::istio) uid: String,
}

impl Owner {
    /// The first that an object names.
    pub(super) fn of(object: &Value) -> Option<Self> {
        let owner = object["metadata"]["ownerReferences"].get(0)?;
        let text = |key: &str| owner[key].as_str().unwrap_or_default().to_owned();
        Some(Self { version: text("apiVersion"), kind: text("kind"), name: text("name"), uid: text("uid") })
    }
}

impl Pod {
    /// Nothing for one that is going.
    pub(super) fn of(pod: &Value) -> Option<Self> {
        let metadata = &pod["metadata"];
        if metadata.get("deletionTimestamp").is_some() {
            return None;
        }
        let text = |key: &str| metadata[key].as_str().unwrap_or_default().to_owned();
        let annotation = |name: &str| {
            metadata["annotations"].get(name).and_then(Value::as_str).unwrap_or_default().to_owned()
        };
        let module = metadata["labels"].get(MODULE).and_then(Value::as_str).unwrap_or_default();
        Some(Self {
            namespace: text("namespace"),
            name: text("name"),
            uid: text("uid"),
            of_kyma: metadata["namespace"] == NAMESPACE || !module.is_empty(),
            owner: Owner::of(pod),
            created: metadata["creationTimestamp"].as_str().and_then(|time| time.parse().ok()),
            restarted_for: annotation(RESTARTED_FOR),
            restarted_with: annotation(RESTARTED_WITH),
        })
    }
}

/// Whoever is in trouble is not restarted on top of it.
pub(super) fn is_well(pod: &Value) -> bool {
    let mut conditions = pod["status"]["conditions"].as_array().into_iter().flatten();
    pod["status"]["phase"] == "Running"
        && conditions.any(|condition| condition["type"] == "Ready" && condition["status"] == "True")
}
