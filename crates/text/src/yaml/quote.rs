//! How a string is written: plain, in single quotes, in double quotes or as a literal block. The choice is go-yaml's.

use super::scalar::{self, Scalar};

/// Fits in front of a colon.
pub(super) fn is_simple_key(key: &str) -> bool {
    key.len() <= 128 && !key.contains(is_break)
}

pub(super) fn print_key(out: &mut String, key: &str) {
    match style(key) {
        Style::Plain if key != "<<" => out.push_str(key),
        Style::Single => single(out, key, None),
        Style::Plain | Style::Literal | Style::Double => double(out, key, None),
    }
}

/// The string and the end of its line; where it takes several lines, they are indented by `margin`.
pub(super) fn print_string(out: &mut String, text: &str, margin: usize) {
    match style(text) {
        Style::Plain => plain(out, text, Some(margin)),
        Style::Single => single(out, text, Some(margin)),
        Style::Double => double(out, text, Some(margin)),
        Style::Literal => return literal(out, text, margin),
    }
    out.push('\n');
}

/// The same without any folding of long lines.
pub(super) fn print_unfolded(out: &mut String, text: &str, margin: usize) {
    match style(text) {
        Style::Plain => plain(out, text, None),
        Style::Single => single(out, text, None),
        Style::Double => double(out, text, None),
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
    if is_plainly_plain(text) {
        return if is_string(text) { Style::Plain } else { Style::Double };
    }
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

/// What most texts are, found out quickly: printable ASCII without anything that could be taken for something else. Others
/// may be plain, too.
fn is_plainly_plain(text: &str) -> bool {
    let bytes = text.as_bytes();
    let ([first, ..], [.., last]) = (bytes, bytes) else { return false };
    (first.is_ascii_alphanumeric() || matches!(first, b'_' | b'/' | b'.' | b'$' | b'(' | b'^' | b'\\'))
        && !matches!(last, b' ' | b':')
        && !text.starts_with("...")
        && bytes.iter().all(|byte| matches!(byte, b' '..=b'~') && *byte != b'#')
        && memchr::memmem::find(bytes, b": ").is_none()
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

/// A scalar on its way out. Behind column 80 it goes on on the next line at every single blank, indented by the margin; a
/// key never does.
struct Folding<'o> {
    out: &'o mut String,
    margin: Option<usize>,
    column: usize,
}

impl<'o> Folding<'o> {
    fn new(out: &'o mut String, margin: Option<usize>) -> Self {
        let line = memchr::memrchr(b'\n', out.as_bytes()).map_or(0, |at| at + 1);
        let column = out[line..].rsplit(is_break).next().map_or(0, |line| line.chars().count());
        Self { out, margin, column }
    }

    fn push(&mut self, c: char) {
        self.column = if is_break(c) { 0 } else { self.column + 1 };
        self.out.push(c);
    }

    /// Something without a line break.
    fn push_word(&mut self, word: &str) {
        self.column += if word.is_ascii() { word.len() } else { word.chars().count() };
        self.out.push_str(word);
    }

    fn push_str(&mut self, text: &str) {
        text.chars().for_each(|c| self.push(c));
    }

    /// The margin in front of the next line.
    fn indent(&mut self) {
        let margin = self.margin.unwrap_or(0);
        indent(self.out, margin);
        self.column += margin;
    }

    /// A blank, or a new line in its place.
    fn blank(&mut self, may_fold: bool) -> bool {
        let fold = may_fold && self.margin.is_some() && self.column > 80;
        if fold {
            self.push('\n');
            self.indent();
        } else {
            self.push(' ');
        }
        fold
    }
}

fn plain(out: &mut String, text: &str, margin: Option<usize>) {
    let column = out.len() - memchr::memrchr(b'\n', out.as_bytes()).map_or(0, |at| at + 1);
    // A line has at most as many characters as bytes; nothing is folded in one that ends at column 80.
    if margin.is_none() || column + text.len() <= 80 {
        out.push_str(text);
        return;
    }
    let mut line = Folding::new(out, margin);
    let mut after_blank = false;
    let mut rest = text;
    while !rest.is_empty() {
        let word = memchr::memchr(b' ', rest.as_bytes()).unwrap_or(rest.len());
        line.push_word(&rest[..word]);
        let Some(behind) = rest.get(word + 1..) else { return };
        line.blank(!(behind.starts_with(' ') || after_blank && word == 0));
        after_blank = true;
        rest = behind;
    }
}

fn single(out: &mut String, text: &str, margin: Option<usize>) {
    let mut line = Folding::new(out, margin);
    line.push('\'');
    let (mut broken, mut after_blank, mut first) = (false, false, true);
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        if c == ' ' {
            let inside = !first && !rest.as_str().is_empty();
            line.blank(inside && !after_blank && !rest.as_str().starts_with(' '));
        } else {
            if !is_break(c) && std::mem::take(&mut broken) {
                line.indent();
            }
            broken |= is_break(c);
            if c == '\'' {
                line.push('\'');
            }
            line.push(c);
        }
        after_blank = c == ' ' || after_blank && is_break(c);
        first = false;
    }
    line.push('\'');
}

fn double(out: &mut String, text: &str, margin: Option<usize>) {
    let mut line = Folding::new(out, margin);
    // go-yaml looks for the mark at the start of the text, whichever character is at hand.
    let all = text.starts_with('\u{feff}');
    line.push('"');
    let (mut after_blank, mut first) = (false, true);
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        match escape(c) {
            Some(escape) => {
                line.push('\\');
                line.push(escape);
            }
            None if !is_printable(c) || all => line.push_str(&numbered(c)),
            None if c == ' ' => {
                let inside = !first && !rest.as_str().is_empty();
                if line.blank(inside && !after_blank) && rest.as_str().starts_with(' ') {
                    // Otherwise it would be taken for part of the margin.
                    line.push('\\');
                }
            }
            None => line.push(c),
        }
        after_blank = c == ' ' && !all;
        first = false;
    }
    line.push('"');
}

