//! What is wrong with what an application team wrote, by the way to it. Where that stands in which file is only asked
//! when somebody is told.

use mizzen_text::{Code, Path, Severity, Step};

/// What the caret is put under.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum On {
    Key,
    Value,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Problem {
    pub(crate) code: Code,
    pub(crate) severity: Severity,
    /// From the top of the file.
    pub(crate) path: Path,
    pub(crate) on: On,
    pub(crate) message: String,
    pub(crate) hint: Option<String>,
    /// Other keys that belong to it.
    pub(crate) related: Vec<(String, Path)>,
}

impl Problem {
    pub(crate) fn new(code: Code, path: Path, on: On, message: impl Into<String>) -> Self {
        let severity = code.severity();
        Self { code, severity, path, on, message: message.into(), hint: None, related: Vec::new() }
    }

    /// A sentence whose subject is the attribute: `must be …` becomes "`port` must be …".
    pub(crate) fn of(code: Code, path: Path, on: On, predicate: &str) -> Self {
        let message = sentence(predicate, &path);
        Self::new(code, path, on, message)
    }

    #[must_use]
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    #[must_use]
    pub(crate) fn related(mut self, message: impl Into<String>, path: Path) -> Self {
        self.related.push((message.into(), path));
        self
    }
}

/// Rules say what a field is not; here is which field.
pub(crate) fn sentence(message: &str, path: &Path) -> String {
    let is_predicate =
        ["is ", "must ", "has ", "have ", "cannot ", "needs "].iter().any(|verb| message.starts_with(verb));
    if is_predicate && !path.0.is_empty() {
        // A name alone is as it was written, whatever is in it.
        match last(path).0.as_slice() {
            [Step::Field(name)] => format!("`{name}` {message}"),
            steps => format!("`{}` {message}", Path(steps.to_vec())),
        }
    } else {
        message.to_owned()
    }
}

/// The last name on the way, with the numbers behind it: `hosts[1]`.
pub(crate) fn last(path: &Path) -> Path {
    let start = path.0.iter().rposition(|step| matches!(step, Step::Field(_))).unwrap_or_default();
    Path(path.0[start..].to_vec())
}
