//! The one way to say that something is wrong with what a person wrote: what, where, why it matters and what to do.
//! A diagnostic is a value; `people`, `json` and `sarif` are its three printed forms.

mod code;
mod excerpt;
mod json;
mod people;
mod sarif;
mod visible;

pub use code::Code;
pub use sarif::to_sarif;

use crate::{Path, Place, Severity};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    pub code: Code,
    pub severity: Severity,
    pub message: String,
    pub place: Option<Place>,
    /// The field, from the top of the document; empty when the document as a whole is meant.
    pub path: Path,
    pub object: Option<Object>,
    /// What to do about it.
    pub hint: Option<String>,
    /// Other places that belong to it, such as the first of two equal keys.
    pub related: Vec<Related>,
}

/// The object that a diagnostic is about, as far as its text says it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Object {
    pub kind: String,
    pub namespace: Option<String>,
    pub name: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Related {
    pub message: String,
    pub place: Place,
}

impl Diagnostic {
    /// With the severity that the code usually has.
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self {
            code,
            severity: code.severity(),
            message: message.into(),
            place: None,
            path: Path::default(),
            object: None,
            hint: None,
            related: Vec::new(),
        }
    }

    #[must_use]
    pub fn severity(mut self, severity: Severity) -> Self {
        self.severity = severity;
        self
    }

    #[must_use]
    pub fn at(mut self, place: Place) -> Self {
        self.place = Some(place);
        self
    }

    #[must_use]
    pub fn path(mut self, path: Path) -> Self {
        self.path = path;
        self
    }

    #[must_use]
    pub fn object(mut self, object: Object) -> Self {
        self.object = Some(object);
        self
    }

    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    #[must_use]
    pub fn related(mut self, message: impl Into<String>, place: Place) -> Self {
        self.related.push(Related { message: message.into(), place });
        self
    }
}

impl std::fmt::Display for Object {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.namespace {
            _ if self.kind.is_empty() => write!(out, "an object of no kind"),
            _ if self.name.is_empty() => write!(out, "{}", self.kind),
            Some(namespace) => write!(out, "{} {namespace}/{}", self.kind, self.name),
            None => write!(out, "{} {}", self.kind, self.name),
        }
    }
}
