//! An expression in Go's syntax → the same in the syntax of our engine.
//!
//! The two are close relatives, so what is the same passes through and the engine complains of what neither knows. What
//! differs: `\d`, `\w`, `\s`, `\b` are ASCII in Go; `\Q…\E` and octal codes; a `{` that begins no repetition is a
//! character; a repetition of a repetition is an error; flags and escapes that Go does not know.

use std::fmt::Write;

use super::{class, refused};
use crate::Failure;

/// What is left to read.
pub(super) struct Input<'p> {
    pub(super) pattern: &'p str,
    pub(super) rest: &'p str,
}

impl<'p> Input<'p> {
    pub(super) fn take(&mut self) -> Option<char> {
        let character = self.rest.chars().next()?;
        self.rest = &self.rest[character.len_utf8()..];
        Some(character)
    }

    pub(super) fn eat(&mut self, text: &str) -> bool {
        let after = self.rest.strip_prefix(text);
        self.rest = after.unwrap_or(self.rest);
        after.is_some()
    }

    pub(super) fn refuse<T>(&self, why: &str) -> Result<T, Failure> {
        Err(refused(self.pattern, why))
    }

    /// Up to where `end` begins.
    pub(super) fn until(&mut self, end: &str) -> Option<&'p str> {
        let (before, after) = self.rest.split_once(end)?;
        self.rest = after;
        Some(before)
    }
}

pub(super) fn translate(pattern: &str) -> Result<String, Failure> {
    let mut input = Input { pattern, rest: pattern };
    let mut out = String::with_capacity(pattern.len() + 16);
    let mut after_repetition = false;
    while let Some(character) = input.take() {
        let mut repetition = false;
        match character {
            '\\' => escape(&mut input, &mut out)?,
            '[' => class::translate(&mut input, &mut out)?,
            '(' => {
                out.push('(');
                if input.eat("?") {
                    group(&mut input, &mut out)?;
                }
            }
            '*' | '+' | '?' => {
                repetition = true;
                out.push(character);
            }
            '{' => match bounds(input.rest)? {
                Some(length) => {
                    repetition = true;
                    out.push('{');
                    out.push_str(&input.rest[..length]);
                    input.rest = &input.rest[length..];
                }
                None => out.push_str("\\{"),
            },
            '}' => out.push_str("\\}"),
            // Our engine would take these for the beginning of something of its own.
            '&' | '~' | '#' | '-' => literal(&mut out, character),
            other => out.push(other),
        }
        if repetition {
            if after_repetition {
                return input.refuse("invalid nested repetition operator");
            }
            if input.eat("?") {
                out.push('?');
            }
        }
        after_repetition = repetition;
    }
    Ok(out)
}

pub(super) fn literal(out: &mut String, character: char) {
    // A `String` takes everything.
    let _ = write!(out, "\\x{{{:X}}}", u32::from(character));
}

fn escape(input: &mut Input<'_>, out: &mut String) -> Result<(), Failure> {
    if input.eat("Q") {
        let text = input.until("\\E").unwrap_or_else(|| std::mem::take(&mut input.rest));
        text.chars().for_each(|character| literal(out, character));
        return Ok(());
    }
    for (letter, same) in [("b", "(?-u:\\b)"), ("B", "(?-u:\\B)"), ("A", "\\A"), ("z", "\\z")] {
        if input.eat(letter) {
            out.push_str(same);
            return Ok(());
        }
    }
    if class::named(input, out)? {
        return Ok(());
    }
    let character = code(input)?;
    literal(out, character);
    Ok(())
}

/// The character that an escape stands for, behind its backslash.
pub(super) fn code(input: &mut Input<'_>) -> Result<char, Failure> {
    let Some(character) = input.take() else {
        return input.refuse("trailing backslash at end of expression");
    };
    let code = match character {
        'a' => 7,
        'f' => 12,
        't' => 9,
        'n' => 10,
        'r' => 13,
        'v' => 11,
        '1'..='7' if !input.rest.starts_with(|next: char| next.is_digit(8)) => {
            return input.refuse("invalid escape sequence");
        }
        '0'..='7' => {
            let mut code = character.to_digit(8).unwrap_or_default();
            for _ in 0..2 {
                let Some(digit) = input.rest.chars().next().and_then(|next| next.to_digit(8)) else { break };
                code = code * 8 + digit;
                input.take();
            }
            code
        }
        'x' => hexadecimal(input)?,
        other if other.is_ascii() && !other.is_ascii_alphanumeric() => u32::from(other),
        _ => return input.refuse("invalid escape sequence"),
    };
    char::from_u32(code).map_or_else(|| input.refuse("invalid escape sequence"), Ok)
}

fn hexadecimal(input: &mut Input<'_>) -> Result<u32, Failure> {
    let digits = if input.eat("{") {
        input.until("}")
    } else {
        let digits = input.rest.get(..2);
        input.rest = input.rest.get(2..).unwrap_or_default();
        digits
    };
    let code = digits.filter(|digits| digits.bytes().all(|digit| digit.is_ascii_hexdigit()));
    match code.and_then(|digits| u32::from_str_radix(digits, 16).ok()) {
        Some(code) => Ok(code),
        None => input.refuse("invalid escape sequence"),
    }
}

/// Behind `(?`: a name, or flags that Go knows.
fn group(input: &mut Input<'_>, out: &mut String) -> Result<(), Failure> {
    if input.eat("P<") || input.eat("<") {
        return match input.until(">") {
            Some(name) if is_name(name) => {
                // A `String` takes everything.
                let _ = write!(out, "?P<{name}>");
                Ok(())
            }
            _ => input.refuse("invalid named capture"),
        };
    }
    out.push('?');
    loop {
        match input.take() {
            Some(flag @ ('i' | 'm' | 's' | 'U' | '-')) => out.push(flag),
            Some(end @ (':' | ')')) => {
                out.push(end);
                return Ok(());
            }
            _ => return input.refuse("invalid or unsupported Perl syntax"),
        }
    }
}

fn is_name(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|character| character.is_ascii_alphanumeric() || character == '_')
}

/// The length of `n}`, `n,}` or `n,m}`, if that is what stands there.
fn bounds(rest: &str) -> Result<Option<usize>, Failure> {
    let Some((inner, _)) = rest.split_once('}') else { return Ok(None) };
    let (least, most) = inner.split_once(',').map_or((inner, inner), |(least, most)| (least, most));
    let is_number = |digits: &str| {
        !digits.is_empty()
            && digits.bytes().all(|digit| digit.is_ascii_digit())
            && (digits.len() == 1 || !digits.starts_with('0'))
    };
    if !is_number(least) || !(most.is_empty() || is_number(most)) {
        return Ok(None);
    }
    let number = |digits: &str| digits.parse::<u32>().unwrap_or(u32::MAX);
    let too_many =
        number(least) > 1000 || (!most.is_empty() && (number(most) > 1000 || number(least) > number(most)));
    if too_many {
        return Err(refused(rest, "invalid repeat count"));
    }
    Ok(Some(inner.len() + 1))
}