fn escape(c: char) -> Option<char> {
    Some(match c {
        '"' | '\\' => c,
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
        '\u{2028}' => 'L',
        '\u{2029}' => 'P',
        _ => return None,
    })
}

/// An escape with the character's number.
fn numbered(c: char) -> String {
    match u32::from(c) {
        0xa0 => "\\_".to_owned(),
        number @ ..=0xff => format!("\\x{number:02X}"),
        number @ ..=0xffff => format!("\\u{number:04X}"),
        number => format!("\\U{number:08X}"),
    }
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
    for line in text.split_inclusive(is_break) {
        if !line.starts_with(is_break) {
            indent(out, margin);
        }
        out.push_str(line);
    }
    if !text.ends_with(is_break) {
        out.push('\n');
    }
}

pub(super) fn indent(out: &mut String, mut margin: usize) {
    const BLANKS: &str = "                                                                ";
    while margin > 0 {
        let some = margin.min(BLANKS.len());
        out.push_str(&BLANKS[..some]);
        margin -= some;
    }
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

    #[test]
    fn a_long_string_goes_on_behind_column_80() {
        let words = |count: usize| ["word"].repeat(count).join(" ");
        for (text, written) in [
            (format!("{} a  b c", words(17)), format!("{}\n  a  b c", words(17))),
            (format!("{} : a", words(17)), format!("'{}\n  : a'", words(17))),
            (format!("\t{}  a", words(16)), format!("\"\\t{}\n  \\ a\"", words(16))),
            ("x".repeat(200), "x".repeat(200)),
        ] {
            let mut out = String::new();
            print_string(&mut out, &text, 2);
            assert_eq!(out, format!("{written}\n"), "{text:?}");
        }
    }
}
