//! A number of replicas has no lasting effect beside an autoscaler.

use mizzen_text::At;
use serde_json::Value;

use super::{Findings, get};

pub(super) fn check(values: &Value, components: &Value, spec: &At<'_>, found: &mut Findings) {
    let at = spec.field("components");
    let scaled = |fields: &[&str]| get(values, fields) == Some(&Value::Bool(true));
    let replicas = |component: &Value| {
        get(component, &["k8s", "replicaCount"]).and_then(Value::as_f64).unwrap_or_default()
    };
    let mut warn = |at: &At<'_>, values: String| {
        let k8s = at.field("k8s");
        let message =
            format!("replicaCount should not be set while values.{values}.autoscaleEnabled is true");
        found.warning(&k8s.field("replicaCount"), message, None);
    };
    // One is what a chart says by itself.
    if scaled(&["pilot", "autoscaleEnabled"]) && components.get("pilot").map_or(0.0, replicas) > 1.0 {
        warn(&at.field("pilot"), "pilot".to_owned());
    }
    for (list, name) in
        [("ingressGateways", "istio-ingressgateway"), ("egressGateways", "istio-egressgateway")]
    {
        if !scaled(&["gateways", name, "autoscaleEnabled"]) {
            continue;
        }
        let at = at.field(list);
        let gateways = components.get(list).and_then(Value::as_array).into_iter().flatten().enumerate();
        for (index, _) in gateways.filter(|(_, gateway)| replicas(gateway) != 0.0) {
            warn(&at.index(index), format!("gateways.{name}"));
        }
    }
}
