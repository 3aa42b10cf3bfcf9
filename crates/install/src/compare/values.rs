//! Where two values differ.

use std::{collections::BTreeSet, fmt};

use mizzen_text::{Path, Step};
use serde_json::Value;

/// One place that is not the same. `None` is not there at all, which is not the same as null.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    pub path: Path,
    pub old: Option<Value>,
    pub new: Option<Value>,
}

/// The smallest places where the two differ, in order.
pub fn changes(old: &Value, new: &Value) -> Vec<Change> {
    let mut found = Vec::new();
    walk(&mut Vec::new(), Some(old), Some(new), &mut found);
    found
}

fn walk(path: &mut Vec<Step>, old: Option<&Value>, new: Option<&Value>, found: &mut Vec<Change>) {
    match (old, new) {
        (Some(Value::Object(old)), Some(Value::Object(new))) => {
            let keys: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
            for key in keys {
                path.push(Step::Field(key.clone()));
                walk(path, old.get(key), new.get(key), found);
                path.pop();
            }
        }
        (Some(Value::Array(old)), Some(Value::Array(new))) => {
            for index in 0..old.len().max(new.len()) {
                path.push(Step::Index(index));
                walk(path, old.get(index), new.get(index), found);
                path.pop();
            }
        }
        (old, new) if old != new => {
            found.push(Change { path: Path(path.clone()), old: old.cloned(), new: new.cloned() });
        }
        _ => {}
    }
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let side = |value: &Option<Value>| match value {
            None => "<absent>".to_owned(),
            Some(Value::String(text)) if text.contains('\n') => format!("{text:?}"),
            Some(Value::String(text)) if text.is_empty() => "\"\"".to_owned(),
            Some(Value::String(text)) => text.clone(),
            Some(value) => value.to_string(),
        };
        write!(f, "{}: {} -> {}", self.path, side(&self.old), side(&self.new))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_smallest_place_is_told() {
        let old = json!({"a": {"b": [1, {"c": "x"}], "same": 1}, "gone": null});
        let new = json!({"a": {"b": [1, {"c": ""}, 3], "same": 1}});
        let told: Vec<String> = changes(&old, &new).iter().map(Change::to_string).collect();
        assert_eq!(told, ["a.b[1].c: x -> \"\"", "a.b[2]: <absent> -> 3", "gone: null -> <absent>"]);
    }
}
