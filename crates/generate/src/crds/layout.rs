//! JSON for reviewers: a value that fits on a line stays on it, keys are sorted, so that a change of upstream's is a
//! change of a few lines.

use serde_json::Value;

const WIDTH: usize = 110;

pub(super) fn print(value: &Value) -> String {
    let mut text = String::new();
    write(value, 0, 0, &mut text);
    text.push('\n');
    text
}

/// `used`: how much of the line stands before the value already.
fn write(value: &Value, depth: usize, used: usize, text: &mut String) {
    let flat = flat(value);
    match value {
        Value::Object(_) | Value::Array(_) if used + flat.len() > WIDTH => tall(value, depth, text),
        _ => text.push_str(&flat),
    }
}

fn tall(value: &Value, depth: usize, text: &mut String) {
    let margin = "  ".repeat(depth + 1);
    let (open, close) = if value.is_array() { ('[', ']') } else { ('{', '}') };
    text.push(open);
    for (number, (key, value)) in entries(value).into_iter().enumerate() {
        let key = key.map(|key| format!("{}: ", Value::from(key))).unwrap_or_default();
        text.push_str(if number == 0 { "\n" } else { ",\n" });
        text.push_str(&margin);
        text.push_str(&key);
        // One for the comma that may follow.
        write(value, depth + 1, margin.len() + key.len() + 1, text);
    }
    text.push('\n');
    text.push_str(&"  ".repeat(depth));
    text.push(close);
}

fn flat(value: &Value) -> String {
    let inside = |separator: &str| {
        let entries = entries(value).into_iter().map(|(key, value)| match key {
            Some(key) => format!("{}: {}", Value::from(key), flat(value)),
            None => flat(value),
        });
        entries.collect::<Vec<_>>().join(separator)
    };
    match value {
        Value::Object(fields) if !fields.is_empty() => format!("{{ {} }}", inside(", ")),
        Value::Array(items) if !items.is_empty() => format!("[{}]", inside(", ")),
        other => other.to_string(),
    }
}

/// Sorted here, since whether a map is sorted already depends on what else is built with us.
fn entries(value: &Value) -> Vec<(Option<&str>, &Value)> {
    match value {
        Value::Object(fields) => {
            let mut entries: Vec<_> = fields.iter().map(|(key, value)| (Some(key.as_str()), value)).collect();
            entries.sort_by_key(|(key, _)| *key);
            entries
        }
        Value::Array(items) => items.iter().map(|value| (None, value)).collect(),
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_fits_stays_on_its_line() {
        let long = "x".repeat(WIDTH);
        let value = json!({ "b": { "c": [1, 2] }, "a": [long] });
        assert_eq!(
            print(&value),
            format!("{{\n  \"a\": [\n    \"{long}\"\n  ],\n  \"b\": {{ \"c\": [1, 2] }}\n}}\n")
        );
    }
}
