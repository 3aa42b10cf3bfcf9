//! The text of a path, split into segments.

use std::borrow::Cow;

use super::SetError;

/// One step of a path as it was typed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Segment {
    Field(String),
    /// `[0]`; negative ones and those past the end append.
    Index(i64),
    /// `[key:value]`
    Item {
        key: String,
        value: String,
    },
}

/// Splits a path. `a[0].b`, `a.[0].b`.
pub(super) fn split(path: &str) -> Result<Vec<Segment>, SetError> {
    let clean = clean(path);
    let inner = clean.strip_prefix('.').unwrap_or(&clean);
    let inner = inner.strip_suffix('.').unwrap_or(inner);
    let mut segments = Vec::new();
    for part in unescaped_dots(inner) {
        if part.is_empty() {
            continue;
        }
        let part = part.replace("\\.", ".");
        match part.find('[') {
            Some(0) => segments.push(bracket(&part)?),
            Some(at) => {
                segments.push(Segment::Field(part[..at].to_owned()));
                segments.push(bracket(&part[at..])?);
            }
            None => segments.push(Segment::Field(part)),
        }
    }
    Ok(segments)
}

fn bracket(part: &str) -> Result<Segment, SetError> {
    let unknown = || SetError::Segment { segment: part.to_owned() };
    let inner = part.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).ok_or_else(unknown)?;
    if let Some((key, value)) = inner.split_once(':') {
        return Ok(Segment::Item { key: key.to_owned(), value: value.to_owned() });
    }
    inner.parse().map(Segment::Index).map_err(|_| unknown())
}

/// Parts a text at dots; one behind a backslash is none.
fn unescaped_dots(text: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut start = 0;
    let bytes = text.as_bytes();
    for (at, _) in text.match_indices('.') {
        if at == 0 || bytes[at - 1] != b'\\' {
            parts.push(&text[start..at]);
            start = at + 1;
        }
    }
    parts.push(&text[start..]);
    parts
}

/// A path is cleaned as if it was one of files: names of annotations have slashes, and double ones become one.
fn clean(path: &str) -> Cow<'_, str> {
    let rooted = path.starts_with('/');
    if !path.is_empty()
        && !path.contains("//")
        && !path.split('/').any(|part| matches!(part, "." | ".." | ""))
    {
        return Cow::Borrowed(path);
    }
    let mut kept: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." if kept.last().is_some_and(|last| *last != "..") => {
                kept.pop();
            }
            ".." if rooted => {}
            part => kept.push(part),
        }
    }
    let joined = kept.join("/");
    match (rooted, joined.is_empty()) {
        (true, _) => Cow::Owned(format!("/{joined}")),
        (false, true) => Cow::Borrowed("."),
        (false, false) => Cow::Owned(joined),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::*;

    #[test]
    fn a_path_is_split_at_dots_and_brackets() {
        let field = |name: &str| Segment::Field(name.to_owned());
        for (text, segments) in [
            ("a.b", vec![field("a"), field("b")]),
            (".a..b.", vec![field("a"), field("b")]),
            ("a[0].b", vec![field("a"), Segment::Index(0), field("b")]),
            ("a.[-1]", vec![field("a"), Segment::Index(-1)]),
            (r"a.x\.y/z", vec![field("a"), field("x.y/z")]),
            (
                r"a.[name:x\.y]",
                vec![field("a"), Segment::Item { key: "name".to_owned(), value: "x.y".to_owned() }],
            ),
            ("a//b/./c/../d", vec![field("a/b/d")]),
            ("", vec![]),
        ] {
            assert_eq!(split(text).unwrap(), segments, "{text}");
        }
    }

    #[test]
    fn a_bracket_that_selects_nothing_is_refused() {
        for text in ["a.[x]", "a[0][1]", "a[", "a.[0"] {
            assert!(matches!(split(text), Err(SetError::Segment { .. })), "{text}");
        }
    }
}
