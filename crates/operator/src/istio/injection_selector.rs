//! Gardener labels `kube-system` and wants no webhook over it that could fail: the injector leaves namespaces of that purpose alone. It
//! is said in what is rendered, so that it can neither be lost nor race with anybody.

use serde_json::{Value, json};

const PURPOSE: &str = "gardener.cloud/purpose";

pub(super) fn leave_gardeners(object: &mut Value) {
    let is_injector = object["kind"] == "MutatingWebhookConfiguration"
        && object["metadata"]["labels"]["app"] == "sidecar-injector";
    if !is_injector {
        return;
    }
    for webhook in object["webhooks"].as_array_mut().into_iter().flatten() {
        let selector = &mut webhook["namespaceSelector"];
        // One that is switched off selects nothing anyway.
        if selector["matchLabels"].get("istio.io/deactivated").is_some() {
            continue;
        }
        let wanted = json!({ "key": PURPOSE, "operator": "NotIn", "values": ["kube-system"] });
        match &mut selector["matchExpressions"] {
            Value::Array(known) if known.contains(&wanted) => {}
            Value::Array(known) => known.push(wanted),
            none => *none = json!([wanted]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_injectors_that_are_on_get_the_selector_and_once() {
        let configuration = |app: &str| {
            json!({ "kind": "MutatingWebhookConfiguration", "metadata": { "labels": { "app": app } }, "webhooks": [
                { "namespaceSelector": { "matchExpressions": [{ "key": "istio-injection", "operator": "Exists" }] } },
                { "namespaceSelector": { "matchLabels": { "istio.io/deactivated": "never-match" } } },
                {},
            ] })
        };
        let mut ours = configuration("sidecar-injector");
        leave_gardeners(&mut ours);
        let wanted = json!({ "key": PURPOSE, "operator": "NotIn", "values": ["kube-system"] });
        assert_eq!(ours["webhooks"][0]["namespaceSelector"]["matchExpressions"][1], wanted);
        assert_eq!(ours["webhooks"][1], configuration("")["webhooks"][1]);
        assert_eq!(ours["webhooks"][2]["namespaceSelector"]["matchExpressions"], json!([wanted]));
        let once = ours.clone();
        leave_gardeners(&mut ours);
        assert_eq!(ours, once);
        let mut other = configuration("somebody");
        leave_gardeners(&mut other);
        assert_eq!(other, configuration("somebody"));
    }
}
