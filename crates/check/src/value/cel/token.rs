//! The words of an expression: the longest that fits, the first kind that fits.

use super::Wrong;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Word {
    Identifier,
    /// In backquotes.
    Quoted,
    Int,
    Uint,
    Double,
    Text,
    Bytes,
    /// An operator, a bracket, or one of `in`, `true`, `false`, `null`: what it is says its text.
    Sign,
    /// Stands behind the last.
    End,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Token<'a> {
    pub word: Word,
    pub text: &'a str,
    /// The byte at which it begins.
    pub at: usize,
}

/// Longer ones first: `<=` is not `<` and `=`.
const SIGNS: &[&str] = &[
    "==", "!=", "<=", ">=", "&&", "||", "<", ">", "[", "]", "{", "}", "(", ")", ".", ",", "-", "!", "?", ":",
    "+", "*", "/", "%",
];

pub(super) fn tokens(source: &str) -> Result<Vec<Token<'_>>, Wrong> {
    let mut tokens = Vec::new();
    let mut at = 0;
    loop {
        let rest = &source[at..];
        let blank = blank(rest);
        if blank > 0 {
            at += blank;
            continue;
        }
        if rest.is_empty() {
            tokens.push(Token { word: Word::End, text: "", at });
            return Ok(tokens);
        }
        let Some((word, length)) = next(rest) else {
            let shown: String = rest.chars().take(10).collect();
            return Err(Wrong {
                at: source[..at].chars().count(),
                message: format!("cannot read {shown:?}: an unknown character, or a text that is not closed"),
            });
        };
        tokens.push(Token { word, text: &rest[..length], at });
        at += length;
    }
}

/// The length of the white space or the comment that it begins with.
fn blank(rest: &str) -> usize {
    if rest.starts_with("//") {
        return rest.find('\n').unwrap_or(rest.len());
    }
    rest.bytes().take_while(|byte| matches!(byte, b' ' | b'\t' | b'\r' | b'\n' | 0x0c)).count()
}

fn next(rest: &str) -> Option<(Word, usize)> {
    if let Some(length) = bytes(rest) {
        return Some((Word::Bytes, length));
    }
    if let Some(length) = text(rest) {
        return Some((Word::Text, length));
    }
    let first = rest.bytes().next()?;
    if first.is_ascii_alphabetic() || first == b'_' {
        let length = count(rest, |byte| byte.is_ascii_alphanumeric() || byte == b'_');
        let sign = matches!(&rest[..length], "in" | "true" | "false" | "null");
        return Some((if sign { Word::Sign } else { Word::Identifier }, length));
    }
    if let Some(number) = number(rest) {
        return Some(number);
    }
    if first == b'`' {
        let inner = count(&rest[1..], |byte| byte.is_ascii_alphanumeric() || b"_.-/ ".contains(&byte));
        let closed = inner > 0 && rest[1 + inner..].starts_with('`');
        return closed.then_some((Word::Quoted, inner + 2));
    }
    SIGNS.iter().find(|sign| rest.starts_with(**sign)).map(|sign| (Word::Sign, sign.len()))
}

fn count(text: &str, is: impl Fn(u8) -> bool) -> usize {
    text.bytes().take_while(|byte| is(*byte)).count()
}

fn number(rest: &str) -> Option<(Word, usize)> {
    let digits = |text: &str| count(text, |byte| byte.is_ascii_digit());
    let unsigned = |end: usize| {
        let is = rest[end..].starts_with(['u', 'U']);
        if is { (Word::Uint, end + 1) } else { (Word::Int, end) }
    };
    if let Some(hex) = rest.strip_prefix("0x") {
        let length = count(hex, |byte| byte.is_ascii_hexdigit());
        if length > 0 {
            return Some(unsigned(2 + length));
        }
    }
    let whole = digits(rest);
    let mut end = whole;
    if rest[end..].starts_with('.') {
        let fraction = digits(&rest[end + 1..]);
        if fraction > 0 {
            end += 1 + fraction;
        }
    }
    if end == 0 {
        return None;
    }
    let exponent = rest[end..].strip_prefix(['e', 'E']).map_or(0, |power| {
        let sign = usize::from(power.starts_with(['+', '-']));
        let length = digits(&power[sign..]);
        if length > 0 { 1 + sign + length } else { 0 }
    });
    if end == whole && exponent == 0 {
        return Some(unsigned(end));
    }
    Some((Word::Double, end + exponent))
}

fn bytes(rest: &str) -> Option<usize> {
    rest.strip_prefix(['b', 'B']).and_then(text).map(|length| length + 1)
}

fn text(rest: &str) -> Option<usize> {
    let (raw, quoted) = match rest.strip_prefix(['r', 'R']) {
        Some(quoted) => (true, quoted),
        None => (false, rest),
    };
    let quote = quoted.bytes().next().filter(|byte| matches!(byte, b'"' | b'\''))?;
    let long: &str = if quote == b'"' { "\"\"\"" } else { "'''" };
    let length = long_text(quoted, long, raw).or_else(|| short_text(quoted, quote, raw))?;
    Some(length + usize::from(raw))
}

fn long_text(quoted: &str, mark: &str, raw: bool) -> Option<usize> {
    let mut at = quoted.strip_prefix(mark).map(|_| mark.len())?;
    loop {
        let rest = &quoted[at..];
        if rest.starts_with(mark) {
            return Some(at + mark.len());
        }
        at += match rest.chars().next()? {
            '\\' if !raw => escape(rest)?,
            c => c.len_utf8(),
        };
    }
}

fn short_text(quoted: &str, quote: u8, raw: bool) -> Option<usize> {
    let mut at = 1;
    loop {
        let rest = &quoted[at..];
        at += match rest.chars().next()? {
            c if c == char::from(quote) => return Some(at + 1),
            '\n' | '\r' => return None,
            '\\' if !raw => escape(rest)?,
            c => c.len_utf8(),
        };
    }
}

/// The length of the escape that it begins with, if it is one.
fn escape(rest: &str) -> Option<usize> {
    let hex = |digits: usize| {
        let is =
            rest.get(2..2 + digits).is_some_and(|text| text.bytes().all(|byte| byte.is_ascii_hexdigit()));
        is.then_some(2 + digits)
    };
    match *rest.as_bytes().get(1)? {
        b'a' | b'b' | b'f' | b'n' | b'r' | b't' | b'v' | b'"' | b'\'' | b'\\' | b'?' | b'`' => Some(2),
        b'x' | b'X' => hex(2),
        b'u' => hex(4),
        b'U' => hex(8),
        b'0'..=b'3' => {
            let octal = rest.get(2..4)?.bytes().all(|byte| matches!(byte, b'0'..=b'7'));
            octal.then_some(4)
        }
        _ => None,
    }
}
