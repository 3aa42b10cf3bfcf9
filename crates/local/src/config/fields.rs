//! Reading a document field by field: what is missing, of another type or not known is noted where it stands, and reading goes on.

use mizzen_text::{Code, Diagnostic, Path, Step, nearest, yaml::Document};
use serde_json::{Map, Value};
use std::cell::RefCell;

pub(super) struct Reader<'d> {
    document: &'d Document,
    wrong: RefCell<Vec<Diagnostic>>,
}

/// A value and where it is.
#[derive(Clone)]
pub(super) struct Field<'r> {
    reader: &'r Reader<'r>,
    pub(super) value: &'r Value,
    path: Path,
}

impl<'d> Reader<'d> {
    pub(super) fn new(document: &'d Document) -> Self {
        Self { document, wrong: RefCell::default() }
    }

    pub(super) fn finish(self) -> Vec<Diagnostic> {
        self.wrong.into_inner()
    }
}

impl<'r> Field<'r> {
    pub(super) fn top(reader: &'r Reader<'r>) -> Self {
        Self { reader, value: &reader.document.value, path: Path::default() }
    }

    fn below(&self, step: Step, value: &'r Value) -> Self {
        let mut path = self.path.clone();
        path.0.push(step);
        Self { reader: self.reader, value, path }
    }

    /// The last field's name on the way here.
    fn name(&self) -> String {
        self.path.to_string()
    }

    pub(super) fn refuse(&self, message: impl Into<String>) -> Option<Diagnostic> {
        self.note(Code::Invalid, message.into(), None)
    }

    pub(super) fn refuse_with(&self, message: impl Into<String>, hint: impl Into<String>) {
        self.note(Code::Invalid, message.into(), Some(hint.into()));
    }

    fn note(&self, code: Code, message: String, hint: Option<String>) -> Option<Diagnostic> {
        let mut diagnostic =
            Diagnostic::new(code, message).at(self.reader.document.place(&self.path)).path(self.path.clone());
        if let Some(hint) = hint {
            diagnostic = diagnostic.hint(hint);
        }
        self.reader.wrong.borrow_mut().push(diagnostic);
        None
    }

    fn is_no(&self, what: &str) {
        let name = self.name();
        let subject = if name.is_empty() { "the file".to_owned() } else { format!("`{name}`") };
        self.note(Code::WrongType, format!("{subject} must be {what}"), None);
    }

    /// A map without other keys than these.
    pub(super) fn map(&self, known: &[&str]) -> Option<&'r Map<String, Value>> {
        let map = self.any_map()?;
        for (key, value) in map.iter().filter(|(key, _)| !known.contains(&key.as_str())) {
            let field = self.below(Step::Field(key.clone()), value);
            let hint = match nearest(key, known.iter().copied()) {
                Some(meant) => format!("did you mean `{meant}`?"),
                None => format!("known here: {}", known.join(", ")),
            };
            let place = self.reader.document.key_place(&field.path);
            let diagnostic = Diagnostic::new(Code::UnknownField, format!("`{key}` is not known here"));
            self.reader.wrong.borrow_mut().push(diagnostic.at(place).path(field.path).hint(hint));
        }
        Some(map)
    }

    fn any_map(&self) -> Option<&'r Map<String, Value>> {
        let map = self.value.as_object();
        if map.is_none() {
            self.is_no("a map");
        }
        map
    }

    /// The fields of a map whose keys are names that the user chose, in the order of the file.
    pub(super) fn entries(&self) -> Vec<(&'r str, Field<'r>)> {
        let entries = self.any_map().into_iter().flatten();
        let mut entries: Vec<(&str, Field<'_>)> =
            entries.map(|(key, value)| (key.as_str(), self.below(Step::Field(key.clone()), value))).collect();
        entries.sort_by_cached_key(|(_, field)| self.reader.document.key_place(&field.path).line_column());
        entries
    }

    /// Nothing if it is missing or null.
    pub(super) fn get(&self, key: &str) -> Option<Field<'r>> {
        let value = self.value.as_object()?.get(key).filter(|value| !value.is_null())?;
        Some(self.below(Step::Field(key.to_owned()), value))
    }

    pub(super) fn items(&self) -> Vec<Field<'r>> {
        match self.value.as_array() {
            Some(items) => {
                items.iter().enumerate().map(|(at, item)| self.below(Step::Index(at), item)).collect()
            }
            None => {
                self.is_no("a list");
                Vec::new()
            }
        }
    }

    pub(super) fn text(&self) -> Option<&'r str> {
        let text = self.value.as_str();
        if text.is_none() {
            self.is_no("text");
        }
        text
    }

    /// A number, a truth or text, as text: what an environment variable can be.
    pub(super) fn scalar(&self) -> Option<String> {
        match self.value {
            Value::String(text) => Some(text.clone()),
            Value::Number(number) => Some(number.to_string()),
            Value::Bool(truth) => Some(truth.to_string()),
            _ => {
                self.is_no("text or a number");
                None
            }
        }
    }

    pub(super) fn port(&self) -> Option<u16> {
        let port = self.value.as_u64().and_then(|number| u16::try_from(number).ok()).filter(|&port| port > 0);
        if port.is_none() {
            self.is_no("a port, a number from 1 to 65535");
        }
        port
    }
}
