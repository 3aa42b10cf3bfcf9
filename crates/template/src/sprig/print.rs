//! A value as Go's `%v` prints it, and a string as `%q` does.

use std::{fmt::Write, rc::Rc, sync::LazyLock};

use regex::Regex;

use super::budget::{Paid, below};
use crate::{Failure, Host, Value};

/// `strval` of Sprig: a string as it is, all else by `%v`.
pub(crate) fn text_of(value: &Value, host: &mut dyn Host) -> Result<Rc<str>, Failure> {
    if let Value::Text(text) = value {
        return Ok(Rc::clone(text));
    }
    let mut out = Paid::new(host);
    print(&mut out, value)?;
    Ok(out.text.into())
}

pub(crate) fn print(out: &mut Paid<'_>, value: &Value) -> Result<(), Failure> {
    let depth = out.depth();
    print_at(out, value, depth)
}

fn print_at(out: &mut Paid<'_>, value: &Value, depth: usize) -> Result<(), Failure> {
    let below = below(depth)?;
    match value {
        Value::Nil => out.push("<nil>"),
        Value::Bool(bool) => out.push(if *bool { "true" } else { "false" }),
        Value::Int(int) | Value::Int64(int) => out.push(&int.to_string()),
        Value::Float(float) => out.push(&float_text(*float)),
        Value::Text(text) => out.push(text),
        Value::List(list) => {
            out.push("[")?;
            for (index, item) in list.iter().enumerate() {
                if index > 0 {
                    out.push(" ")?;
                }
                print_at(out, item, below)?;
            }
            out.push("]")
        }
        Value::Map(map) => {
            out.push("map[")?;
            for (index, (key, value)) in map.entries().into_iter().enumerate() {
                if index > 0 {
                    out.push(" ")?;
                }
                out.push(&key)?;
                out.push(":")?;
                print_at(out, &value, below)?;
            }
            out.push("]")
        }
        Value::Object(object) => print_at(out, &object.plain(), below),
    }
}

/// `%v` of a float: the shortest digits, with an exponent below 1e-4 and from 1e6 on.
pub(crate) fn float_text(float: f64) -> String {
    if float.is_nan() {
        return "NaN".into();
    }
    if float.is_infinite() {
        return if float > 0.0 { "+Inf".into() } else { "-Inf".into() };
    }
    let scientific = format!("{float:e}");
    let Some((digits, exponent)) = scientific.split_once('e') else { return scientific };
    let exponent: i32 = exponent.parse().unwrap_or_default();
    if (-4..6).contains(&exponent) {
        return format!("{float}");
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{digits}e{sign}{:02}", exponent.abs())
}

/// A string in double quotes with Go's escapes.
pub(crate) fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for character in text.chars() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\x07' => out.push_str("\\a"),
            '\x08' => out.push_str("\\b"),
            '\x0c' => out.push_str("\\f"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\x0b' => out.push_str("\\v"),
            ' '..='~' => out.push(character),
            other if is_printed(other) => out.push(other),
            other => {
                let code = u32::from(other);
                // A `String` takes everything.
                let _ = match code {
                    0..=0x7f => write!(out, "\\x{code:02x}"),
                    0x80..=0xffff => write!(out, "\\u{code:04x}"),
                    _ => write!(out, "\\U{code:08x}"),
                };
            }
        }
    }
    out.push('"');
    out
}

fn is_printed(character: char) -> bool {
    static PRINTED: LazyLock<Option<Regex>> =
        LazyLock::new(|| Regex::new(r"^[\p{L}\p{M}\p{N}\p{P}\p{S}]$").ok());
    let mut bytes = [0; 4];
    PRINTED.as_ref().is_some_and(|printed| printed.is_match(character.encode_utf8(&mut bytes)))
}
