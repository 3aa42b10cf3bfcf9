//! The path language of overlays: `spec.template.spec.containers.[name:discovery].args.[-1]`.
//!
//! Dots separate, `\.` is a dot in a name, and a bracket begins an element of its own. What an element means depends on what
//! it meets: a map takes any element as a key, brackets and all; a list wants a bracket.

use std::fmt;

/// The elements of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Route(pub(super) Vec<Element>);

/// One element, as it was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Element(pub(super) String);

/// Which item of a list an element picks.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Pick<'a> {
    /// By its place; none for one that is added.
    Index(Option<usize>),
    /// `[key:value]`
    Field(&'a str, &'a str),
    /// `[:expression]`, `[expression]`: of a list of plain values.
    Matching(&'a str),
    /// Nothing that could pick an item.
    Nothing,
}

impl Route {
    pub(super) fn parse(path: &str) -> Self {
        let path = clean(path);
        let path = path.strip_prefix('.').unwrap_or(&path);
        let path = path.strip_suffix('.').unwrap_or(path);
        let mut elements = Vec::new();
        for part in split_unescaped(path, '.').into_iter().filter(|part| !part.is_empty()) {
            let part = part.replace("\\.", ".");
            match part.find('[') {
                Some(bracket) if bracket > 0 => {
                    elements.push(Element(part[..bracket].to_owned()));
                    elements.push(Element(part[bracket..].to_owned()));
                }
                _ => elements.push(Element(part)),
            }
        }
        Self(elements)
    }
}

impl fmt::Display for Element {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

impl Element {
    fn inner(&self) -> Option<&str> {
        // A single bracket is both the first and the last letter.
        self.0.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'))
    }

    /// The place in a list: none inside for one behind the end.
    pub(super) fn index(&self) -> Option<Option<usize>> {
        let inner = self.inner()?;
        // Rust reads a plus sign as well, as Go does.
        let number: i64 = inner.parse().ok()?;
        (number >= -1).then(|| usize::try_from(number).ok())
    }

    /// `key` and `value` of `[key:value]`.
    pub(super) fn key_value(&self) -> Option<(&str, &str)> {
        let parts = split_unescaped(self.inner()?, ':');
        let &[key, value] = parts.as_slice() else { return None };
        let plain = |letter: char| letter.is_ascii_alphanumeric() || letter == '_' || letter == '-';
        (!key.is_empty() && !value.is_empty() && key.chars().all(plain)).then_some((key, value))
    }

    /// How it picks an item of a list that is a map, or is none.
    pub(super) fn pick(&self, among_maps: bool) -> Pick<'_> {
        if let Some(index) = self.index() {
            return Pick::Index(index);
        }
        if among_maps {
            return self.key_value().map_or(Pick::Nothing, |(key, value)| Pick::Field(key, value));
        }
        match self.inner() {
            None | Some("") => Pick::Nothing,
            Some(inner) if inner.len() > 1 => Pick::Matching(inner.strip_prefix(':').unwrap_or(inner)),
            Some(inner) => Pick::Matching(inner),
        }
    }
}

/// Splits where the separator has no backslash in front.
fn split_unescaped(text: &str, separator: char) -> Vec<&str> {
    if text.is_empty() {
        return Vec::new();
    }
    let mut parts = Vec::new();
    let (mut start, mut before) = (0, ' ');
    for (at, letter) in text.char_indices() {
        if letter == separator && before != '\\' {
            parts.push(&text[start..at]);
            start = at + letter.len_utf8();
        }
        before = letter;
    }
    parts.push(&text[start..]);
    parts
}

/// The path as a file name without detours: istioctl treats it as one, and annotations have slashes in their names.
fn clean(path: &str) -> String {
    let rooted = path.starts_with('/');
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." if parts.last().is_some_and(|last| *last != "..") => drop(parts.pop()),
            ".." if rooted => {}
            other => parts.push(other),
        }
    }
    let joined = parts.join("/");
    match (rooted, joined.is_empty()) {
        (true, _) => format!("/{joined}"),
        (false, true) => ".".to_owned(),
        (false, false) => joined,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mizzen_testkit::{needs, oracle::data};
    use serde_json::json;

    #[test]
    fn a_path_is_cut_at_its_dots_and_brackets() {
        for (path, elements) in [
            ("spec.ports.[port:80].name", vec!["spec", "ports", "[port:80]", "name"]),
            ("spec.ports[0]", vec!["spec", "ports", "[0]"]),
            (".a.b.", vec!["a", "b"]),
            (
                r"metadata.labels.app\.kubernetes\.io/name",
                vec!["metadata", "labels", "app.kubernetes.io/name"],
            ),
            ("", vec![]),
            ("a//b/./c/../d", vec!["a/b/d"]),
        ] {
            let found: Vec<String> = Route::parse(path).0.into_iter().map(|element| element.0).collect();
            assert_eq!(found, elements, "{path}");
        }
    }

    #[test]
    fn an_element_picks_by_place_by_field_or_by_value() {
        let element = |text: &str| Element(text.to_owned());
        assert_eq!(element("[3]").pick(true), Pick::Index(Some(3)));
        assert_eq!(element("[-1]").pick(true), Pick::Index(None));
        assert_eq!(element("[-2]").pick(true), Pick::Nothing);
        assert_eq!(element("[name:x]").pick(true), Pick::Field("name", "x"));
        assert_eq!(element("[name:x:y]").pick(true), Pick::Nothing);
        assert_eq!(element("[:x]").pick(false), Pick::Matching("x"));
        assert_eq!(element("[--log.*]").pick(false), Pick::Matching("--log.*"));
        assert_eq!(element("name").pick(false), Pick::Nothing);
    }

    /// What upstream's own tests of its path functions expect.
    #[test]
    fn the_rows_of_upstreams_tests_hold() {
        needs!(data::NEEDS);
        let mut compared = 0;
        for row in data::operator_rows().unwrap() {
            let Some(text) = row.arguments.first().and_then(|argument| argument.value.as_str()) else {
                continue;
            };
            let element = Element(text.to_owned());
            let result = |number: usize| &row.results[number].value;
            match row.function.as_str() {
                "PathFromString" => {
                    let found: Vec<String> =
                        Route::parse(text).0.into_iter().map(|element| element.0).collect();
                    assert_eq!(*result(0), json!(found), "{text}");
                }
                "IsKVPathElement" => assert_eq!(*result(0), element.key_value().is_some(), "{text}"),
                "IsNPathElement" => assert_eq!(*result(0), element.index().is_some(), "{text}"),
                "RemoveBrackets" => assert_eq!(*result(0), element.inner().unwrap_or_default(), "{text}"),
                "PathKV" => {
                    let (key, value) = element.key_value().unwrap_or_default();
                    assert_eq!((result(0), result(1)), (&key.into(), &value.into()), "{text}");
                    assert_eq!(row.accepted, element.key_value().is_some(), "{text}");
                }
                "PathV" => match element.pick(false) {
                    Pick::Matching(found) => assert_eq!(*result(0), found, "{text}"),
                    _ => assert!(!row.accepted, "{text}"),
                },
                "splitEscaped" => {
                    let separator =
                        row.arguments[1].value.as_u64().and_then(|letter| u32::try_from(letter).ok());
                    let separator = separator.and_then(char::from_u32).unwrap();
                    let found = split_unescaped(text, separator);
                    // A missing list and an empty one are the same to everybody.
                    assert_eq!(result(0).as_array().cloned().unwrap_or_default(), found, "{text}");
                }
                _ => continue,
            }
            compared += 1;
        }
        assert!(compared >= 25, "{compared} rows");
    }
}
