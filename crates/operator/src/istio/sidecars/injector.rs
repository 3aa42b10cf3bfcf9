//! Whether anybody injects: without, a restarted pod would come back with no sidecar at all, and be cut off from the mesh.

use mizzen_cluster::{Cluster, Refused};
use serde_json::Value;

pub(in crate::istio) async fn injects(cluster: &Cluster) -> Result<bool, Refused> {
    let webhooks = cluster
        .list("admissionregistration.k8s.io", "MutatingWebhookConfiguration", "app=sidecar-injector")
        .await?;
    Ok(webhooks.iter().any(is_served))
}

/// The control plane writes its certificate into a webhook when it serves it.
fn is_served(configuration: &Value) -> bool {
    let webhooks = configuration["webhooks"].as_array().into_iter().flatten();
    webhooks.into_iter().any(|webhook| {
        let bundle = webhook.pointer("/clientConfig/caBundle").and_then(Value::as_str).unwrap_or_default();
        let selects = |key: &str| webhook[key]["matchLabels"].get("istio.io/deactivated").is_none();
        !bundle.is_empty() && selects("namespaceSelector") && selects("objectSelector")
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_webhook_is_served_when_it_has_a_certificate_and_is_not_switched_off() {
        let of = |bundle: &str, labels: Value| {
            is_served(&json!({ "webhooks": [
                { "clientConfig": {} },
                { "clientConfig": { "caBundle": bundle }, "namespaceSelector": { "matchLabels": labels } },
            ] }))
        };
        assert!(of("Q0E=", json!({})));
        assert!(!of("", json!({})));
        assert!(!of("Q0E=", json!({ "istio.io/deactivated": "never-match" })));
        assert!(!is_served(&json!({})));
    }
}
