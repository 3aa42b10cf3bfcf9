//! A diagnostic as JSON, for programs. The shape only ever grows; what is not known is left out:
//!
//! ```json
//! {
//!   "code": "MZ0110", "name": "duplicate-key", "severity": "warning",
//!   "message": "the key `a` is in this map already",
//!   "place": {"file": "in.yaml", "line": 3, "column": 1, "start": 10, "end": 11, "excerpt": "a: 3"},
//!   "path": "data.a",
//!   "object": {"kind": "ConfigMap", "namespace": "default", "name": "x"},
//!   "hint": "the last one counts; remove the others",
//!   "related": [{"message": "the first one", "place": {"file": "in.yaml", "line": 1}}]
//! }
//! ```
//!
//! Lines and columns count from 1, columns in characters; `start` and `end` are bytes of the file, from 0.

use serde_json::{Map, Value, json};

use super::{Diagnostic, excerpt::Excerpt};
use crate::Place;

impl Diagnostic {
    pub fn to_json(&self) -> Value {
        let mut map = Map::new();
        let mut put = |name: &str, value: Value| map.insert(name.to_owned(), value);
        put("code", self.code.id().into());
        put("name", self.code.name().into());
        put("severity", self.severity.name().into());
        put("message", self.message.as_str().into());
        if let Some(found) = &self.place {
            put("place", place(found));
        }
        if !self.path.0.is_empty() {
            put("path", self.path.to_string().into());
        }
        if let Some(object) = &self.object {
            let mut value = json!({"kind": object.kind, "name": object.name});
            if let Some(namespace) = &object.namespace {
                value["namespace"] = namespace.as_str().into();
            }
            put("object", value);
        }
        if let Some(hint) = &self.hint {
            put("hint", hint.as_str().into());
        }
        if !self.related.is_empty() {
            let related = self.related.iter();
            put(
                "related",
                related.map(|one| json!({"message": one.message, "place": place(&one.place)})).collect(),
            );
        }
        Value::Object(map)
    }
}

fn place(place: &Place) -> Value {
    let mut value = json!({"file": place.source.name()});
    if let (Some((line, column)), Some(span)) = (place.line_column(), &place.span) {
        value["line"] = line.into();
        value["column"] = column.into();
        value["start"] = span.start.into();
        value["end"] = span.end.into();
    }
    if let Some(excerpt) = Excerpt::new(place) {
        value["excerpt"] = excerpt.text.into();
    }
    value
}
