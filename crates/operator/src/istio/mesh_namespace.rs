//! The namespace of the mesh: marked as ours, and to be checked by Kyma's Warden.

use super::{DISCLAIMED, DISCLAIMER, MESH};
use serde_json::{Value, json};

pub(super) const CHECKED: &str = "namespaces.warden.kyma-project.io/validate";

pub(super) fn desired() -> Value {
    json!({
        "apiVersion": "v1", "kind": "Namespace",
        "metadata": {
            "name": MESH,
            "labels": { CHECKED: "enabled" },
            "annotations": { DISCLAIMER: DISCLAIMED },
        },
    })
}
