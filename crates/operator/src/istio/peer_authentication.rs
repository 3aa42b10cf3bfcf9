//! PeerAuthenticationReconciler: mutual TLS in the whole mesh, whatever somebody has made of it.

use super::{MESH, resources};
use serde_json::{Value, json};

/// `version` is that of the operator.
pub(super) fn desired(version: &str) -> Value {
    json!({
        "apiVersion": "security.istio.io/v1", "kind": "PeerAuthentication",
        "metadata": resources::metadata("default", MESH, version),
        "spec": { "mtls": { "mode": "STRICT" } },
    })
}
