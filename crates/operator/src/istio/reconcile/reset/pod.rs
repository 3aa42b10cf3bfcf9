//! A pod, trimmed to what is asked of it.

use serde_json::Value;

/// A pod that could not be made anew carries it, and is left alone until somebody takes it away.
pub(super) const WARNING: &str = "istio.reconciler.kyma-project.io/proxy-reset-warning";
const STATUS: &str = "sidecar.istio.io/status";
const INJECT: &str = "sidecar.istio.io/inject";

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Pod {
    pub(super) namespace: String,
    pub(super) name: String,
    pub(super) owner: Option<Owner>,
    pub(super) has_annotations: bool,
    pub(super) host_network: bool,
    pub(super) inject_label: Option<String>,
    pub(super) inject_annotation: Option<String>,
    /// Images of the containers that injection has added; none where it was not injected.
    pub(super) sidecars: Option<Vec<String>>,
    pub(super) has_init: bool,
    pub(super) has_validation: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Owner {
    pub(super) kind: String,
    pub(super) name: String,
}

impl Pod {
    /// Nothing for one that goes, is not well, or was given up.
    pub(super) fn of(pod: &Value) -> Option<Self> {
        let (metadata, spec) = (&pod["metadata"], &pod["spec"]);
        let mut conditions = pod["status"]["conditions"].as_array().into_iter().flatten();
        let ready = conditions.any(|one| one["type"] == "Ready" && one["status"] == "True");
        let annotation = |name: &str| metadata["annotations"].get(name).and_then(Value::as_str);
        if pod["status"]["phase"] != "Running"
            || !ready
            || metadata.get("deletionTimestamp").is_some()
            || annotation(WARNING).is_some()
        {
            return None;
        }
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let list = |key: &str| spec[key].as_array().into_iter().flatten();
        let init = |name: &str| list("initContainers").any(|container| container["name"] == name);
        let added = annotation(STATUS).map(|status| {
            let status: Value = serde_json::from_str(status).unwrap_or_default();
            let names = status["containers"].as_array().cloned().unwrap_or_default();
            // A native sidecar is among the first containers, and a status may be of somebody who names none.
            let is_added =
                |container: &&Value| container["name"] == "istio-proxy" || names.contains(&container["name"]);
            let all = list("containers").chain(list("initContainers"));
            all.filter(is_added).map(|container| text(&container["image"])).collect()
        });
        let owner = metadata["ownerReferences"]
            .get(0)
            .map(|owner| Owner { kind: text(&owner["kind"]), name: text(&owner["name"]) });
        Some(Self {
            namespace: text(&metadata["namespace"]),
            name: text(&metadata["name"]),
            owner,
            has_annotations: metadata["annotations"].is_object(),
            host_network: spec["hostNetwork"] == true,
            inject_label: metadata["labels"].get(INJECT).map(text),
            inject_annotation: annotation(INJECT).map(str::to_owned),
            sidecars: added,
            has_init: init("istio-init"),
            has_validation: init("istio-validation"),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn only_pods_that_are_well_and_were_not_given_up_are_looked_at() {
        let good = json!({
            "metadata": { "name": "p", "namespace": "n", "annotations": { STATUS: r#"{"containers":["istio-proxy","log"]}"# } },
            "spec": { "containers": [
                { "name": "app", "image": "a" }, { "name": "istio-proxy", "image": "p:1" }, { "name": "log", "image": "l:1" },
            ] },
            "status": { "phase": "Running", "conditions": [{ "type": "Ready", "status": "True" }, { "type": "X", "status": "False" }] },
        });
        let pod = Pod::of(&good).unwrap();
        assert_eq!(pod.sidecars, Some(vec!["p:1".to_owned(), "l:1".to_owned()]));
        let bad: [&dyn Fn(&mut Value); 4] = [
            &|pod| pod["status"]["phase"] = "Succeeded".into(),
            &|pod| pod["status"]["conditions"][0]["status"] = "False".into(),
            &|pod| pod["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z".into(),
            &|pod| pod["metadata"]["annotations"][WARNING] = "…".into(),
        ];
        for change in bad {
            let mut pod = good.clone();
            change(&mut pod);
            assert_eq!(Pod::of(&pod), None);
        }
        let mut plain = good.clone();
        plain["metadata"]["annotations"] = json!({});
        assert_eq!(Pod::of(&plain).unwrap().sidecars, None);
        let mut native = good;
        native["metadata"]["annotations"] = json!({ STATUS: "{}" });
        native["spec"]["initContainers"] = json!([{ "name": "istio-proxy", "image": "p:2" }]);
        native["spec"]["containers"] = json!([{ "name": "app", "image": "a" }]);
        assert_eq!(Pod::of(&native).unwrap().sidecars, Some(vec!["p:2".to_owned()]));
    }
}
