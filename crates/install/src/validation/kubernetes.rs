//! The places in the values that hold a type of Kubernetes.

use mizzen_text::At;
use serde_json::Value;

use super::{Decode, Dialect, Findings};
use crate::shapes::Shapes;

/// What is at a place: one, or a list of them.
const PLACES: &[(&[&str], &str)] = &[
    (&["cni", "affinity"], "core.v1.Affinity"),
    (&["cni", "seccompProfile"], "core.v1.SeccompProfile"),
    (&["gateways", "istio-egressgateway", "podAntiAffinityLabelSelector"], "meta.v1.LabelSelector"),
    (&["gateways", "istio-egressgateway", "podAntiAffinityTermLabelSelector"], "meta.v1.LabelSelector"),
    (&["gateways", "istio-egressgateway", "tolerations"], "core.v1.Toleration"),
    (&["gateways", "istio-ingressgateway", "podAntiAffinityLabelSelector"], "meta.v1.LabelSelector"),
    (&["gateways", "istio-ingressgateway", "podAntiAffinityTermLabelSelector"], "meta.v1.LabelSelector"),
    (&["gateways", "istio-ingressgateway", "tolerations"], "core.v1.Toleration"),
    (&["global", "defaultTolerations"], "core.v1.Toleration"),
    (&["global", "proxy", "lifecycle"], "core.v1.Lifecycle"),
    (&["global", "proxy", "seccompProfile"], "core.v1.SeccompProfile"),
    (&["global", "waypoint", "affinity"], "core.v1.Affinity"),
    // Charts would take any map of labels, but istioctl wants Kubernetes' larger type of that name.
    (&["global", "waypoint", "nodeSelector"], "core.v1.NodeSelector"),
    (&["global", "waypoint", "toleration"], "core.v1.Toleration"),
    (&["global", "waypoint", "topologySpreadConstraints"], "core.v1.TopologySpreadConstraint"),
    (&["pilot", "affinity"], "core.v1.Affinity"),
    (&["pilot", "seccompProfile"], "core.v1.SeccompProfile"),
    (&["pilot", "tolerations"], "core.v1.Toleration"),
    (&["pilot", "topologySpreadConstraints"], "core.v1.TopologySpreadConstraint"),
    (&["pilot", "volumeMounts"], "core.v1.VolumeMount"),
    (&["pilot", "volumes"], "core.v1.Volume"),
    (&["sidecarInjectorWebhook", "alwaysInjectSelector"], "meta.v1.LabelSelector"),
    (&["sidecarInjectorWebhook", "neverInjectSelector"], "meta.v1.LabelSelector"),
];

pub(super) fn check(values: &Value, at: &At<'_>, found: &mut Findings) {
    for (fields, name) in PLACES {
        below(values, fields, name, at, found);
    }
}

fn below(value: &Value, fields: &[&str], name: &str, at: &At<'_>, found: &mut Findings) {
    if let Some((field, rest)) = fields.split_first() {
        if let Some(value) = value.get(field) {
            below(value, rest, name, &at.field(field), found);
        }
        return;
    }
    let Some(shape) = Shapes::kubernetes().named(name) else { return };
    let mut decode = Decode::new(Shapes::kubernetes(), Dialect::Yaml, found);
    match value {
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate().filter(|(_, item)| item.is_object()) {
                decode.map(item, shape, &at.index(index));
            }
        }
        Value::Object(_) => decode.map(value, shape, at),
        // The values' own schema has said what is wrong.
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_place_has_a_type_that_is_known() {
        for (fields, name) in PLACES {
            assert!(Shapes::kubernetes().named(name).is_some(), "{fields:?}: {name}");
        }
    }
}
