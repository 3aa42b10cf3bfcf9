//! Words and their letters: cases, initials, abbreviations, lines.

use super::{
    TableEntry, letters,
    strings::{cut, is_space},
};
use crate::{Call, Failure, Value};

pub(super) const TABLE: &[TableEntry] = &[
    ("upper", |call| letter_by_letter(call, letters::upper)),
    ("lower", |call| letter_by_letter(call, letters::lower)),
    ("title", |call| text(call, title)),
    ("untitle", |call| text(call, untitle)),
    ("swapcase", |call| text(call, swap_case)),
    ("nospace", |call| {
        text(call, |text| bytes_as_letters(text).filter(|letter| !is_space(*letter)).collect())
    }),
    ("initials", |call| text(call, initials)),
    ("snakecase", |call| text(call, |text| super::casing::joined_by(text, '_'))),
    ("kebabcase", |call| text(call, |text| super::casing::joined_by(text, '-'))),
    ("camelcase", |call| text(call, super::casing::pascal)),
    ("abbrev", |call| {
        call.exactly(2)?;
        let (width, text) = (call.int(0)?, call.text(1)?);
        if width < 4 { Ok(Value::Text(text)) } else { abbreviate(&text, 0, width) }
    }),
    ("abbrevboth", |call| {
        call.exactly(3)?;
        let (left, right, text) = (call.int(0)?, call.int(1)?, call.text(2)?);
        if right < 4 || (left > 0 && right < 7) {
            Ok(Value::Text(text))
        } else {
            abbreviate(&text, left, right)
        }
    }),
    ("wrap", |call| {
        call.exactly(2)?;
        let (width, text) = (call.int(0)?, call.text(1)?);
        wrap(call, &text, width, "\n", false)
    }),
    ("wrapWith", |call| {
        call.exactly(3)?;
        let (width, end, text) = (call.int(0)?, call.text(1)?, call.text(2)?);
        wrap(call, &text, width, if end.is_empty() { "\n" } else { &end }, true)
    }),
];

fn text(call: &mut Call<'_>, change: fn(&str) -> String) -> Result<Value, Failure> {
    call.exactly(1)?;
    let text = call.text(0)?;
    call.host.spend(text.len())?;
    Ok(change(&text).into())
}

fn letter_by_letter(call: &mut Call<'_>, change: fn(char) -> char) -> Result<Value, Failure> {
    call.exactly(1)?;
    let text = call.text(0)?;
    call.host.spend(text.len())?;
    Ok(text.chars().map(change).collect::<String>().into())
}

/// The first letter of every word in title case. An apostrophe ends a word; a `_` does not.
fn title(text: &str) -> String {
    let separates = |character: char| {
        if character.is_ascii() {
            !(character.is_ascii_alphanumeric() || character == '_')
        } else {
            !letters::is_letter(character) && !letters::is_digit(character) && is_space(character)
        }
    };
    let mut before = ' ';
    let letter = |character| {
        let letter = if separates(before) { letters::title(character) } else { character };
        before = character;
        letter
    };
    text.chars().map(letter).collect()
}

fn untitle(text: &str) -> String {
    let mut first = true;
    let letter = |character| {
        let letter = if first && !is_space(character) { letters::lower(character) } else { character };
        first = is_space(character);
        letter
    };
    text.chars().map(letter).collect()
}

fn swap_case(text: &str) -> String {
    let mut begins = true;
    let letter = |character| {
        if letters::is_upper(character) || letters::is_title(character) {
            begins = false;
            letters::lower(character)
        } else if letters::is_lower(character) {
            if std::mem::take(&mut begins) { letters::title(character) } else { letters::upper(character) }
        } else {
            begins = is_space(character);
            character
        }
    };
    text.chars().map(letter).collect()
}

/// The original goes through bytes and takes each for a letter.
fn bytes_as_letters(text: &str) -> impl Iterator<Item = char> {
    text.bytes().map(char::from)
}

fn initials(text: &str) -> String {
    let mut gap = true;
    let first = |letter: &char| {
        let space = is_space(*letter);
        let first = gap && !space;
        gap = space || (gap && !first);
        first
    };
    bytes_as_letters(text).filter(first).collect()
}

/// Not longer than `width` bytes, with dots where something is missing.
fn abbreviate(text: &str, offset: i64, width: i64) -> Result<Value, Failure> {
    let length = i64::try_from(text.len()).unwrap_or(i64::MAX);
    if length <= width {
        return Ok(text.into());
    }
    let offset = offset.min(length);
    let offset = if length.wrapping_sub(offset) < width - 3 { length - (width - 3) } else { offset };
    let index = |index: i64| usize::try_from(index).unwrap_or_default();
    let part = |from: i64, to: i64| match cut(text, index(from), index(to))? {
        Value::Text(text) => Ok(text),
        _ => Err(Failure::new("no text")),
    };
    if offset <= 4 {
        return Ok(format!("{}...", part(0, width - 3)?).into());
    }
    if width < 7 {
        return Ok("".into());
    }
    if offset + width - 3 < length {
        return Ok(format!("...{}...", part(offset, offset + width - 6)?).into());
    }
    Ok(format!("...{}", part(length - (width - 3), length)?).into())
}

/// Lines of at most `width` bytes, broken at blanks.
fn wrap(call: &mut Call<'_>, text: &str, width: i64, end: &str, break_words: bool) -> Result<Value, Failure> {
    let width = usize::try_from(width.max(1)).unwrap_or(usize::MAX);
    let mut out = super::budget::Paid::new(call.host);
    let mut rest = text;
    while rest.len() > width {
        if let Some(after) = rest.strip_prefix(' ') {
            rest = after;
            continue;
        }
        let bytes = rest.as_bytes();
        let last_blank = bytes[..=width].iter().rposition(|byte| *byte == b' ');
        let (line, skip) = match last_blank {
            Some(at) => (at, 1),
            None if break_words => (width, 0),
            None => match bytes[width..].iter().position(|byte| *byte == b' ') {
                Some(at) => (width + at, 1),
                None => {
                    out.push(rest)?;
                    rest = "";
                    break;
                }
            },
        };
        let Value::Text(part) = cut(rest, 0, line)? else { break };
        out.push(&part)?;
        out.push(end)?;
        rest = &rest[line + skip..];
    }
    out.push(rest)?;
    Ok(out.text.into())
}
