//! Workloads whose pods say themselves which sidecar they have.

use serde_json::{Value, json};
use std::time::{SystemTime, UNIX_EPOCH};

/// Pods of a workload, with a sidecar of this image.
pub(crate) fn template(name: &str, image: &str, further: &Value) -> Value {
    let mut labels = json!({ "app": name });
    labels.as_object_mut().unwrap().extend(further.as_object().unwrap().clone());
    let resources =
        json!({ "requests": { "cpu": "10m", "memory": "192Mi" }, "limits": { "cpu": "1", "memory": "1Gi" } });
    json!({
        "metadata": { "labels": labels, "annotations": { "sidecar.istio.io/status": "{}" } },
        "spec": {
            "initContainers": [{ "name": "istio-init", "image": image }],
            "containers": [{ "name": "app", "image": "app" }, { "name": "istio-proxy", "image": image, "resources": resources }],
        },
    })
}

/// One of those pods, which nobody owns.
pub(crate) fn pod(name: &str, image: &str) -> Value {
    let mut pod = template(name, image, &json!({}));
    pod["apiVersion"] = "v1".into();
    pod["kind"] = "Pod".into();
    pod["metadata"]["name"] = name.into();
    pod["metadata"]["namespace"] = "shop".into();
    pod
}

pub(crate) fn workload(kind: &str, name: &str, image: &str, further: &Value) -> Value {
    let mut spec =
        json!({ "selector": { "matchLabels": { "app": name } }, "template": template(name, image, further) });
    if kind != "DaemonSet" {
        spec["replicas"] = 2.into();
    }
    if kind == "StatefulSet" {
        spec["serviceName"] = name.into();
    }
    json!({ "apiVersion": "apps/v1", "kind": kind, "metadata": { "name": name, "namespace": "shop" }, "spec": spec })
}

pub(crate) fn list(items: &[Value]) -> String {
    json!({ "apiVersion": "v1", "kind": "List", "items": items }).to_string()
}

/// For a window that is not now: the day after tomorrow.
pub(crate) fn another_day() -> &'static str {
    let days = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs() / 86_400;
    // The first of all days was a Thursday.
    ["Sat", "Sun", "Mon", "Tue", "Wed", "Thu", "Fri"][usize::try_from(days % 7).unwrap()]
}
