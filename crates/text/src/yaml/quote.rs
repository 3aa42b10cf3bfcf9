//! How a string is written: plain, in single quotes, in double quotes or as a literal block. The choice is go-yaml's.

use std::fmt::Write;

use super::scalar::{self, Scalar};

/// Fits in front of a colon.
pub(super) fn is_simple_key(key: &str) -> bool {
    key.len() <= 128 && !key.contains(is_break)
}

pub(super) fn print_key(out: &mut String, key: &str) {
    match style(key) {
        Style::Plain if key != "<<" => out.push_str(key),
        Style::Single => single(out, key, 0),
        Style::Plain | Style::Literal | Style::Double => double(out, key),
    }
}

/// The string and the end of its line; where it takes several lines, they are indented by `margin`.
pub(super) fn print_string(out: &mut String, text: &str, margin: usize) {
    match style(text) {
        Style::Plain => out.push_str(text),
        Style::Single => single(out, text, margin),
        Style::Double => double(out, text),
        Style::Literal => return literal(out, text, margin),
    }
    out.push('\n');
}

#[derive(Debug, PartialEq)]
enum Style {
    Plain,
    Single,
    Double,
    Literal,
}

fn style(text: &str) -> Style {
    let traits = Traits::of(text);
    let wanted = if text.contains('\n') {
        Style::Literal
    } else if is_string(text) {
        Style::Plain
    } else {
        Style::Double
    };
    match wanted {
        Style::Plain if traits.plain => Style::Plain,
        Style::Plain if traits.single => Style::Single,
        Style::Literal if traits.literal => Style::Literal,
        _ => Style::Double,
    }
}

/// Would still be a string without quotes.
fn is_string(text: &str) -> bool {
    scalar::resolve(text) == Scalar::String && !is_base_60(text)
}

/// `12:30`: no number to go-yaml, but to other readers of YAML 1.1.
fn is_base_60(text: &str) -> bool {
    let text = text.strip_prefix(['-', '+']).unwrap_or(text);
    let Some((first, rest)) = text.split_once(':') else { return false };
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'_');
    let (rest, fraction) = rest.split_once('.').unwrap_or((rest, ""));
    first.starts_with(|c: char| c.is_ascii_digit())
        && digits(first)
        && digits(fraction)
        && rest.split(':').all(|part| match part.as_bytes() {
            [ones] => ones.is_ascii_digit(),
            [tens, ones] => (b'0'..=b'5').contains(tens) && ones.is_ascii_digit(),
            _ => false,
        })
}

/// The ways in which a text can be written.
struct Traits {
    plain: bool,
    single: bool,
    literal: bool,
}

impl Traits {
    fn of(text: &str) -> Self {
        let (mut indicator, mut special, mut breaks) = (false, false, false);
        let (mut break_space, mut space_break) = (false, false);
        let mut before = None;
        let mut rest = text.chars();
        while let Some(c) = rest.next() {
            let next_blank = matches!(rest.as_str().as_bytes().first(), None | Some(b' ' | b'\t'));
            indicator |= match c {
                ',' | '[' | ']' | '{' | '}' | '&' | '*' | '!' | '|' | '>' | '\'' | '"' | '%' | '@' | '`' => {
                    before.is_none()
                }
                '?' | '-' => before.is_none() && next_blank,
                ':' => next_blank,
                '#' => before.is_none_or(|before| matches!(before, ' ' | '\t' | '\0') || is_break(before)),
                _ => false,
            };
            special |= !is_printable(c);
            breaks |= is_break(c);
            break_space |= c == ' ' && before.is_some_and(is_break);
            space_break |= is_break(c) && before == Some(' ');
            before = Some(c);
        }
        let outer_space = text.starts_with(' ') || text.ends_with(' ');
        let marker = text.starts_with("---") || text.starts_with("...");
        let single = !break_space && !space_break && !special;
        Self {
            plain: single && !breaks && !outer_space && !indicator && !marker,
            single,
            literal: !text.ends_with(' ') && !space_break && !special,
        }
    }
}

