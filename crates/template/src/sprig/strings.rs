//! Strings: cutting, joining, indenting, quoting.

use std::rc::Rc;

use super::{
    TableEntry,
    args::as_list,
    print::{quoted, text_of},
};
use crate::{Call, Failure, List, Map, Value};

pub(super) const TABLE: &[TableEntry] = &[
    ("hello", |call| {
        call.exactly(0)?;
        Ok("Hello!".into())
    }),
    ("trim", |call| one(call, |text| text.trim_matches(is_space))),
    ("trimAll", trim_all),
    ("trimall", trim_all),
    ("trimSuffix", |call| {
        call.exactly(2)?;
        let (suffix, text) = (call.text(0)?, call.text(1)?);
        Ok(text.strip_suffix(&*suffix).unwrap_or(&text).into())
    }),
    ("trimPrefix", |call| {
        call.exactly(2)?;
        let (prefix, text) = (call.text(0)?, call.text(1)?);
        Ok(text.strip_prefix(&*prefix).unwrap_or(&text).into())
    }),
    ("contains", |call| test(call, |part, text| text.contains(part))),
    ("hasPrefix", |call| test(call, |part, text| text.starts_with(part))),
    ("hasSuffix", |call| test(call, |part, text| text.ends_with(part))),
    ("repeat", |call| {
        call.exactly(2)?;
        let (count, text) = (call.int(0)?, call.text(1)?);
        let count = usize::try_from(count).map_err(|_| Failure::new("negative count"))?;
        call.host.spend(text.len().saturating_mul(count))?;
        Ok(text.repeat(count).into())
    }),
    ("replace", |call| {
        call.exactly(3)?;
        let (old, new, text) = (call.text(0)?, call.text(1)?, call.text(2)?);
        replace(call, &text, &old, &new)
    }),
    ("trunc", |call| {
        call.exactly(2)?;
        let (count, text) = (call.int(0)?, call.text(1)?);
        let size = usize::try_from(count.unsigned_abs()).unwrap_or(usize::MAX);
        match () {
            () if size >= text.len() => Ok(text.as_ref().into()),
            () if count < 0 => cut(&text, text.len() - size, text.len()),
            () => cut(&text, 0, size),
        }
    }),
    ("substr", substr),
    ("quote", |call| each(call, |call, value| Ok(quoted(&text_of(value, call.host)?)))),
    ("squote", |call| each(call, |call, value| Ok(format!("'{}'", text_of(value, call.host)?)))),
    ("cat", |call| each(call, |call, value| Ok(text_of(value, call.host)?.to_string()))),
    ("indent", |call| {
        let text = indented(call)?;
        Ok(text.into())
    }),
    ("nindent", |call| {
        let text = indented(call)?;
        Ok(format!("\n{text}").into())
    }),
    ("plural", |call| {
        call.exactly(3)?;
        let (one, many, count) = (call.text(0)?, call.text(1)?, call.int(2)?);
        Ok(Value::Text(if count == 1 { one } else { many }))
    }),
    ("toString", |call| {
        call.exactly(1)?;
        Ok(Value::Text(text_of(&call.any(0), call.host)?))
    }),
    ("toStrings", |call| {
        call.exactly(1)?;
        Ok(List::texts(strings(&call.any(0), call)?).into())
    }),
    ("join", join),
    ("sortAlpha", |call| {
        call.exactly(1)?;
        let value = call.any(0);
        let mut texts = match value {
            Value::Nil => vec!["<nil>".into()],
            other => strings(&other, call)?,
        };
        texts.sort();
        Ok(List::texts(texts).into())
    }),
    ("splitList", |call| {
        call.exactly(2)?;
        let parts = split(call, 0, 1, -1)?;
        Ok(List::texts(parts).into())
    }),
    ("split", |call| {
        call.exactly(2)?;
        let parts = split(call, 0, 1, -1)?;
        Ok(numbered(parts))
    }),
    ("splitn", |call| {
        call.exactly(3)?;
        call.text(0)?;
        let count = call.int(1)?;
        let parts = split(call, 0, 2, count)?;
        Ok(numbered(parts))
    }),
];

fn one(call: &Call<'_>, change: fn(&str) -> &str) -> Result<Value, Failure> {
    call.exactly(1)?;
    Ok(change(&call.text(0)?).into())
}

fn test(call: &Call<'_>, test: fn(&str, &str) -> bool) -> Result<Value, Failure> {
    call.exactly(2)?;
    Ok(test(&call.text(0)?, &call.text(1)?).into())
}

/// Go's idea of white space.
pub(super) fn is_space(character: char) -> bool {
    matches!(character, '\t'..='\r' | ' ' | '\u{85}' | '\u{a0}' | '\u{1680}' | '\u{2000}'..='\u{200a}')
        || matches!(character, '\u{2028}' | '\u{2029}' | '\u{202f}' | '\u{205f}' | '\u{3000}')
}

fn trim_all(call: &mut Call<'_>) -> Result<Value, Failure> {
    call.exactly(2)?;
    let (set, text) = (call.text(0)?, call.text(1)?);
    Ok(text.trim_matches(|character| set.contains(character)).into())
}

