//! Classes of characters: `[a-z]`, `\d`, `\pL`, `[[:alpha:]]`.

use std::fmt::Write;

use super::syntax::{Input, code, literal};
use crate::Failure;

/// Behind the opening bracket. Only letters, ranges and names come out, so that nothing in it means more to our engine.
pub(super) fn translate(input: &mut Input<'_>, out: &mut String) -> Result<(), Failure> {
    out.push('[');
    if input.eat("^") {
        out.push('^');
    }
    let mut first = true;
    loop {
        if !first && input.eat("]") {
            out.push(']');
            return Ok(());
        }
        first = false;
        if let Some(rest) = input.rest.strip_prefix("[:")
            && let Some((name, after)) = rest.split_once(":]")
        {
            // A `String` takes everything.
            let _ = write!(out, "[:{name}:]");
            input.rest = after;
            continue;
        }
        if let Some(after) = input.rest.strip_prefix('\\') {
            let before = std::mem::replace(&mut input.rest, after);
            if named(input, out)? {
                continue;
            }
            input.rest = before;
        }
        let from = character(input)?;
        literal(out, from);
        let range = input.rest.starts_with('-') && !input.rest.starts_with("-]");
        if range {
            input.take();
            let to = character(input)?;
            if to < from {
                return input.refuse("invalid character class range");
            }
            out.push('-');
            literal(out, to);
        }
    }
}

fn character(input: &mut Input<'_>) -> Result<char, Failure> {
    match input.take() {
        None => input.refuse("missing closing ]"),
        Some('\\') => code(input),
        Some(other) => Ok(other),
    }
}

/// A class that has a name, behind its backslash; false where there is none.
pub(super) fn named(input: &mut Input<'_>, out: &mut String) -> Result<bool, Failure> {
    const PERL: &[(&str, &str)] = &[
        ("d", "[0-9]"),
        ("D", "[^0-9]"),
        ("s", "[\\t\\n\\x0C\\r ]"),
        ("S", "[^\\t\\n\\x0C\\r ]"),
        ("w", "[0-9A-Za-z_]"),
        ("W", "[^0-9A-Za-z_]"),
    ];
    for (letter, class) in PERL {
        if input.eat(letter) {
            out.push_str(class);
            return Ok(true);
        }
    }
    let mut negated = match input.rest.as_bytes().first() {
        Some(b'p') => false,
        Some(b'P') => true,
        _ => return Ok(false),
    };
    input.take();
    let name = if input.eat("{") {
        negated ^= input.eat("^");
        input.until("}").map(str::to_owned)
    } else {
        input.take().map(String::from)
    };
    match name.filter(|name| !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_'))
    {
        // A `String` takes everything.
        Some(name) => {
            let _ = write!(out, "\\{}{{{name}}}", if negated { 'P' } else { 'p' });
            Ok(true)
        }
        None => input.refuse("invalid character class range"),
    }
}
