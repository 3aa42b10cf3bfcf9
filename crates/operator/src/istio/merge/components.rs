//! `spec.components`: field by field over what the size of the cluster gives.

use mizzen_api::istio::{Components, Resources, Settings};
use serde_json::Value;

pub(super) fn lay(operator: &mut Value, wanted: &Components) {
    let components = &mut operator["components"];
    if let Some(pilot) = &wanted.pilot {
        settings(&mut components["pilot"]["k8s"], &pilot.k8s);
    }
    if let Some(ingress) = &wanted.ingress_gateway {
        settings(&mut components["ingressGateways"][0]["k8s"], &ingress.k8s);
    }
    if let Some(egress) = &wanted.egress_gateway {
        let gateway = &mut components["egressGateways"][0];
        settings(&mut gateway["k8s"], &egress.k8s);
        if let Some(enabled) = egress.enabled {
            gateway["enabled"] = enabled.into();
        }
    }
    if let Some(cni) = &wanted.cni {
        let k8s = &mut components["cni"]["k8s"];
        // Each kind of affinity is somebody's as a whole.
        for (kind, affinity) in cni.k8s.affinity.iter().filter_map(Value::as_object).flatten() {
            k8s["affinity"][kind.as_str()] = affinity.clone();
        }
        if let Some(wanted) = &cni.k8s.resources {
            resources(&mut k8s["resources"], wanted);
        }
    }
    if let Some(wanted) = wanted.proxy.as_ref().and_then(|proxy| proxy.k8s.resources.as_ref()) {
        resources(&mut operator["values"]["global"]["proxy"]["resources"], wanted);
    }
}

fn settings(k8s: &mut Value, wanted: &Settings) {
    if let Some(hpa) = &wanted.hpa_spec {
        for (key, replicas) in [("minReplicas", hpa.min_replicas), ("maxReplicas", hpa.max_replicas)] {
            if let Some(replicas) = replicas {
                k8s["hpaSpec"][key] = replicas.into();
            }
        }
    }
    if let Some(strategy) = &wanted.strategy {
        let update = &strategy.rolling_update;
        for (key, value) in [("maxSurge", &update.max_surge), ("maxUnavailable", &update.max_unavailable)] {
            if let Some(value) = value {
                k8s["strategy"]["rollingUpdate"][key] = value.clone();
            }
        }
    }
    if let Some(wanted) = &wanted.resources {
        resources(&mut k8s["resources"], wanted);
    }
}

fn resources(resources: &mut Value, wanted: &Resources) {
    for (kind, wanted) in [("limits", &wanted.limits), ("requests", &wanted.requests)] {
        for (key, quantity) in [("cpu", &wanted.cpu), ("memory", &wanted.memory)] {
            if let Some(quantity) = quantity {
                resources[kind][key] = quantity.as_str().into();
            }
        }
    }
}

/// A vertical autoscaler has the memory then, and two would pull at it.
pub(super) fn without_memory_metrics(operator: &mut Value) {
    let components = &mut operator["components"];
    let ways = ["/pilot", "/ingressGateways/0", "/egressGateways/0"];
    for way in ways {
        let metrics =
            components.pointer_mut(&format!("{way}/k8s/hpaSpec/metrics")).and_then(Value::as_array_mut);
        if let Some(metrics) = metrics {
            metrics.retain(|metric| metric.pointer("/resource/name").is_none_or(|name| name != "memory"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn memory_metrics_go_and_the_others_stay() {
        let metric = |name: &str| json!({ "type": "Resource", "resource": { "name": name } });
        let pods = json!({ "type": "Pods", "pods": {} });
        let mut operator = json!({ "components": { "pilot": { "k8s": { "hpaSpec": {
            "metrics": [metric("memory"), metric("cpu"), pods],
        } } } } });
        without_memory_metrics(&mut operator);
        assert_eq!(
            operator["components"]["pilot"]["k8s"]["hpaSpec"]["metrics"],
            json!([metric("cpu"), pods])
        );
    }
}
