//! Scalars in quotes.

use std::borrow::Cow;

use super::{Leaf, Parser, Result, plain::fold};
use crate::{Code, yaml::tree::Kind};

impl<'s> Parser<'s> {
    pub(super) fn single_quoted(&mut self) -> Result<Leaf<'s>> {
        self.quoted(b'\'')
    }

    pub(super) fn double_quoted(&mut self) -> Result<Leaf<'s>> {
        self.quoted(b'"')
    }

    fn quoted(&mut self, quote: u8) -> Result<Leaf<'s>> {
        let start = self.at;
        self.at += 1;
        let mut text = String::new();
        // What was read since, and stands in the text as written.
        let mut from = self.at;
        loop {
            match self.peek() {
                0 if self.at >= self.bytes.len() => return self.unclosed(start),
                byte if byte == quote => {
                    if quote == b'\'' && self.bytes.get(self.at + 1) == Some(&b'\'') {
                        text.push_str(&self.text[from..=self.at]);
                        self.at += 2;
                        from = self.at;
                        continue;
                    }
                    break;
                }
                b'\\' if quote == b'"' => {
                    text.push_str(&self.text[from..self.at]);
                    if self.line_break(self.at + 1) > 0 {
                        self.at += 1;
                        self.end_line();
                        let more = self.margin(start)?;
                        text.push_str(&more);
                    } else {
                        text.push(self.escape()?);
                    }
                    from = self.at;
                }
                b' ' | b'\t' | b'\n' | b'\r' | 0xc2 | 0xe2 => {
                    let blanks =
                        self.bytes[self.at..].iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
                    if self.line_break(self.at + blanks) == 0 {
                        self.at += blanks.max(1);
                        continue;
                    }
                    text.push_str(&self.text[from..self.at]);
                    self.at += blanks;
                    let first = self.end_line();
                    let more = self.margin(start)?;
                    fold(&mut text, first, &more);
                    from = self.at;
                }
                _ => self.at += 1,
            }
        }
        let rest = &self.text[from..self.at];
        self.at += 1;
        let text = if from == start + 1 {
            Cow::Borrowed(rest)
        } else {
            text.push_str(rest);
            Cow::Owned(text)
        };
        Ok(Leaf { kind: Kind::Quoted, text, span: start..self.at })
    }

    /// Over the blanks in front of a line and over empty lines; gives the line breaks.
    fn margin(&mut self, start: usize) -> Result<String> {
        let mut breaks = String::new();
        loop {
            if self.at_marker() {
                return self.unclosed(start);
            }
            match self.peek() {
                b' ' | b'\t' => self.at += 1,
                _ if self.line_break(self.at) > 0 => breaks.push_str(self.end_line()),
                _ => return Ok(breaks),
            }
        }
    }

    fn escape(&mut self) -> Result<char> {
        let start = self.at;
        let simple = match self.bytes.get(self.at + 1) {
            Some(b'0') => '\0',
            Some(b'a') => '\x07',
            Some(b'b') => '\x08',
            Some(b't' | b'\t') => '\t',
            Some(b'n') => '\n',
            Some(b'v') => '\x0b',
            Some(b'f') => '\x0c',
            Some(b'r') => '\r',
            Some(b'e') => '\x1b',
            Some(byte @ (b' ' | b'"' | b'\'' | b'\\')) => char::from(*byte),
            Some(b'/') if self.json => '/',
            Some(b'N') => '\u{85}',
            Some(b'_') => '\u{a0}',
            Some(b'L') => '\u{2028}',
            Some(b'P') => '\u{2029}',
            Some(b'x') => return self.coded(start, 2),
            Some(b'u') => return self.coded(start, 4),
            Some(b'U') => return self.coded(start, 8),
            _ => {
                let hint = "write `\\\\` for a backslash, or use single quotes";
                return self.syntax_hint("there is no such escape", hint);
            }
        };
        self.at += 2;
        Ok(simple)
    }

    /// A character by its number; in JSON, one in two halves or, from half of one, the replacement character.
    fn coded(&mut self, start: usize, digits: usize) -> Result<char> {
        let number = self.hex(start + 2, digits);
        self.at = start + 2 + digits;
        let number = match number {
            None => {
                self.at = start;
                return self.syntax(format!("{digits} hexadecimal digits are expected in this escape"));
            }
            Some(high @ 0xd800..=0xdbff) if self.json => {
                let low =
                    self.bytes[self.at..].starts_with(b"\\u").then(|| self.hex(self.at + 2, 4)).flatten();
                match low {
                    Some(low @ 0xdc00..=0xdfff) => {
                        self.at += 6;
                        0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00)
                    }
                    _ => 0xfffd,
                }
            }
            Some(0xdc00..=0xdfff) if self.json => 0xfffd,
            Some(number) => number,
        };
        match char::from_u32(number) {
            Some(character) => Ok(character),
            None => {
                self.at = start;
                self.syntax("no character has this number")
            }
        }
    }

    fn hex(&self, at: usize, digits: usize) -> Option<u32> {
        let digits = self.bytes.get(at..at + digits)?;
        digits.iter().try_fold(0u32, |number, digit| {
            let digit = char::from(*digit).to_digit(16)?;
            number.checked_mul(16)?.checked_add(digit)
        })
    }

    #[cold]
    fn unclosed<T>(&self, start: usize) -> Result<T> {
        Err(self.refusal(Code::Syntax, "the document ends, and the quote is not closed", start..start + 1))
    }
}
