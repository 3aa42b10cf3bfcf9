//! What the injection webhook of a revision tells about it.

use serde_json::{Map, Value};

use super::{DEFAULT, NoTag, REVISION};

/// The name of an injection webhook ends so.
const INJECTION: &str = "sidecar-injector.istio.io";
/// kubectl's record of another object than the one that is made.
const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

pub(super) struct Canonical<'v> {
    /// Empty for the default one, as charts have it.
    pub(super) revision: &'v str,
    /// Where it is served, if not by a Service.
    pub(super) url: Option<&'v str>,
    /// The Service's name and path.
    pub(super) service: Option<(&'v Value, Option<&'v Value>)>,
    pub(super) authority: Option<&'v Value>,
    pub(super) reinvocation: Option<&'v str>,
    /// What all objects of the control plane have in common.
    pub(super) labels: Map<String, Value>,
    pub(super) annotations: Map<String, Value>,
}

impl<'v> Canonical<'v> {
    pub(super) fn read(webhook: &'v Value) -> Result<Self, NoTag> {
        let map = |field: &str| webhook["metadata"][field].as_object().cloned().unwrap_or_default();
        let name = || webhook["metadata"]["name"].as_str().unwrap_or_default().to_owned();
        let revision = webhook["metadata"]["labels"][REVISION].as_str();
        let revision = revision.ok_or_else(|| NoTag::NoRevision(name()))?;
        let mut all = webhook["webhooks"].as_array().into_iter().flatten();
        let injection = all
            .find(|entry| entry["name"].as_str().is_some_and(|name| name.ends_with(INJECTION)))
            .ok_or_else(|| NoTag::NoInjection(name()))?;
        let client = &injection["clientConfig"];
        let service = client["service"].as_object();
        let mut labels = map("labels");
        // It tells the webhooks apart.
        labels.remove("app");
        let mut annotations = map("annotations");
        annotations.remove(LAST_APPLIED);
        Ok(Self {
            revision: if revision == DEFAULT { "" } else { revision },
            url: client["url"].as_str(),
            service: service.and_then(|service| Some((service.get("name")?, service.get("path")))),
            authority: client.get("caBundle"),
            reinvocation: injection["reinvocationPolicy"].as_str(),
            labels,
            annotations,
        })
    }
}
