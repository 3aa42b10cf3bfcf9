//! Which line a rendered field came from. Kept only for objects that a rule refuses: they are rendered once more with a
//! trace, so that the many that are fine pay nothing.

use mizzen_text::{At, Path, Step};
use serde_json::Value;

/// Rendered field, and what was written for it; in the order of rendering.
#[derive(Debug, Default)]
pub(crate) struct Trace(Vec<(Vec<Step>, Path)>);

/// What was written for a field.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Written {
    pub(crate) path: Path,
    /// It is that of the field itself, not of something around it.
    pub(crate) exact: bool,
}

impl Trace {
    pub(crate) fn remember(&mut self, out: &[Step], written: Path) {
        self.0.push((out.to_vec(), written));
    }

    /// A value that is taken as it is.
    pub(crate) fn remember_all(&mut self, out: &mut Vec<Step>, value: &Value, at: &At<'_>) {
        match value {
            Value::Object(fields) => {
                for (name, value) in fields {
                    out.push(Step::Field(name.clone()));
                    let at = at.field(name);
                    self.remember(out, at.path());
                    self.remember_all(out, value, &at);
                    out.pop();
                }
            }
            Value::Array(items) => {
                for (index, value) in items.iter().enumerate() {
                    out.push(Step::Index(index));
                    let at = at.index(index);
                    self.remember(out, at.path());
                    self.remember_all(out, value, &at);
                    out.pop();
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }

    /// A field between two that were written belongs to the lower one, if that is the only one below it.
    fn only_below(&self, field: &Path) -> Option<&Path> {
        if self.0.iter().any(|(out, _)| *out == field.0) {
            return None;
        }
        let mut below = self.0.iter().filter(|(out, _)| out.starts_with(&field.0)).map(|(_, path)| path);
        let first = below.next()?;
        below.all(|path| path.0.starts_with(&first.0)).then_some(first)
    }

    /// What was written for a field, or for the nearest one around it; of several the last.
    pub(crate) fn written(&self, field: &Path) -> Option<Written> {
        if let Some(path) = self.only_below(field) {
            return Some(Written { path: path.clone(), exact: true });
        }
        let around = self.0.iter().filter(|(out, _)| field.0.starts_with(out));
        let (out, path) = around.max_by_key(|(out, _)| out.len())?;
        Some(Written { path: path.clone(), exact: out.len() == field.0.len() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(text: &str) -> Path {
        Path(text.split('.').map(|step| Step::Field(step.to_owned())).collect())
    }

    #[test]
    fn a_field_belongs_to_what_was_written_nearest() {
        let mut trace = Trace::default();
        for (out, written) in [
            ("spec", "block"),
            ("spec.selector.labels", "block.selector"),
            ("spec.selector.labels.a", "block.selector.a"),
            ("spec.tls.mode", "block.mode"),
            ("spec.tls.mode", "block.override.mode"),
            ("spec.port.number", "block.port"),
            ("spec.port.name", "block.name"),
        ] {
            trace.remember(&path(out).0, path(written));
        }
        for (field, written, exact) in [
            ("spec.selector.labels.a", "block.selector.a", true),
            ("spec.selector.labels.b", "block.selector", false),
            ("spec.selector", "block.selector", true),
            ("spec.tls.mode", "block.override.mode", true),
            ("spec.port", "block", false),
            ("spec.host", "block", false),
        ] {
            assert_eq!(trace.written(&path(field)), Some(Written { path: path(written), exact }), "{field}");
        }
        assert_eq!(trace.written(&path("status")), None);
    }
}
