//! A pod with a sidecar, trimmed to what is asked of it.

use super::pod::{Pod, is_well};
use serde_json::Value;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Sidecar {
    pub(super) pod: Pod,
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

/// As they are written, empty where nothing is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Amounts {
    pub(super) request: [String; 2],
    pub(super) limit: [String; 2],
}

/// The injector says here what it did.
const STATUS: &str = "sidecar.istio.io/status";
const PROXY: &str = "istio-proxy";
const KINDS: [&str; 2] = ["cpu", "memory"];

impl Sidecar {
    /// Nothing for pods that were not injected, are going, or are not well.
    pub(super) fn of(pod: &Value) -> Option<Self> {
        Self::any(pod).filter(|_| is_well(pod))
    }

    /// Whatever it does.
    pub(super) fn any(pod: &Value) -> Option<Self> {
        let annotation = |name: &str| pod["metadata"]["annotations"].get(name).and_then(Value::as_str);
        annotation(STATUS)?;
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
        Some(Self {
            pod: Pod::of(pod)?,
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

/// A pod that is well, and has no sidecar: neither one that was injected nor one that somebody wrote down.
pub(super) fn is_bare(pod: &Value) -> bool {
    let list = |key: &str| pod["spec"][key].as_array().into_iter().flatten();
    let mut containers = list("containers").chain(list("initContainers"));
    is_well(pod)
        && pod["metadata"]["annotations"].get(STATUS).is_none()
        && containers.all(|container| container["name"] != PROXY)
}

/// As Go reads it.
fn truth(text: &str) -> Option<bool> {
    match text {
        "1" | "t" | "T" | "true" | "TRUE" | "True" => Some(true),
        "0" | "f" | "F" | "false" | "FALSE" | "False" => Some(false),
        _ => None,
    }
}
