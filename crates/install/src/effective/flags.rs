//! A tree as lines that `--set` takes.

use serde_json::Value;

/// A line for each leaf, in order: `components.pilot.enabled=true`; maps and lists without any are passed by. `below` stands in front of every path.
pub fn flags(tree: &Value, below: Option<&str>) -> Vec<String> {
    let mut lines = Vec::new();
    walk(below.unwrap_or_default(), tree, &mut lines);
    lines
}

fn walk(path: &str, value: &Value, lines: &mut Vec<String>) {
    match value {
        // Nothing to set.
        Value::Object(map) if map.is_empty() => {}
        Value::Array(items) if items.is_empty() => {}
        Value::Object(map) => {
            for (key, value) in map {
                let key = key.replace('\\', "\\\\").replace('.', "\\.");
                let path = if path.is_empty() { key } else { format!("{path}.{key}") };
                walk(&path, value, lines);
            }
        }
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                walk(&format!("{path}[{index}]"), item, lines);
            }
        }
        Value::String(text) => lines.push(format!("{path}={text}")),
        other => lines.push(format!("{path}={other}")),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_leaf_is_a_line() {
        let tree = json!({"a": {"b.c": [true, {"d": ""}], "e": {}}, "f": 1.5});
        assert_eq!(flags(&tree, None), ["a.b\\.c[0]=true", "a.b\\.c[1].d=", "f=1.5"]);
        assert_eq!(flags(&json!({"x": null}), Some("values")), ["values.x=null"]);
    }
}
