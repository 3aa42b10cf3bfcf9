//! What is wrong with an object, and where.

use mizzen_text::{At, Code, Path, Severity, Step};
use std::collections::BTreeSet;

/// One thing that is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    pub code: Code,
    pub severity: Severity,
    /// The field, from the top of the object: `spec.hosts[0]`.
    pub path: Path,
    pub message: String,
    /// What to do about it, where that is known.
    pub hint: Option<String>,
}

impl Finding {
    /// Something that refuses the object as a whole, until somebody says where.
    pub fn error(code: Code, message: impl Into<String>) -> Self {
        Self { code, severity: Severity::Error, path: Path::default(), message: message.into(), hint: None }
    }
}

/// Nobody reads more of one object, and nobody shall fill our memory with them.
const MOST: usize = 2_000;

/// Everything that was found in one object, in the order of the walk; of very many only the first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Findings(Vec<Finding>);

impl Findings {
    /// A rule of the kind refuses the field.
    pub fn error(&mut self, at: &At<'_>, message: impl Into<String>) {
        self.push(Finding { path: at.path(), ..Finding::error(Code::Invalid, message) });
    }

    /// The field is accepted, but probably not what was meant.
    pub fn warning(&mut self, at: &At<'_>, message: impl Into<String>) {
        let finding = Finding::error(Code::Doubtful, message);
        self.push(Finding { path: at.path(), severity: Severity::Warning, ..finding });
    }

    /// An error where a rule about a single value says so.
    pub(crate) fn verdict(&mut self, at: &At<'_>, verdict: Result<(), String>) {
        if let Err(message) = verdict {
            self.error(at, message);
        }
    }

    pub fn push(&mut self, finding: Finding) {
        match self.0.len() {
            MOST => {
                let message = format!("more than {MOST} problems, the rest is not shown");
                self.0.push(Finding { severity: finding.severity, ..Finding::error(Code::Invalid, message) });
            }
            // The last one may have been a warning, but the verdict counts.
            length if length > MOST => {
                if let Some(last) = self.0.last_mut() {
                    last.severity = last.severity.max(finding.severity);
                }
            }
            _ => self.0.push(finding),
        }
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
        more.0.into_iter().for_each(|finding| self.push(finding));
    }

    /// More, but for errors at fields that have one already (two rules often say the same in other words), and at or below
    /// those that were `blanked`, which are not what was written.
    pub(crate) fn extend_where_silent(&mut self, more: Self, blanked: &[Path]) {
        let told: BTreeSet<Vec<Step>> = self.errors().map(|finding| finding.path.0.clone()).collect();
        let silent = |path: &Path| {
            !told.contains(&path.0) && !blanked.iter().any(|blank| path.0.starts_with(&blank.0))
        };
        let new = |finding: &Finding| finding.severity != Severity::Error || silent(&finding.path);
        more.0.into_iter().filter(new).for_each(|finding| self.push(finding));
    }

    /// For a part of an object about which Istio's webhook tells errors only.
    pub(crate) fn extend_errors(&mut self, more: Self) {
        let errors = more.0.into_iter().filter(|finding| finding.severity == Severity::Error);
        errors.for_each(|finding| self.push(finding));
    }

    /// The same, of an object that stands at `top` of its document.
    pub(crate) fn below(mut self, top: &Path) -> Self {
        for finding in &mut self.0 {
            finding.path.0.splice(0..0, top.0.iter().cloned());
        }
        self
    }
}

impl From<Finding> for Findings {
    fn from(finding: Finding) -> Self {
        Self(vec![finding])
    }
}
