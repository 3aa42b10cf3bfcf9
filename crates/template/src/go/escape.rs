//! `html`, `js` and `urlquery`.

use std::fmt::Write as _;

use super::print::is_printable;

pub(super) fn html(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\0' => out.push('\u{FFFD}'),
            '"' => out.push_str("&#34;"),
            '\'' => out.push_str("&#39;"),
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            c => out.push(c),
        }
    }
    out
}

pub(super) fn js(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\\' | '\'' | '"' => out.extend(['\\', c]),
            '<' | '>' | '&' | '=' => hexadecimal(&mut out, c),
            c if c < ' ' => hexadecimal(&mut out, c),
            c if c.is_ascii() || is_printable(c) => out.push(c),
            c => hexadecimal(&mut out, c),
        }
    }
    out
}

fn hexadecimal(out: &mut String, c: char) {
    let _ = write!(out, "\\u{:04X}", u32::from(c));
}

pub(super) fn url_query(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => out.push(char::from(byte)),
            b' ' => out.push('+'),
            byte => {
                let _ = write!(out, "%{byte:02X}");
            }
        }
    }
    out
}
