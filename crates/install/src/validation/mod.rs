//! Is an IstioOperator acceptable? In: the whole merged document. Out: every error and warning at once, each with its path
//! from the top of the document.
//!
//! What istioctl refuses is refused, and nothing else; but istioctl stops at the first field that it cannot decode, and
//! passes by in silence what it does not know in the mesh's configuration. Whether errors stop an installation is the
//! caller's business (`--force`).

mod cni;
mod decode;
mod image;
mod kubernetes;
mod mesh;
mod names;
mod ports;
mod proxy;
mod replicas;
mod scalar;

use mizzen_text::{At, Path};
use serde_json::Value;

use crate::shapes::Shapes;
pub use cni::cni_conflicts;
use decode::{Decode, Dialect};

/// One thing that is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The field, from the top of the document: `spec.values.global.hub`.
    pub path: Path,
    pub message: String,
    /// What to do about it, where that is known.
    pub hint: Option<String>,
}

/// Everything that was found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Findings {
    pub errors: Vec<Finding>,
    pub warnings: Vec<Finding>,
}

/// Nobody reads more, and nobody shall fill our memory with them.
const MOST: usize = 1_000;

impl Findings {
    fn error(&mut self, at: &At<'_>, message: impl Into<String>) {
        self.push_error(Finding { path: at.path(), message: message.into(), hint: None });
    }

    fn error_with_hint(&mut self, at: &At<'_>, message: impl Into<String>, hint: impl Into<String>) {
        self.push_error(Finding { path: at.path(), message: message.into(), hint: Some(hint.into()) });
    }

    fn warning(&mut self, at: &At<'_>, message: impl Into<String>, hint: Option<String>) {
        if self.warnings.len() < MOST {
            self.warnings.push(Finding { path: at.path(), message: message.into(), hint });
        }
    }

    fn push_error(&mut self, finding: Finding) {
        if self.errors.len() < MOST {
            self.errors.push(finding);
        }
    }

    /// Nothing in it that refuses the document.
    pub fn accepted(&self) -> bool {
        self.errors.is_empty()
    }
}

/// Checks a whole IstioOperator, with profile, files and flags merged.
pub fn check(operator: &Value) -> Findings {
    let mut found = Findings::default();
    let shapes = Shapes::kubernetes();
    if let Some(shape) = shapes.named("IstioOperator") {
        Decode::new(shapes, Dialect::Go, &mut found).map(operator, shape, &At::TOP);
    }
    let at = At::TOP.field("spec");
    let nothing = Value::Null;
    let part = |name: &str| operator.get("spec").and_then(|spec| spec.get(name)).unwrap_or(&nothing);
    let (values, components) = (part("values"), part("components"));
    self::values(values, &at.field("values"), &mut found);
    ports::check(values, components, &at, &mut found);
    replicas::check(values, components, &at, &mut found);
    mesh::check(part("meshConfig"), values, &at, &mut found);
    image::hub(part("hub"), &at.field("hub"), &mut found);
    image::tag(part("tag"), &at.field("tag"), &mut found);
    names::revision(part("revision"), &at.field("revision"), &mut found);
    names::gateways(components, &at.field("components"), &mut found);
    found
}

fn values(values: &Value, at: &At<'_>, found: &mut Findings) {
    let shapes = Shapes::values();
    if let (Some(shape), false) = (shapes.named("Values"), values.is_null()) {
        Decode::new(shapes, Dialect::Proto, found).map(values, shape, at);
    }
    proxy::check(values, at, found);
    kubernetes::check(values, at, found);
}

/// The value at the end of some fields.
fn get<'a>(value: &'a Value, fields: &[&str]) -> Option<&'a Value> {
    fields.iter().try_fold(value, |value, field| value.get(field)).filter(|value| !value.is_null())
}
