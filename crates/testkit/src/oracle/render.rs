//! Istio's and Helm's own opinion on rendering: charts, templates, merges, paths, and the IstioOperator itself.
//!
//! In: questions as JSON, any number at a time. Out: an answer for each, in order. Where the original breaks down over
//! a question, the answer says so in `panic` and has nothing else in it.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use super::{Oracle, lines, print, read_all};
use crate::error::Result;

/// What Helm's library makes of a chart.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(default, deny_unknown_fields)]
pub struct Rendered {
    /// `name/templates/a.yaml` and its text; the empty ones, too. Bytes that are no UTF-8 are replaced.
    pub files: BTreeMap<String, String>,
    /// Where the error comes from: `request`, `load`, `dependencies`, `values` or `render`.
    pub step: Option<String>,
    pub error: Option<String>,
    pub panic: Option<String>,
}

/// What the template engine of Istio's injection makes of a template.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(default, deny_unknown_fields)]
pub struct Injected {
    pub output: String,
    pub error: Option<String>,
    pub panic: Option<String>,
}

/// An object or a tree that something was done to.
#[derive(Clone, Debug, Default, Deserialize, PartialEq)]
#[serde(default, deny_unknown_fields)]
pub struct Outcome {
    pub result: Option<Value>,
    pub error: Option<String>,
    pub panic: Option<String>,
}

/// An object after the patches of `k8s.overlays`.
#[derive(Clone, Debug, Default, Deserialize, PartialEq)]
#[serde(default, deny_unknown_fields)]
pub struct Overlaid {
    pub result: Option<Value>,
    /// The text that istioctl prints of it.
    pub yaml: String,
    /// What single patches failed with. Istioctl collects it, and says nothing.
    pub dropped: Vec<String>,
    pub error: Option<String>,
    pub panic: Option<String>,
}

/// What istioctl says of an IstioOperator before it renders it.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(default, deny_unknown_fields)]
pub struct Opinion {
    pub errors: Vec<String>,
    pub warnings: Vec<String>,
    pub panic: Option<String>,
}

/// The Go types of IstioOperator and of Kubernetes' kinds, as far as JSON sees them.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Shapes {
    /// `apps/v1 Deployment` and the name of its struct.
    pub kinds: BTreeMap<String, String>,
    /// A struct's fields by their JSON names; structs within structs are flattened where JSON flattens them.
    pub structs: BTreeMap<String, BTreeMap<String, Field>>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub enum Field {
    Plain(String),
    #[serde(rename_all = "camelCase")]
    Patched {
        /// `string`, `bool`, `bytes`, `any`, `quantity`, `intOrString`, `time`, `microTime`, `duration`, `int32`, `int64`,
        /// `uint32`, `float64`, or a struct's name; before it `[]` for a list and `{}` for a map.
        #[serde(rename = "type")]
        kind: String,
        /// `merge`, `replace`, `retainKeys`, or two of them with a comma.
        #[serde(default)]
        patch_strategy: String,
        #[serde(default)]
        patch_merge_key: String,
    },
}

impl Oracle {
    pub fn shapes(&self) -> Result<Shapes> {
        print("shapes")
    }

    /// `{"chart": {"Chart.yaml": …, "templates/a.yaml": …}, "values": {}, "release": {"name", "namespace",
    /// "isUpgrade", "isInstall", "revision"}}`; all but the chart may be left out. Further:
    /// `"kubeVersion": "1.30"` (1.32.0 as in istioctl without a cluster),
    /// `"dependencies": true` for conditions, tags, aliases and imported values of sub-charts,
    /// `"notStrict": false` where a missing key shall be an error,
    /// `"numbers"`: which Go type the numbers in `values` have, `float` (as in istioctl's files), `int` (whole ones, as by
    /// `--set`) or `json` (a string that looks like a number).
    ///
    /// A text that calls `tpl` on itself without end is more than Helm survives: the whole batch is then an error.
    pub fn templates(&self, charts: &[Value]) -> Result<Vec<Rendered>> {
        read_all(&self.templates.ask(&lines(charts), &[])?)
    }

    /// `{"template": "…", "data": …}`. With `"typed": true` the data are those of a sidecar in istiod, by their Go names
    /// (`ObjectMeta`, `Spec`, `ProxyConfig`, `Values`, …), and have Go's types.
    pub fn injection(&self, templates: &[Value]) -> Result<Vec<Injected>> {
        read_all(&self.injection.ask(&lines(templates), &[])?)
    }

    /// `{"object": {…}, "patch": {…}}`: a strategic merge by the object's `apiVersion` and `kind`.
    pub fn patch(&self, patches: &[Value]) -> Result<Vec<Outcome>> {
        read_all(&self.patch.ask(&lines(patches), &[])?)
    }

    /// `{"tree": {…}, "set": ["a.b=c", …]}`: every path is below `spec`.
    pub fn set(&self, sets: &[Value]) -> Result<Vec<Outcome>> {
        read_all(&self.set.ask(&lines(sets), &[])?)
    }

    /// `{"base": {…}, "overlay": {…}}`
    pub fn merge(&self, merges: &[Value]) -> Result<Vec<Outcome>> {
        read_all(&self.merge.ask(&lines(merges), &[])?)
    }

    /// `{"object": {…}, "patches": [{"path": "…", "value": …}]}`
    pub fn overlay(&self, overlays: &[Value]) -> Result<Vec<Overlaid>> {
        read_all(&self.overlay.ask(&lines(overlays), &[])?)
    }

    /// `{"iop": {…}}`: a whole IstioOperator, checked without a cluster.
    pub fn operator(&self, operators: &[Value]) -> Result<Vec<Opinion>> {
        read_all(&self.operator.ask(&lines(operators), &[])?)
    }
}
