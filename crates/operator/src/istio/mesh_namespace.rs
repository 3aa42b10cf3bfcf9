//! The namespace of the mesh: marked as ours, and to be checked by Kyma's Warden.

use super::{DISCLAIMED, DISCLAIMER, MESH};
use serde_json::{Value, json};

pub(super) const CHECKED: &str = "namespaces.warden.kyma-project.io/validate";

/// What takes the marks away again: nobody looks after a namespace that stays without a mesh.
pub(super) fn unmarked(live: &Value) -> Value {
    let marks = [("annotations", DISCLAIMER), ("labels", CHECKED)];
    let there = marks.into_iter().filter(|(field, name)| live["metadata"][field].get(name).is_some());
    let remove = |(field, name): (&str, &str)| json!({ "op": "remove", "path": format!("/metadata/{field}/{}", name.replace('/', "~1")) });
    there.map(remove).collect()
}

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
