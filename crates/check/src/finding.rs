//! What is wrong with an object, and where.

use mizzen_text::{At, Path, Severity};

/// One thing that is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    pub severity: Severity,
    /// The field, from the top of the object: `spec.hosts[0]`.
    pub path: Path,
    pub message: String,
}

/// Everything that was found in one object, in the order of the walk.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Findings(Vec<Finding>);

impl Findings {
    pub fn error(&mut self, at: &At<'_>, message: impl Into<String>) {
        self.push(Severity::Error, at, message);
    }

    pub fn warning(&mut self, at: &At<'_>, message: impl Into<String>) {
        self.push(Severity::Warning, at, message);
    }

    /// An error where a rule about a single value says so.
    pub(crate) fn verdict(&mut self, at: &At<'_>, verdict: Result<(), String>) {
        if let Err(message) = verdict {
            self.error(at, message);
        }
    }

    fn push(&mut self, severity: Severity, at: &At<'_>, message: impl Into<String>) {
        self.0.push(Finding { severity, path: at.path(), message: message.into() });
    }

    /// Nothing in it that refuses the object.
    pub fn accepted(&self) -> bool {
        self.errors().next().is_none()
    }

    pub fn errors(&self) -> impl Iterator<Item = &Finding> {
        self.0.iter().filter(|finding| finding.severity == Severity::Error)
    }

    pub fn iter(&self) -> impl Iterator<Item = &Finding> {
        self.0.iter()
    }

    pub fn extend(&mut self, more: Self) {
        self.0.extend(more.0);
    }

    /// For a part of an object about which Istio's webhook tells errors only.
    pub(crate) fn extend_errors(&mut self, more: Self) {
        self.0.extend(more.0.into_iter().filter(|finding| finding.severity == Severity::Error));
    }
}
