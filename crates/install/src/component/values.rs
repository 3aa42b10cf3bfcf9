//! The values that one entry's chart is rendered with: the common ones, and what the entry itself says.

use serde_json::{Map, Value, json};

use super::{Component, Entry, quantity};
use crate::tree;

impl Component {
    /// `spec.values` as this entry's chart shall see them.
    pub fn values(&self, entry: &Entry, merged: &Value) -> Value {
        let mut values = tree::get(merged, &["spec", "values"]).cloned().unwrap_or_default();
        tree::map_at(&mut values);
        let mut put =
            |below: &[&str], value: Value| tree::put(&mut values, &[self.root, below].concat(), value);
        let k8s = entry.k8s.as_ref();
        if self.is_gateway() {
            put(&["name"], Value::from(entry.name.as_str()));
            put(&["labels"], Value::Object(entry.labels.clone()));
            if let Some(ports) = k8s.and_then(|k8s| k8s.get("service")?.get("ports")?.as_array())
                && !ports.is_empty()
            {
                put(&["ports"], ports.iter().map(port).collect());
            }
        }
        if let (Some(k8s), Some("Deployment")) = (k8s, self.workload.as_ref().map(|workload| workload.kind)) {
            // Charts make a PodDisruptionBudget only for more than one replica, so they have to know.
            let hpa = k8s.get("hpaSpec");
            let replicas = |field| hpa.and_then(|hpa| hpa.get(field)).and_then(Value::as_i64);
            if let Some(minimum) = replicas("minReplicas") {
                put(&["autoscaleMin"], minimum.into());
            }
            if let Some(maximum) = replicas("maxReplicas").filter(|maximum| *maximum > 0) {
                put(&["autoscaleMax"], maximum.into());
            }
            if let Some(count) = k8s.get("replicaCount").and_then(Value::as_i64).filter(|count| *count > 0) {
                put(&["replicaCount"], count.into());
            }
        }
        for kind in ["limits", "requests"] {
            // Ztunnel's chart tells the proxy how many processors it has.
            let cpu = k8s.and_then(|k8s| k8s.get("resources")?.get(kind)?.get("cpu"));
            if let Some(cpu) = cpu.and_then(quantity::canonical) {
                put(&["resources", kind, "cpu"], cpu.into());
            }
        }
        if !entry.hub.is_empty() {
            put(&["hub"], Value::from(entry.hub.trim()));
        }
        if let Some(tag) = &entry.tag {
            put(&["tag"], tag_value(tag));
        }
        if self.flat { self.flatten(values) } else { values }
    }

    /// The component's own values at the top, beside `global` and whatever is no map.
    fn flatten(&self, values: Value) -> Value {
        let Some(Value::Object(own)) = tree::get(&values, self.root) else { return values };
        let mut flat = Map::new();
        flat.insert("global".to_owned(), values.get("global").cloned().unwrap_or_default());
        let all = values.as_object().into_iter().flatten();
        flat.extend(
            all.filter(|(_, value)| !value.is_object()).map(|(key, value)| (key.clone(), value.clone())),
        );
        flat.extend(own.clone());
        Value::Object(flat)
    }
}

/// A tag is text, unless it is a number that templates print as it was written.
fn tag_value(tag: &Value) -> Value {
    match tag {
        Value::String(text) => Value::from(text.trim()),
        Value::Number(number) if number.as_f64().is_some_and(|number| number.abs() < 1e6) => tag.clone(),
        Value::Number(number) => Value::from(number.to_string()),
        other => other.clone(),
    }
}

/// A port as Kubernetes' own type writes it: with a target, which is 0 where none is given.
fn port(port: &Value) -> Value {
    const FIELDS: [&str; 6] = ["name", "protocol", "appProtocol", "port", "targetPort", "nodePort"];
    let mut written = json!({"port": 0, "targetPort": 0});
    for field in FIELDS {
        let value = port.get(field).filter(|value| !value.is_null());
        let omitted = matches!(field, "name" | "protocol") && value.is_some_and(|value| value == "")
            || field == "nodePort" && value.is_some_and(|value| value == 0);
        if let Some(value) = value.filter(|_| !omitted) {
            tree::put(&mut written, &[field], value.clone());
        }
    }
    written
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::*;
    use crate::COMPONENTS;

    fn values(component: &str, entry: &Value, values: &Value) -> Value {
        let component = COMPONENTS.iter().find(|it| it.name == component).unwrap();
        let entry = if component.list { json!([entry]) } else { entry.clone() };
        let merged = json!({"spec": {"components": {component.field: entry}, "values": values}});
        let entries = component.entries(&merged).unwrap();
        component.values(&entries[0], &merged)
    }

    #[test]
    fn a_gateway_gets_its_name_labels_and_ports() {
        let entry = json!({"name": "a", "k8s": {"service": {"ports": [{"port": 80, "name": "http"}]}}});
        assert_eq!(
            values("IngressGateways", &entry, &json!({}))["gateways"]["istio-ingressgateway"],
            json!({"name": "a", "labels": {}, "ports": [{"name": "http", "port": 80, "targetPort": 0}]})
        );
    }

    #[test]
    fn replicas_and_processors_reach_the_chart() {
        let entry = json!({"k8s": {
            "hpaSpec": {"minReplicas": 2, "maxReplicas": 7}, "replicaCount": 3,
            "resources": {"requests": {"cpu": "0.5", "memory": "1Gi"}}
        }});
        assert_eq!(
            values("Pilot", &entry, &json!({"pilot": {"autoscaleMin": 1}}))["pilot"],
            json!({"autoscaleMin": 2, "autoscaleMax": 7, "replicaCount": 3, "resources": {"requests": {"cpu": "500m"}}})
        );
        // A DaemonSet has no replicas.
        assert_eq!(
            values("Cni", &entry, &json!({}))["cni"],
            json!({"resources": {"requests": {"cpu": "500m"}}})
        );
    }

    #[test]
    fn a_tag_keeps_what_was_written() {
        for (tag, value) in [
            (json!(2), json!(2)),
            (json!("1.10"), json!("1.10")),
            (json!(20_240_101), json!("20240101")),
            (json!(" x "), json!("x")),
        ] {
            assert_eq!(values("Pilot", &json!({"tag": tag}), &json!({}))["pilot"]["tag"], value);
        }
    }

    #[test]
    fn ztunnel_has_its_values_at_the_top() {
        let all = json!({"global": {"a": 1}, "revision": "r", "pilot": {"b": 2}, "ztunnel": {"c": 3, "revision": "own"}});
        assert_eq!(
            values("Ztunnel", &json!({"hub": "h"}), &all),
            json!({"global": {"a": 1}, "revision": "own", "c": 3, "hub": "h"})
        );
    }
}
