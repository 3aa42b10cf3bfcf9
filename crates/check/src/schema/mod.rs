//! What an API server says of an Istio object before any webhook is asked: the CRD's schema, its rules, and metadata.
//!
//! In: a whole object as JSON. Out: everything that the server would refuse, with the field. The schemas are compiled
//! once into `Node`s; the rules, which CRDs have in CEL, are Rust functions that are looked up by the rule's text.
//! Two things differ from the server on purpose: it stops before its rules when a type is wrong anywhere, here only
//! the rules around the wrong place are left out; and it names a bad label by `metadata.labels`, here by its key.

mod compile;
mod format;
mod list;
mod metadata;
pub mod names;
mod node;
mod rules;
mod walk;

use std::{collections::BTreeMap, sync::OnceLock};

use mizzen_api::crd::Crd;
use mizzen_text::{At, Code, Severity, nearest};
use serde_json::Value;

use crate::{Finding, Findings};
use node::Node;
use walk::Walk;

/// What is said of fields that the schema does not have. The server drops them; `kubectl` asks it to refuse them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unknown {
    Ignore,
    Warn,
    Refuse,
}

impl Unknown {
    fn tell<'a>(
        self,
        name: &str,
        known: impl Iterator<Item = &'a str>,
        at: &At<'_>,
        findings: &mut Findings,
    ) {
        let severity = match self {
            Self::Ignore => return,
            Self::Warn => Severity::Warning,
            Self::Refuse => Severity::Error,
        };
        let hint = nearest(name, known).map(|meant| format!("did you mean `{meant}`?"));
        let finding = Finding::error(Code::UnknownField, "is an unknown field");
        findings.push(Finding { severity, path: at.path(), hint, ..finding });
    }
}

/// Everything wrong with an object as it would be created or updated; nothing if it is none of Istio's kinds.
///
/// Its status is not looked at: the server drops it there, see [`check_status`].
pub fn check(object: &Value, unknown: Unknown) -> Option<Findings> {
    let crd = kind_of(object)?;
    let mut findings = Findings::default();
    match schema_of(crd, object) {
        Err(message) => findings.error(&At::TOP.field("apiVersion"), message),
        Ok(node) => {
            metadata::check(object.get("metadata"), unknown, &mut findings);
            Walk::new(&mut findings, unknown).object(node, object, walk::Part::AllButStatus);
        }
    }
    Some(findings)
}

/// Everything wrong with an object's status as it would be written to the `status` subresource.
pub fn check_status(object: &Value) -> Option<Findings> {
    let crd = kind_of(object)?;
    let mut findings = Findings::default();
    match schema_of(crd, object) {
        Err(message) => findings.error(&At::TOP.field("apiVersion"), message),
        Ok(node) => Walk::new(&mut findings, Unknown::Ignore).object(node, object, walk::Part::Status),
    }
    Some(findings)
}

fn kind_of(object: &Value) -> Option<&'static Crd> {
    let (group, _) = object.get("apiVersion")?.as_str()?.split_once('/')?;
    Crd::of(group, object.get("kind")?.as_str()?)
}

/// The compiled schema of the object's version, or what is wrong with that version.
fn schema_of(crd: &'static Crd, object: &Value) -> Result<&'static Node, String> {
    let named = object.get("apiVersion").and_then(Value::as_str).unwrap_or_default();
    let version = named.split_once('/').map_or("", |(_, version)| version);
    let served = crd.versions.iter().any(|known| known.served && known.name == version);
    let node = crd.schema_number(version).filter(|_| served).and_then(|number| compiled(crd).get(number));
    node.ok_or_else(|| {
        let served: Vec<_> = crd.served().map(|version| format!("{}/{version}", crd.group)).collect();
        format!("{} has no version {version:?}; it is served as {}", crd.kind, served.join(", "))
    })
}

/// The schemas of one kind, compiled when the first object of that kind is met.
fn compiled(crd: &'static Crd) -> &'static [Node] {
    static KINDS: OnceLock<BTreeMap<&'static str, OnceLock<Vec<Node>>>> = OnceLock::new();
    let kinds = KINDS.get_or_init(|| Crd::all().map(|crd| (crd.kind.as_str(), OnceLock::new())).collect());
    let cell = kinds.get(crd.kind.as_str());
    cell.map_or(&[], |cell| cell.get_or_init(|| crd.schemas().iter().map(compile::node).collect()))
}

#[cfg(test)]
mod tests;
