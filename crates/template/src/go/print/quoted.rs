//! Texts and characters in quotes, as Go writes them.

use std::fmt::Write as _;

/// `strconv.Quote`
pub(crate) fn quote(text: &str) -> String {
    quoted(text, '"', false)
}

pub(super) fn quoted(text: &str, quote: char, ascii: bool) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push(quote);
    for c in text.chars() {
        match c {
            '\\' => out.push_str("\\\\"),
            c if c == quote => out.extend(['\\', c]),
            ' '..='~' => out.push(c),
            '\x07' => out.push_str("\\a"),
            '\x08' => out.push_str("\\b"),
            '\x0c' => out.push_str("\\f"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\x0b' => out.push_str("\\v"),
            c if !ascii && is_printable(c) => out.push(c),
            c => escape(&mut out, c),
        }
    }
    out.push(quote);
    out
}

fn escape(out: &mut String, c: char) {
    let number = u32::from(c);
    let _ = match number {
        0..0x20 | 0x7f => write!(out, "\\x{number:02x}"),
        0..0x1_0000 => write!(out, "\\u{number:04x}"),
        _ => write!(out, "\\U{number:08x}"),
    };
}

/// Letters, marks, numbers, punctuation, symbols, and the plain space.
pub(crate) fn is_printable(c: char) -> bool {
    if c.is_ascii() {
        return (' '..='~').contains(&c);
    }
    // The standard library knows the categories, but tells them only by what it escapes; behind another character it
    // does not escape combining marks.
    let mut text = [0; 5];
    text[0] = b'a';
    let length = 1 + c.encode_utf8(&mut text[1..]).len();
    str::from_utf8(&text[..length]).is_ok_and(|text| text.escape_debug().count() == 2)
}

/// Whether it can stand between backquotes as it is.
pub(super) fn can_backquote(text: &str) -> bool {
    text.chars().all(|c| c == '\t' || !(c < ' ' || matches!(c, '`' | '\x7f' | '\u{FEFF}')))
}
