//! The rules of the CRDs (`x-kubernetes-validations`), which are CEL, by hand.
//!
//! There are few, they change once in a release, and a function is a hundred times quicker than an interpreter. A rule
//! is found by its very text, so a changed rule has no function until somebody has looked at it; a test says so. Each
//! function sees a value whose types are right, and answers what the server's evaluation would: an evaluation that
//! fails (no such key, no such duration) refuses, as `false` does. Nulls count as absent.

mod table;
mod url;

use serde_json::{Map, Value};

type Holds = fn(&Value) -> bool;

#[derive(Debug)]
pub(super) struct Rule {
    holds: Holds,
    message: Box<str>,
}

impl Rule {
    /// `None` where the text has no function.
    pub(super) fn read(rule: &Value) -> Option<Self> {
        let text = rule["rule"].as_str()?;
        let (_, holds) = table::RULES.iter().find(|(known, _)| *known == text)?;
        let message = rule["message"].as_str().unwrap_or(text).trim().into();
        Some(Self { holds: *holds, message })
    }

    pub(super) fn holds(&self, value: &Value) -> bool {
        (self.holds)(value)
    }

    /// The CRD's own words.
    pub(super) fn message(&self) -> &str {
        &self.message
    }
}

#[cfg(test)]
pub(super) fn count() -> usize {
    table::RULES.len()
}

/// A field that is there: `has(self.field)`.
pub(super) fn present<'v>(value: &'v Value, field: &str) -> Option<&'v Value> {
    value.get(field).filter(|value| !value.is_null())
}

fn has(value: &Value, field: &str) -> bool {
    present(value, field).is_some()
}

fn at_most_one(value: &Value, fields: &[&str]) -> bool {
    fields.iter().filter(|field| has(value, field)).count() <= 1
}

/// The text of a field, or what stands for its absence.
fn text_or<'v>(value: &'v Value, field: &str, absent: &'v str) -> &'v str {
    present(value, field).and_then(Value::as_str).unwrap_or(absent)
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn items(value: Option<&Value>) -> &[Value] {
    value.and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

/// The keys of a map, without those that the server drops.
fn keys(value: &Value) -> impl Iterator<Item = &str> {
    let entries = value.as_object().into_iter().flat_map(Map::iter);
    entries.filter(|(_, value)| !value.is_null()).map(|(key, _)| key.as_str())
}
