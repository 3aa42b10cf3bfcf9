//! A JSON value as YAML, byte for byte as Go prints it (`sigs.k8s.io/yaml`, hence `kubectl -o yaml`): keys sorted, lists
//! not indented under their key, long strings folded behind column 80.
//!
//! One exception: Go leaves a key `<<` unquoted, which every reader takes for a merge. It is quoted here.

use std::fmt::Write;

use serde_json::{Map, Value};

use super::{number, order, quote};

/// The value as a document, without a separator in front.
pub fn to_string(value: &Value) -> String {
    let mut out = String::new();
    match value {
        Value::Object(map) if !map.is_empty() => print_map(&mut out, map, 0),
        Value::Array(items) if !items.is_empty() => print_list(&mut out, items, 0),
        scalar => print_scalar(&mut out, scalar, 0),
    }
    out
}

/// At the column where the first key stands already, or the margin.
fn print_map(out: &mut String, map: &Map<String, Value>, column: usize) {
    for (index, key) in order::sorted(map.keys()).into_iter().enumerate() {
        if index > 0 {
            margin(out, column);
        }
        if quote::is_simple_key(key) {
            quote::print_key(out, key);
            out.push(':');
            match &map[key] {
                Value::Object(map) if !map.is_empty() => {
                    out.push('\n');
                    margin(out, column + 2);
                    print_map(out, map, column + 2);
                }
                Value::Array(items) if !items.is_empty() => {
                    out.push('\n');
                    margin(out, column);
                    print_list(out, items, column);
                }
                scalar => {
                    out.push(' ');
                    print_scalar(out, scalar, column);
                }
            }
        } else {
            out.push_str("? ");
            quote::print_string(out, key, column + 2);
            margin(out, column);
            out.push_str(": ");
            print_inline(out, &map[key], column);
        }
    }
}

fn print_list(out: &mut String, items: &[Value], column: usize) {
    for (index, item) in items.iter().enumerate() {
        if index > 0 {
            margin(out, column);
        }
        out.push_str("- ");
        print_inline(out, item, column);
    }
}

/// Behind a two-character indicator, on its line.
fn print_inline(out: &mut String, value: &Value, column: usize) {
    match value {
        Value::Object(map) if !map.is_empty() => print_map(out, map, column + 2),
        Value::Array(items) if !items.is_empty() => print_list(out, items, column + 2),
        scalar => print_scalar(out, scalar, column),
    }
}

/// Ends its line.
fn print_scalar(out: &mut String, value: &Value, column: usize) {
    let written = match value {
        Value::String(text) => return quote::print_string(out, text, column + 2),
        Value::Null => out.write_str("null"),
        Value::Bool(bool) => write!(out, "{bool}"),
        Value::Number(number) => match number.as_f64().filter(|_| number.is_f64()) {
            Some(float) => out.write_str(&number::printed(float)),
            None => write!(out, "{number}"),
        },
        Value::Array(_) => out.write_str("[]"),
        Value::Object(_) => out.write_str("{}"),
    };
    // A `String` takes everything.
    let _ = written;
    out.push('\n');
}

fn margin(out: &mut String, column: usize) {
    out.extend(std::iter::repeat_n(' ', column));
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn maps_and_lists_nest() {
        let value =
            json!({"a": {"b": ["x", {"c": 1, "d": [2]}, [3, [4]], [], {}], "e": {}, "f": []}, "g": null});
        let text = "a:\n  b:\n  - x\n  - c: 1\n    d:\n    - 2\n  - - 3\n    - - 4\n  - []\n  - {}\n  e: {}\n  f: []\ng: null\n";
        assert_eq!(to_string(&value), text);
    }

    #[test]
    fn a_long_key_stands_behind_a_question_mark() {
        let key = "k".repeat(129);
        let value = json!({key.clone(): [1, {"a": 2}], "m\nn": {"a": "x\ny"}});
        assert_eq!(
            to_string(&value),
            format!("? {key}\n: - 1\n  - a: 2\n? |-\n  m\n  n\n: a: |-\n    x\n    y\n")
        );
    }

    #[test]
    fn a_key_that_would_merge_is_quoted() {
        assert_eq!(to_string(&json!({"<<": "<<"})), "\"<<\": <<\n");
    }
}
