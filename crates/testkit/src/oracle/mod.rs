//! Istio's own opinion: our small program around its webhook, its JSON code and its renderer, and what its tests say.
//!
//! In: objects, any number at a time. Out: for each what istiod's validating webhook would answer, or the spec as Istio
//! itself would write it; questions of rendering are in [`render`]. It is the measure for `api`, `check`, `template` and
//! `install`: no server, no cluster. What was recorded of Istio's own tests, and its benchmark configurations, are in
//! [`data`].

pub mod data;
pub mod render;
mod talk;

use std::{process::Command, sync::OnceLock};

use serde::{Deserialize, de::DeserializeOwned};
use serde_json::Value;
use talk::Talk;

use crate::{
    error::{During, Error, Result},
    tools,
};

/// What the webhook says to one object.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(default, deny_unknown_fields)]
pub struct Verdict {
    /// Whether the webhook knows the kind; if not, nothing else is said.
    pub known: bool,
    pub accepted: bool,
    /// The errors one by one, without what the webhook puts around them.
    pub errors: Vec<String>,
    pub warnings: Vec<String>,
    /// Why the object could not be decoded; then it was not validated.
    pub decode: Option<String>,
    /// The webhook's whole answer, as a user of kubectl sees it.
    pub message: Option<String>,
    /// What an API server with Istio's CRDs says before the webhook is asked; none for a kind or version without one.
    pub crd: Option<CrdVerdict>,
    /// Istio's code broke down over this object.
    pub panic: Option<String>,
}

/// What the schema and the CEL rules of the CRD say.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(default, deny_unknown_fields)]
pub struct CrdVerdict {
    pub accepted: bool,
    /// Each begins with the path to the field.
    pub errors: Vec<String>,
    /// Paths to fields that the schema does not have: dropped, or refused under strict field validation.
    pub unknown: Vec<String>,
}

/// A spec that Istio has read and written again.
#[derive(Clone, Debug, Default, Deserialize, PartialEq)]
#[serde(default, deny_unknown_fields)]
pub struct Encoded {
    pub known: bool,
    pub spec: Option<Value>,
    /// Of the mesh's own configuration: with Istio's defaults below it.
    pub applied: Option<Value>,
    /// Why it cannot be read.
    pub error: Option<String>,
    /// Why it cannot be read strictly: mostly unknown fields.
    pub strict: Option<String>,
    /// Why there is nothing in `applied`: it could be read, but is not valid.
    pub refused: Option<String>,
    pub panic: Option<String>,
}

/// The configuration that Istio has when nobody says anything.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Defaults {
    pub mesh_config: Value,
    pub proxy_config: Value,
    pub mesh_networks: Value,
}

/// Starts its programs when they are first asked; then they stay, and every question is a few microseconds.
pub struct Oracle {
    verdicts: Talk,
    encode: Talk,
    templates: Talk,
    injection: Talk,
    patch: Talk,
    set: Talk,
    merge: Talk,
    overlay: Talk,
    operator: Talk,
}

impl Oracle {
    pub const NEEDS: &[&str] = &["istio-oracle", "modules/istio"];

    /// The oracle of this process.
    pub fn shared() -> &'static Self {
        static SHARED: OnceLock<Oracle> = OnceLock::new();
        SHARED.get_or_init(|| Self {
            verdicts: Talk::new("verdicts"),
            encode: Talk::new("encode"),
            templates: Talk::new("templates"),
            injection: Talk::new("injection"),
            patch: Talk::new("patch"),
            set: Talk::new("set"),
            merge: Talk::new("merge"),
            overlay: Talk::new("overlay"),
            operator: Talk::new("operator"),
        })
    }

    /// One verdict for each object, in order. The mesh's own configuration has no `apiVersion`:
    /// `{"kind": "MeshConfig", "spec": …}`, and likewise `ProxyConfig` and `MeshNetworks`.
    pub fn verdicts(&self, objects: &[Value]) -> Result<Vec<Verdict>> {
        self.verdicts_of_lines(&lines(objects))
    }

    /// The same for text that need not be JSON, a line each.
    pub fn verdicts_of_lines(&self, lines: &[String]) -> Result<Vec<Verdict>> {
        let crds = tools::folder("modules/istio")?.join("manifests/charts/base/files/crd-all.gen.yaml");
        read_all(&self.verdicts.ask(lines, &[crds])?)
    }

    /// Each object's spec as Istio's own code writes it, in order.
    pub fn encode(&self, objects: &[Value]) -> Result<Vec<Encoded>> {
        read_all(&self.encode.ask(&lines(objects), &[])?)
    }

    pub fn defaults(&self) -> Result<Defaults> {
        print("defaults")
    }
}

/// What the program says without being asked anything.
fn print<T: DeserializeOwned>(verb: &str) -> Result<T> {
    let output = Command::new(tools::command("istio-oracle")?).arg(verb).output();
    let output = output.during("ask the oracle what it knows by itself")?;
    serde_json::from_slice(&output.stdout).map_err(Error::other)
}

fn lines(objects: &[Value]) -> Vec<String> {
    objects.iter().map(Value::to_string).collect()
}

fn read_all<T: DeserializeOwned>(lines: &[String]) -> Result<Vec<T>> {
    let read = |line: &String| {
        serde_json::from_str(line)
            .map_err(|error| Error::other(format_args!("the oracle said {line}: {error}")))
    };
    lines.iter().map(read).collect()
}
