//! What is different between an object as it is and as it would be, field by field, in words that people can read.

use crate::text_change::text_change;
use serde_json::{Map, Value};
use std::fmt;

/// A field that changes.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct FieldChange {
    /// `spec.template.spec.containers[name=discovery].image`
    pub path: String,
    /// Nothing if it is new.
    pub before: Option<Value>,
    /// Nothing if it goes.
    pub after: Option<Value>,
}

impl fmt::Display for FieldChange {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.before, &self.after) {
            (Some(Value::String(before)), Some(Value::String(after)))
                if let Some(lines) = text_change(before, after) =>
            {
                write!(out, "{}:", self.path)?;
                lines.iter().try_for_each(|line| write!(out, "\n  {line}"))
            }
            (Some(before), Some(after)) => {
                write!(out, "{}: {} → {}", self.path, short(before), short(after))
            }
            (None, Some(after)) => write!(out, "{}: + {}", self.path, short(after)),
            (Some(before), None) => write!(out, "{}: - {}", self.path, short(before)),
            (None, None) => write!(out, "{}", self.path),
        }
    }
}

/// A whole certificate or template says nothing in a line.
pub fn short(value: &Value) -> String {
    const SHOWN: usize = 120;
    let text = value.to_string();
    if text.chars().count() <= SHOWN {
        return text;
    }
    let start: String = text.chars().take(SHOWN).collect();
    format!("{start}… ({} characters)", text.chars().count())
}

/// Of `metadata`, what a server keeps for itself.
const KEPT: [&str; 7] = [
    "creationTimestamp",
    "deletionTimestamp",
    "generation",
    "managedFields",
    "resourceVersion",
    "selfLink",
    "uid",
];

/// All of them; an object's status, and what a server writes into its metadata, are nobody's change.
pub fn difference(before: &Value, after: &Value) -> Vec<FieldChange> {
    let mut changes = Vec::new();
    let empty = Map::new();
    let (one, two) = (before.as_object().unwrap_or(&empty), after.as_object().unwrap_or(&empty));
    maps("", one, two, &mut changes);
    let is_ours = |change: &FieldChange| {
        let own =
            change.path.strip_prefix("metadata.").map(|rest| rest.split(['.', '[']).next().unwrap_or(rest));
        let kept = own.is_some_and(|field| KEPT.contains(&field));
        let status = change.path == "status" || change.path.starts_with("status.");
        !kept && !status
    };
    changes.retain(is_ours);
    changes
}

fn maps(path: &str, before: &Map<String, Value>, after: &Map<String, Value>, changes: &mut Vec<FieldChange>) {
    for (key, old) in before {
        compare(&field(path, key), Some(old), after.get(key), changes);
    }
    for (key, new) in after.iter().filter(|(key, _)| !before.contains_key(*key)) {
        compare(&field(path, key), None, Some(new), changes);
    }
}

fn field(path: &str, key: &str) -> String {
    let plain = !key.is_empty()
        && key.chars().all(|letter| letter.is_alphanumeric() || letter == '_' || letter == '-');
    match (path.is_empty(), plain) {
        (true, true) => key.to_owned(),
        (false, true) => format!("{path}.{key}"),
        (_, false) => format!("{path}[{key}]"),
    }
}

fn compare(path: &str, before: Option<&Value>, after: Option<&Value>, changes: &mut Vec<FieldChange>) {
    match (before, after) {
        (Some(before), Some(after)) if before == after => {}
        (Some(Value::Object(before)), Some(Value::Object(after))) => maps(path, before, after, changes),
        (Some(Value::Array(before)), Some(Value::Array(after))) => lists(path, before, after, changes),
        (before, after) => {
            changes.push(FieldChange {
                path: path.to_owned(),
                before: before.cloned(),
                after: after.cloned(),
            });
        }
    }
}

/// Items that have names are told apart by them; others by their places.
fn lists(path: &str, before: &[Value], after: &[Value], changes: &mut Vec<FieldChange>) {
    if let (Some(before), Some(after)) = (named(before), named(after)) {
        for (name, old) in &before {
            let new = after.iter().find(|(other, _)| other == name).map(|(_, new)| *new);
            compare(&format!("{path}[name={name}]"), Some(old), new, changes);
        }
        for (name, new) in after.iter().filter(|(name, _)| !before.iter().any(|(other, _)| other == name)) {
            compare(&format!("{path}[name={name}]"), None, Some(new), changes);
        }
        return;
    }
    for index in 0..before.len().max(after.len()) {
        compare(&format!("{path}[{index}]"), before.get(index), after.get(index), changes);
    }
}

/// If all have one, and no two the same.
fn named(items: &[Value]) -> Option<Vec<(&str, &Value)>> {
    let named: Option<Vec<(&str, &Value)>> =
        items.iter().map(|item| Some((item.get("name")?.as_str()?, item))).collect();
    let named = named?;
    let unique =
        named.iter().enumerate().all(|(at, (name, _))| !named[..at].iter().any(|(other, _)| other == name));
    unique.then_some(named)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn told(before: &Value, after: &Value) -> Vec<String> {
        difference(before, after).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn fields_are_told_by_their_paths_and_items_by_their_names() {
        let before = json!({ "spec": { "replicas": 1, "containers": [
            { "name": "a", "image": "x:1" }, { "name": "b", "image": "y" } ] }, "data": { "a.b/c": "1" } });
        let after = json!({ "spec": { "containers": [
            { "name": "b", "image": "y" }, { "name": "a", "image": "x:2" } ], "paused": true }, "data": {} });
        assert_eq!(
            told(&before, &after),
            [
                "data[a.b/c]: - \"1\"",
                "spec.containers[name=a].image: \"x:1\" → \"x:2\"",
                "spec.replicas: - 1",
                "spec.paused: + true",
            ]
        );
    }

    #[test]
    fn lists_without_names_are_told_by_their_places() {
        let (before, after) = (json!({ "args": ["a", "b"] }), json!({ "args": ["a", "c", "d"] }));
        assert_eq!(told(&before, &after), ["args[1]: \"b\" → \"c\"", "args[2]: + \"d\""]);
        let (before, after) =
            (json!({ "l": [{ "name": "a" }, { "name": "a" }] }), json!({ "l": [{ "name": "a" }] }));
        assert_eq!(
            told(&before, &after),
            ["l[1]: - {\"name\":\"a\"}"],
            "names that come twice tell nothing apart"
        );
    }

    #[test]
    fn what_a_server_writes_is_no_change() {
        let before =
            json!({ "metadata": { "uid": "1", "labels": {}, "managedFields": [{}] }, "status": { "a": 1 } });
        let after = json!({ "metadata": { "resourceVersion": "7", "labels": {} }, "status": {} });
        assert_eq!(told(&before, &after), Vec::<String>::new());
    }

    #[test]
    fn long_values_are_cut() {
        let change = FieldChange { path: "a".into(), before: None, after: Some("x".repeat(1_000).into()) };
        assert!(change.to_string().len() < 200 && change.to_string().ends_with("(1002 characters)"));
    }
}
