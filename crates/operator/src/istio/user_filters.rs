//! EnvoyFilters of people that reach into the ingress gateway: allowed, and told.

use super::{MESH, MODULE};
use mizzen_cluster::{Cluster, Refused};
use serde_json::Value;

/// The first one, `namespace/name`.
pub(super) async fn found(cluster: &Cluster) -> Result<Option<String>, Refused> {
    let filters = cluster.list_in("networking.istio.io", "EnvoyFilter", MESH, "").await?;
    Ok(filters
        .iter()
        .find(|filter| reaches_gateway(filter))
        .map(|filter| format!("{MESH}/{}", filter["metadata"]["name"].as_str().unwrap_or_default())))
}

pub(super) fn sentence(name: &str) -> String {
    format!(
        "misconfigured EnvoyFilter can potentially break Istio Ingress Gateway: user-created EnvoyFilter {name} targeting Ingress Gateway found"
    )
}

fn reaches_gateway(filter: &Value) -> bool {
    let owners = filter.pointer("/metadata/ownerReferences").and_then(Value::as_array).into_iter().flatten();
    let of_rate_limit = owners.into_iter().any(|owner| owner["kind"] == "RateLimit");
    let of_module = filter["metadata"]["labels"].get(MODULE).is_some();
    let labels = &filter["spec"]["workloadSelector"]["labels"];
    let selects = labels["istio"] == "ingressgateway" || labels["app"] == "istio-ingressgateway";
    selects && !of_rate_limit && !of_module
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn only_those_of_people_that_select_the_gateway_count() {
        let filter = |labels: Value| json!({ "metadata": { "name": "f" }, "spec": { "workloadSelector": { "labels": labels } } });
        assert!(reaches_gateway(&filter(json!({ "istio": "ingressgateway" }))));
        assert!(reaches_gateway(&filter(json!({ "app": "istio-ingressgateway", "other": "x" }))));
        assert!(!reaches_gateway(&filter(json!({ "istio": "egressgateway" }))));
        assert!(!reaches_gateway(&json!({ "metadata": { "name": "f" }, "spec": {} })));
        let mut limited = filter(json!({ "istio": "ingressgateway" }));
        limited["metadata"]["ownerReferences"] = json!([{ "kind": "RateLimit" }]);
        assert!(!reaches_gateway(&limited));
        let mut ours = filter(json!({ "istio": "ingressgateway" }));
        ours["metadata"]["labels"] = json!({ MODULE: "api-gateway" });
        assert!(!reaches_gateway(&ours));
    }
}
