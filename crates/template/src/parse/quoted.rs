//! Texts in quotes and characters: what their escapes mean.

use super::{ExpressionKind as Is, Parsed, Parser, wrong};
use crate::lex::{Kind, Token};

impl Parser<'_> {
    pub(super) fn unquote(&self, token: Token) -> Parsed<String> {
        let text = self.source(token.span);
        let inner = text.get(1..text.len().saturating_sub(1)).unwrap_or_default();
        if token.kind == Kind::Raw {
            return Ok(inner.replace('\r', ""));
        }
        if !inner.contains('\\') {
            return Ok(inner.to_owned());
        }
        match unescape(inner, '"').map(String::from_utf8) {
            Some(Ok(text)) => Ok(text),
            Some(Err(_)) => wrong(token.span, format!("{text} is not UTF-8 text")),
            None => wrong(token.span, format!("invalid syntax: {text}")),
        }
    }

    /// A character is a number.
    pub(super) fn character(&self, token: Token) -> Parsed<Is> {
        let text = self.source(token.span);
        let inner = text.get(1..text.len().saturating_sub(1)).unwrap_or_default();
        let mut rest = inner;
        let value = match step(&mut rest, '\'') {
            Some(Piece::Char(c)) => u32::from(c),
            Some(Piece::Byte(byte)) => u32::from(byte),
            None => return wrong(token.span, format!("invalid syntax: {text}")),
        };
        if !rest.is_empty() {
            return wrong(token.span, format!("malformed character constant: {text}"));
        }
        Ok(Is::Int(i64::from(value)))
    }
}

enum Piece {
    Char(char),
    Byte(u8),
}

fn unescape(mut rest: &str, quote: char) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(rest.len());
    while !rest.is_empty() {
        match step(&mut rest, quote)? {
            Piece::Byte(byte) => out.push(byte),
            Piece::Char(c) => out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
    Some(out)
}

fn step(rest: &mut &str, quote: char) -> Option<Piece> {
    let c = take(rest)?;
    if c != '\\' {
        return (c != quote).then_some(Piece::Char(c));
    }
    Some(Piece::Char(match take(rest)? {
        'a' => '\x07',
        'b' => '\x08',
        'f' => '\x0c',
        'n' => '\n',
        'r' => '\r',
        't' => '\t',
        'v' => '\x0b',
        '\\' => '\\',
        c if c == quote => c,
        'x' => return Some(Piece::Byte(u8::try_from(digits(rest, 2, 16)?).ok()?)),
        'u' => char::from_u32(digits(rest, 4, 16)?)?,
        'U' => char::from_u32(digits(rest, 8, 16)?)?,
        c if c.is_digit(8) => {
            let value = c.to_digit(8)? * 64 + digits(rest, 2, 8)?;
            return Some(Piece::Byte(u8::try_from(value).ok()?));
        }
        _ => return None,
    }))
}

fn take(rest: &mut &str) -> Option<char> {
    let mut chars = rest.chars();
    let c = chars.next()?;
    *rest = chars.as_str();
    Some(c)
}

fn digits(rest: &mut &str, count: usize, radix: u32) -> Option<u32> {
    let text = rest.get(..count).filter(|text| text.chars().all(|c| c.is_digit(radix)))?;
    *rest = &rest[count..];
    u32::from_str_radix(text, radix).ok()
}
