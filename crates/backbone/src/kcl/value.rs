//! Single values and names in KCL.

use serde_json::Value;
use std::fmt::Write as _;

/// Words that KCL keeps for itself, as kcl-openapi lists them.
const RESERVED: [&str; 24] = [
    "all", "and", "as", "assert", "check", "elif", "else", "filter", "final", "for", "if", "import", "in",
    "is", "lambda", "map", "mixin", "not", "or", "protocol", "relaxed", "rule", "schema", "type",
];

/// Those that it does not list; without `$` they do not compile.
const MORE: [&str; 6] = ["None", "Undefined", "True", "False", "any", "with"];

/// An attribute's name as it is declared and used: quoted where it is no identifier, with a `$` where it is a word of
/// the language.
pub fn identifier(name: &str, exact: bool) -> String {
    let mut bytes = name.bytes();
    let plain = bytes.next().is_some_and(|first| first.is_ascii_alphabetic() || first == b'_')
        && bytes.all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    if !plain {
        return if exact { format!("\"{name}\"") } else { escaped(name) };
    }
    if RESERVED.contains(&name) || (!exact && MORE.contains(&name)) {
        format!("${name}")
    } else {
        name.to_owned()
    }
}

/// A text in double quotes, in which nothing is taken for an expression.
pub fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '$' if letters.peek() == Some(&'{') => out.push_str("\\$"),
            letter if letter.is_control() => {
                let _ = write!(out, "\\u{:04x}", u32::from(letter));
            }
            letter => out.push(letter),
        }
    }
    out.push('"');
    out
}

/// A regular expression, raw where it can be.
pub(super) fn raw(text: &str, exact: bool) -> String {
    if exact || !(text.contains('"') || text.ends_with('\\') || text.contains('\n')) {
        format!("r\"{text}\"")
    } else {
        escaped(text)
    }
}

pub fn literal(value: &Value, exact: bool) -> String {
    match value {
        Value::Null => "None".to_owned(),
        Value::Bool(true) => "True".to_owned(),
        Value::Bool(false) => "False".to_owned(),
        Value::Number(number) if !exact => number.to_string(),
        Value::Number(number) => number.as_f64().map_or_else(|| number.to_string(), short),
        Value::String(text) => quoted(text, exact),
        Value::Array(items) => {
            let items: Vec<_> = items.iter().map(|item| literal(item, exact)).collect();
            format!("[{}]", items.join(", "))
        }
        Value::Object(entries) => {
            let entries: Vec<_> = entries
                .iter()
                .map(|(key, value)| format!("{}: {}", quoted(key, exact), literal(value, exact)))
                .collect();
            format!("{{{}}}", entries.join(", "))
        }
    }
}

fn quoted(text: &str, exact: bool) -> String {
    if exact { format!("\"{text}\"") } else { escaped(text) }
}

/// A number as Go prints it: from seven digits on with an exponent.
pub(super) fn short(number: f64) -> String {
    let digits = format!("{number:e}");
    let Some((mantissa, exponent)) = digits.split_once('e') else { return digits };
    match exponent.parse::<i32>() {
        Ok(power) if !(-4..6).contains(&power) => {
            format!("{mantissa}e{}{:02}", if power < 0 { '-' } else { '+' }, power.abs())
        }
        _ => format!("{number}"),
    }
}

/// A number in full.
pub(super) fn number(number: f64, exact: bool) -> String {
    if exact { short(number) } else { format!("{number}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn numbers_are_written_as_go_writes_them() {
        for (number, expected) in [
            (0.0, "0"),
            (100.0, "100"),
            (599_999.0, "599999"),
            (4_294_967_295.0, "4.294967295e+09"),
            (1_000_000.0, "1e+06"),
            (0.5, "0.5"),
            (-2.0, "-2"),
            (0.000_01, "1e-05"),
        ] {
            assert_eq!(short(number), expected);
        }
    }

    #[test]
    fn nothing_in_a_text_is_taken_for_the_language() {
        assert_eq!(escaped("a\"b\\c${d}\n"), r#""a\"b\\c\${d}\n""#);
        assert_eq!(literal(&json!({"a": [1, true, null, "x"]}), false), r#"{"a": [1, True, None, "x"]}"#);
        assert_eq!(identifier("type", true), "$type");
        assert_eq!(identifier("vpc-id", true), "\"vpc-id\"");
        assert_eq!(identifier("any", false), "$any");
        assert_eq!(raw("a\"", false), "\"a\\\"\"");
    }
}