fn is_break(c: char) -> bool {
    matches!(c, '\n' | '\r' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

/// What go-yaml writes as it is. Not tabs, and nothing beyond the basic plane.
fn is_printable(c: char) -> bool {
    matches!(c, '\n' | ' '..='~' | '\u{a0}'..='\u{fffd}') && c != '\u{feff}'
}

fn single(out: &mut String, text: &str, margin: usize) {
    out.push('\'');
    let mut broken = false;
    for c in text.chars() {
        if is_break(c) {
            broken = true;
        } else if std::mem::take(&mut broken) {
            indent(out, margin);
        }
        if c == '\'' {
            out.push('\'');
        }
        out.push(c);
    }
    out.push('\'');
}

fn double(out: &mut String, text: &str) {
    // go-yaml looks for the mark at the start of the text, whichever character is at hand.
    let all = text.starts_with('\u{feff}');
    out.push('"');
    for c in text.chars() {
        let escape = match c {
            '"' | '\\' => c,
            c if is_printable(c) && !is_break(c) && !all => {
                out.push(c);
                continue;
            }
            '\0' => '0',
            '\x07' => 'a',
            '\x08' => 'b',
            '\t' => 't',
            '\n' => 'n',
            '\x0b' => 'v',
            '\x0c' => 'f',
            '\r' => 'r',
            '\x1b' => 'e',
            '\u{85}' => 'N',
            '\u{a0}' => '_',
            '\u{2028}' => 'L',
            '\u{2029}' => 'P',
            c => {
                let number = u32::from(c);
                // A `String` takes everything.
                let _ = match number {
                    ..=0xff => write!(out, "\\x{number:02X}"),
                    ..=0xffff => write!(out, "\\u{number:04X}"),
                    _ => write!(out, "\\U{number:08X}"),
                };
                continue;
            }
        };
        out.push('\\');
        out.push(escape);
    }
    out.push('"');
}

fn literal(out: &mut String, text: &str, margin: usize) {
    out.push('|');
    if text.starts_with(|c| c == ' ' || is_break(c)) {
        out.push('2');
    }
    let mut from_end = text.chars().rev();
    match (from_end.next().is_some_and(is_break), from_end.next()) {
        (false, _) => out.push('-'),
        (true, None) => out.push('+'),
        (true, Some(before)) if is_break(before) => out.push('+'),
        (true, Some(_)) => {}
    }
    out.push('\n');
    let mut at_start = true;
    for c in text.chars() {
        if !is_break(c) && at_start {
            indent(out, margin);
        }
        at_start = is_break(c);
        out.push(c);
    }
    if !at_start {
        out.push('\n');
    }
}

fn indent(out: &mut String, margin: usize) {
    out.extend(std::iter::repeat_n(' ', margin));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_string_is_quoted_only_where_go_does_it() {
        for (text, written) in [
            ("plain text", "plain text"),
            ("true", "\"true\""),
            ("y", "\"y\""),
            ("", "\"\""),
            ("~", "\"~\""),
            ("1e3", "\"1e3\""),
            ("0x1", "\"0x1\""),
            ("12:30", "\"12:30\""),
            ("12:60", "12:60"),
            ("2026-01-02", "\"2026-01-02\""),
            ("=", "="),
            (" a", "' a'"),
            ("a: b", "'a: b'"),
            ("a:b", "a:b"),
            ("it's", "it's"),
            ("'a'", "'''a'''"),
            ("- x", "'- x'"),
            ("-x", "-x"),
            ("--- x", "'--- x'"),
            ("a #b", "'a #b'"),
            ("a#b", "a#b"),
            ("*", "'*'"),
            ("a\tb", "\"a\\tb\""),
            ("😀", "\"\\U0001F600\""),
            ("é", "é"),
            ("a\n", "|\n  a"),
            ("a\nb", "|-\n  a\n  b"),
            ("a\n\n", "|+\n  a\n"),
            (" a\nb", "|2-\n   a\n  b"),
            ("a \nb", "\"a \\nb\""),
            ("\u{feff}a", "\"\\uFEFF\\x61\""),
        ] {
            let mut out = String::new();
            print_string(&mut out, text, 2);
            assert_eq!(out, format!("{written}\n"), "{text:?}");
        }
    }
}