fn replace(call: &mut Call<'_>, text: &str, old: &str, new: &str) -> Result<Value, Failure> {
    let count = if old.is_empty() { text.chars().count() + 1 } else { text.matches(old).count() };
    call.host.spend(text.len().saturating_add(count.saturating_mul(new.len())))?;
    Ok(text.replace(old, new).into())
}

/// A part by its bytes.
pub(super) fn cut(text: &str, start: usize, end: usize) -> Result<Value, Failure> {
    text.get(start..end).map(Value::from).ok_or_else(|| {
        Failure::new(if start > end || end > text.len() {
            format!("slice bounds out of range [{start}:{end}] with length {}", text.len())
        } else {
            format!("cutting {} at bytes {start} and {end} would split a character", quoted(text))
        })
    })
}

fn substr(call: &mut Call<'_>) -> Result<Value, Failure> {
    call.exactly(3)?;
    let (start, end, text) = (call.int(0)?, call.int(1)?, call.text(2)?);
    let index = |index: i64| usize::try_from(index).unwrap_or(usize::MAX);
    match () {
        () if start < 0 => cut(&text, 0, index(end)),
        () if end < 0 || index(end) > text.len() => cut(&text, index(start), text.len()),
        () => cut(&text, index(start), index(end)),
    }
}

/// All that is not nothing, each turned into a text, with blanks between.
fn each(
    call: &mut Call<'_>,
    text: fn(&mut Call<'_>, &Value) -> Result<String, Failure>,
) -> Result<Value, Failure> {
    let mut all = String::new();
    for (index, value) in call.args.iter().filter(|value| !matches!(value, Value::Nil)).enumerate() {
        let text = text(call, value)?;
        call.host.spend(text.len() + 1)?;
        if index > 0 {
            all.push(' ');
        }
        all.push_str(&text);
    }
    Ok(all.into())
}

fn indented(call: &mut Call<'_>) -> Result<String, Failure> {
    call.exactly(2)?;
    let (width, text) = (call.int(0)?, call.text(1)?);
    let width = usize::try_from(width).map_err(|_| Failure::new("negative count"))?;
    let lines = text.bytes().filter(|byte| *byte == b'\n').count() + 1;
    let size = text.len().saturating_add(lines.saturating_mul(width));
    call.host.spend(size)?;
    let mut out = String::with_capacity(size + 1);
    for (index, line) in text.split('\n').enumerate() {
        if index > 0 {
            out.push('\n');
        }
        out.extend(std::iter::repeat_n(' ', width));
        out.push_str(line);
    }
    Ok(out)
}

/// A list's items as texts, without those that are nothing; anything else as the only text of a list.
fn strings(value: &Value, call: &mut Call<'_>) -> Result<Vec<Rc<str>>, Failure> {
    match (as_list(value), value) {
        (Some(list), _) => {
            let items = list.iter().filter(|item| !matches!(item, Value::Nil));
            items.map(|item| text_of(item, call.host)).collect()
        }
        (None, Value::Nil) => Ok(Vec::new()),
        (None, other) => Ok(vec![text_of(other, call.host)?]),
    }
}

fn join(call: &mut Call<'_>) -> Result<Value, Failure> {
    call.exactly(2)?;
    let separator = call.text(0)?;
    let value = call.any(1);
    let items = match as_list(&value) {
        Some(list) => list.to_vec(),
        None => vec![value],
    };
    let mut texts = Vec::with_capacity(items.len());
    for item in items.iter().filter(|item| !matches!(item, Value::Nil)) {
        texts.push(text_of(item, call.host)?);
    }
    let size = texts.iter().map(|text| text.len().saturating_add(separator.len()));
    call.host.spend(size.fold(0, usize::saturating_add))?;
    Ok(texts.join(&*separator).into())
}

/// Go's `SplitN`; fewer than zero is all.
fn split(call: &mut Call<'_>, separator: usize, text: usize, count: i64) -> Result<Vec<Rc<str>>, Failure> {
    let (separator, text) = (call.text(separator)?, call.text(text)?);
    let most = usize::try_from(count).unwrap_or(usize::MAX);
    if most == 0 {
        return Ok(Vec::new());
    }
    if separator.is_empty() {
        call.host.spend(text.len().saturating_mul(32))?;
        let mut parts: Vec<Rc<str>> = Vec::new();
        for (at, character) in text.char_indices() {
            if parts.len() + 1 == most {
                parts.push(text[at..].into());
                break;
            }
            parts.push(text[at..at + character.len_utf8()].into());
        }
        return Ok(parts);
    }
    call.host.spend((text.matches(&*separator).count() + 1).saturating_mul(32))?;
    Ok(text.splitn(most, &*separator).map(Rc::from).collect())
}

fn numbered(parts: Vec<Rc<str>>) -> Value {
    let map = Map::texts();
    for (index, part) in parts.into_iter().enumerate() {
        map.insert(format!("_{index}"), Value::Text(part));
    }
    map.into()
}
