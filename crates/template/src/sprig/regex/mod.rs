//! Regular expressions by Go's syntax and Go's rules of finding.

mod class;
mod syntax;

use std::rc::Rc;

use regex::{Captures, Regex, RegexBuilder};

use super::{TableEntry, budget::Paid};
use crate::{Call, Elements, Failure, List, Value};

pub(super) const TABLE: &[TableEntry] = &[
    // An expression that is none matches nothing, and nobody is told.
    ("regexMatch", |call| {
        call.exactly(2)?;
        let (pattern, text) = (call.text(0)?, call.text(1)?);
        Ok(compile(&pattern).is_ok_and(|regex| regex.is_match(&text)).into())
    }),
    ("mustRegexMatch", |call| {
        call.exactly(2)?;
        let (pattern, text) = (call.text(0)?, call.text(1)?);
        Ok(compile(&pattern)?.is_match(&text).into())
    }),
    ("regexFind", find),
    ("mustRegexFind", find),
    ("regexFindAll", find_all),
    ("mustRegexFindAll", find_all),
    ("regexReplaceAll", |call| replace(call, expand)),
    ("mustRegexReplaceAll", |call| replace(call, expand)),
    ("regexReplaceAllLiteral", |call| replace(call, |_, _, with, out| out.push(with))),
    ("mustRegexReplaceAllLiteral", |call| replace(call, |_, _, with, out| out.push(with))),
    ("regexSplit", split),
    ("mustRegexSplit", split),
    ("regexQuoteMeta", |call| {
        call.exactly(1)?;
        let text = call.text(0)?;
        call.host.spend(text.len().saturating_mul(2))?;
        Ok(quote_meta(&text).into())
    }),
];

pub(crate) fn compile(pattern: &str) -> Result<Regex, Failure> {
    let translated = syntax::translate(pattern)?;
    // Go's automata are small; these bounds keep ours small, too.
    let built =
        RegexBuilder::new(&translated).size_limit(4 << 20).dfa_size_limit(2 << 20).nest_limit(250).build();
    built.map_err(|_| refused(pattern, "it cannot be parsed"))
}

fn refused(pattern: &str, why: &str) -> Failure {
    Failure::new(format!("error parsing regexp: `{pattern}`: {why}"))
}

fn find(call: &mut Call<'_>) -> Result<Value, Failure> {
    call.exactly(2)?;
    let (regex, text) = (compile(&call.text(0)?)?, call.text(1)?);
    Ok(regex.find(&text).map_or("", |found| found.as_str()).into())
}

fn most(count: i64) -> usize {
    usize::try_from(count).unwrap_or(usize::MAX)
}

fn find_all(call: &mut Call<'_>) -> Result<Value, Failure> {
    call.exactly(3)?;
    let (pattern, text, count) = (call.text(0)?, call.text(1)?, call.int(2)?);
    let regex = compile(&pattern)?;
    let mut found: Vec<Rc<str>> = Vec::new();
    for one in regex.find_iter(&text).take(most(count)) {
        call.host.spend(one.len() + 32)?;
        found.push(one.as_str().into());
    }
    Ok(if found.is_empty() { List::nil(Elements::Text) } else { List::texts(found) }.into())
}

type Replacement = fn(&Regex, &Captures<'_>, &str, &mut Paid<'_>) -> Result<(), Failure>;

fn replace(call: &mut Call<'_>, replacement: Replacement) -> Result<Value, Failure> {
    call.exactly(3)?;
    let (pattern, text, with) = (call.text(0)?, call.text(1)?, call.text(2)?);
    let regex = compile(&pattern)?;
    let mut out = Paid::new(call.host);
    let mut end = 0;
    for captures in regex.captures_iter(&text) {
        let Some(whole) = captures.get(0) else { continue };
        out.push(&text[end..whole.start()])?;
        replacement(&regex, &captures, &with, &mut out)?;
        end = whole.end();
    }
    out.push(&text[end..])?;
    Ok(out.text.into())
}

/// `$1`, `$name`, `${name}`, `$$`; a name is as long as it can be, one that there is not stands for nothing.
fn expand(regex: &Regex, captures: &Captures<'_>, with: &str, out: &mut Paid<'_>) -> Result<(), Failure> {
    let mut rest = with;
    while let Some((before, after)) = rest.split_once('$') {
        out.push(before)?;
        if let Some(after) = after.strip_prefix('$') {
            out.push("$")?;
            rest = after;
            continue;
        }
        let Some((name, after)) = reference(after) else {
            out.push("$")?;
            rest = after;
            continue;
        };
        let group = match name.parse::<usize>() {
            Ok(index) if index.to_string() == name => captures.get(index),
            // Of several groups of a name the last one that took part counts; here names are unique.
            _ => regex
                .capture_names()
                .flatten()
                .find(|known| *known == name)
                .and_then(|name| captures.name(name)),
        };
        out.push(group.map_or("", |group| group.as_str()))?;
        rest = after;
    }
    out.push(rest)
}

/// The name behind a dollar sign, and what follows it.
fn reference(text: &str) -> Option<(&str, &str)> {
    let braced = text.strip_prefix('{');
    let inner = braced.unwrap_or(text);
    let end = inner.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(inner.len());
    let (name, after) = inner.split_at(end);
    if name.is_empty() {
        return None;
    }
    match braced {
        Some(_) => after.strip_prefix('}').map(|after| (name, after)),
        None => Some((name, after)),
    }
}

fn split(call: &mut Call<'_>) -> Result<Value, Failure> {
    call.exactly(3)?;
    let (pattern, text, count) = (call.text(0)?, call.text(1)?, call.int(2)?);
    let regex = compile(&pattern)?;
    if count == 0 {
        return Ok(List::nil(Elements::Text).into());
    }
    if text.is_empty() && !pattern.is_empty() {
        return Ok(List::texts([""]).into());
    }
    let mut parts: Vec<Rc<str>> = Vec::new();
    let (mut begin, mut end) = (0, 0);
    for found in regex.find_iter(&text).take(most(count)) {
        if count > 0 && parts.len() + 1 == most(count) {
            break;
        }
        end = found.start();
        if found.end() != 0 {
            call.host.spend(end - begin + 32)?;
            parts.push(text[begin..end].into());
        }
        begin = found.end();
    }
    if end != text.len() {
        parts.push(text[begin..].into());
    }
    Ok(List::texts(parts).into())
}

fn quote_meta(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        if "\\.+*?()|[]{}^$".contains(character) {
            out.push('\\');
        }
        out.push(character);
    }
    out
}
