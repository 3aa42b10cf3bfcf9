//! A value as YAML: block style, keys in the order given, every string that could be read as something else quoted.
//! It exists until a crate prints YAML as Go does; it never needs to be pretty, only right.

use serde_json::Value;
use std::fmt::Write;

pub(crate) fn print(value: &Value) -> String {
    let mut text = String::new();
    block(value, 0, &mut text);
    text
}

/// Writes whole lines, each `depth` deep.
fn block(value: &Value, depth: usize, text: &mut String) {
    let margin = " ".repeat(depth);
    match value {
        Value::Object(fields) if !fields.is_empty() => {
            for (key, value) in fields {
                let _ = write!(text, "{margin}{}:", string(key));
                nested(value, depth, text);
            }
        }
        Value::Array(items) if !items.is_empty() => {
            for item in items {
                let _ = write!(text, "{margin}-");
                nested(item, depth, text);
            }
        }
        scalar => {
            let _ = writeln!(text, "{margin}{}", inline(scalar));
        }
    }
}

/// After `key:` or `-`: a scalar on the same line, anything bigger below and deeper.
fn nested(value: &Value, depth: usize, text: &mut String) {
    let big = match value {
        Value::Object(fields) => !fields.is_empty(),
        Value::Array(items) => !items.is_empty(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    };
    if big {
        text.push('\n');
        block(value, depth + 2, text);
    } else {
        let _ = writeln!(text, " {}", inline(value));
    }
}

fn inline(value: &Value) -> String {
    match value {
        Value::String(text) => string(text),
        // Numbers, booleans, null and the empty collections are the same in JSON.
        other => other.to_string(),
    }
}

/// Plain only when no YAML reader, old or new, can take it for a number, a boolean, a date or syntax.
fn string(text: &str) -> String {
    const WORDS: [&str; 10] = ["true", "false", "yes", "no", "on", "off", "y", "n", "null", "nan"];
    let plain = text.starts_with(|first: char| first.is_ascii_alphabetic())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || "_-./".contains(c))
        && !WORDS.contains(&text.to_ascii_lowercase().as_str());
    if plain { text.to_string() } else { quoted(text) }
}

/// JSON's quoting, plus the characters that JSON leaves alone and YAML does not.
fn quoted(text: &str) -> String {
    let json = Value::from(text).to_string();
    let mut out = String::with_capacity(json.len());
    for c in json.chars() {
        match c {
            '\u{7f}'..='\u{9f}' | '\u{2028}' | '\u{2029}' | '\u{feff}' => {
                let _ = write!(out, "\\u{:04x}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn maps_and_lists_nest() {
        let value = json!({"a": {"b": ["x", {"c": 1}, [2]], "e": {}, "f": []}, "g": null});
        let expected = "a:\n  b:\n    - x\n    -\n      c: 1\n    -\n      - 2\n  e: {}\n  f: []\ng: null\n";
        assert_eq!(print(&value), expected);
    }

    #[test]
    fn strings_that_look_like_something_else_are_quoted() {
        for text in
            ["1.31", "12e4567", "yes", "Null", "", "a: b", "# no", "- x", "2026-01-02", "~", "0x1f", "a\nb"]
        {
            assert!(print(&json!(text)).starts_with('"'), "{text}");
        }
        for text in ["Clean", "ac7386e", "x86_64-unknown-linux-gnu"] {
            assert_eq!(print(&json!(text)), format!("{text}\n"));
        }
        assert_eq!(print(&json!("a\u{2028}\"b")), "\"a\\u2028\\\"b\"\n");
    }
}
