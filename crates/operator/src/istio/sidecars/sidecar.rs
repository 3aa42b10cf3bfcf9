//! A pod with a sidecar, trimmed to what is asked of it.

use crate::istio::{MODULE, NAMESPACE};
use serde_json::Value;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Sidecar {
    pub(super) namespace: String,
    pub(super) name: String,
    /// Of a module of Kyma's: those come first.
    pub(super) of_kyma: bool,
    pub(super) owner: Option<Owner>,
    pub(super) image: String,
    pub(super) resources: Amounts,
    /// Somebody has said which image this pod's proxy has.
    pub(super) own_image: bool,
    /// Or which resources.
    pub(super) own_resources: Option<Amounts>,
    pub(super) scraped_path: Option<String>,
    pub(super) scraped_port: Option<String>,
    /// Somebody has said that nobody reads its metrics: nothing is merged then.
    pub(super) unscraped: bool,
    /// Or whether this pod's are merged.
    pub(super) own_merge: Option<bool>,
    pub(super) has_init: bool,
    pub(super) has_validation: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Owner {
    pub(super) kind: String,
    pub(super) name: String,
}

/// As they are written, empty where nothing is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Amounts {
    pub(super) request: [String; 2],
    pub(super) limit: [String; 2],
}

const PROXY: &str = "istio-proxy";
const KINDS: [&str; 2] = ["cpu", "memory"];

impl Sidecar {
    /// Nothing for pods that were not injected, are going, or are not well: whoever is in trouble is not restarted on top of it.
    pub(super) fn of(pod: &Value) -> Option<Self> {
        let is_well = pod["status"]["phase"] == "Running" && is_ready(pod);
        Self::any(pod).filter(|_| is_well)
    }

    /// Whatever it does.
    pub(super) fn any(pod: &Value) -> Option<Self> {
        let metadata = &pod["metadata"];
        let annotation = |name: &str| metadata["annotations"].get(name).and_then(Value::as_str);
        annotation("sidecar.istio.io/status")?;
        if metadata.get("deletionTimestamp").is_some() {
            return None;
        }
        let list = |key: &str| pod["spec"][key].as_array().into_iter().flatten();
        let proxy =
            list("containers").chain(list("initContainers")).find(|container| container["name"] == PROXY)?;
        let init = |name: &str| list("initContainers").any(|container| container["name"] == name);
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let amounts = |key: &str| KINDS.map(|kind| text(&proxy["resources"][key][kind]));
        let own = |names: [&str; 2]| names.map(|name| annotation(name).unwrap_or_default().to_owned());
        let own = Amounts {
            request: own(["sidecar.istio.io/proxyCPU", "sidecar.istio.io/proxyMemory"]),
            limit: own(["sidecar.istio.io/proxyCPULimit", "sidecar.istio.io/proxyMemoryLimit"]),
        };
        let said = own.request.iter().chain(&own.limit).any(|amount| !amount.is_empty());
        let owner = metadata["ownerReferences"]
            .get(0)
            .map(|owner| Owner { kind: text(&owner["kind"]), name: text(&owner["name"]) });
        let module = metadata["labels"].get(MODULE).and_then(Value::as_str).unwrap_or_default();
        Some(Self {
            namespace: text(&metadata["namespace"]),
            name: text(&metadata["name"]),
            of_kyma: metadata["namespace"] == NAMESPACE || !module.is_empty(),
            owner,
            image: text(&proxy["image"]),
            resources: Amounts { request: amounts("requests"), limit: amounts("limits") },
            own_image: annotation("sidecar.istio.io/proxyImage").is_some(),
            own_resources: said.then_some(own),
            scraped_path: annotation("prometheus.io/path").map(str::to_owned),
            scraped_port: annotation("prometheus.io/port").map(str::to_owned),
            unscraped: annotation("prometheus.io/scrape").and_then(truth) == Some(false),
            own_merge: annotation("prometheus.istio.io/merge-metrics").and_then(truth),
            has_init: init("istio-init"),
            has_validation: init("istio-validation"),
        })
    }
}

/// As Go reads it.
fn truth(text: &str) -> Option<bool> {
    match text {
        "1" | "t" | "T" | "true" | "TRUE" | "True" => Some(true),
        "0" | "f" | "F" | "false" | "FALSE" | "False" => Some(false),
        _ => None,
    }
}

fn is_ready(pod: &Value) -> bool {
    let conditions = pod["status"]["conditions"].as_array().into_iter().flatten();
    conditions.into_iter().any(|condition| condition["type"] == "Ready" && condition["status"] == "True")
}
