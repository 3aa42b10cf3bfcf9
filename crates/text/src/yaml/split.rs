//! A stream into documents, before anything is parsed, so that a broken one cannot take its neighbours with it.
//! Kubernetes' reader does the same: every line that begins with `---` separates, whatever stands around it, and JSON
//! objects may follow each other without any separator.

use std::ops::Range;

/// A stretch of the input that should hold one document.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Chunk {
    pub(super) text: Range<usize>,
    /// What follows the `---` in front of it and is no comment: kubectl refuses that.
    pub(super) after_separator: Option<Range<usize>>,
}

pub(super) struct Chunks<'s> {
    input: &'s [u8],
    at: usize,
    /// The next separator line at or behind `at`, once it was looked for.
    separator: Option<Separator>,
    after_separator: Option<Range<usize>>,
}

#[derive(Clone)]
struct Separator {
    line: Range<usize>,
    text: Option<Range<usize>>,
}

impl<'s> Chunks<'s> {
    pub(super) fn new(input: &'s [u8]) -> Self {
        Self { input, at: 0, separator: None, after_separator: None }
    }

    /// The separator behind `at`; at the end of the input, an empty one.
    fn find_separator(&self) -> Separator {
        let mut line = self.at;
        while line < self.input.len() {
            let end = memchr::memchr(b'\n', &self.input[line..]);
            let next = end.map_or(self.input.len(), |end| line + end + 1);
            if self.input[line..].starts_with(b"---") {
                let rest = &self.input[line + 3..next];
                let from = line + 3 + (rest.len() - rest.trim_ascii_start().len());
                let rest = rest.trim_ascii();
                let text = (!rest.is_empty() && rest[0] != b'#').then_some(from..from + rest.len());
                return Separator { line: line..next, text };
            }
            line = next;
        }
        Separator { line: line..line, text: None }
    }
}

impl Iterator for Chunks<'_> {
    type Item = Chunk;

    fn next(&mut self) -> Option<Chunk> {
        while self.at < self.input.len() || self.after_separator.is_some() {
            let after_separator = self.after_separator.take();
            let separator = self.separator.take().unwrap_or_else(|| self.find_separator());
            let start = self.at;
            if let Some(length) = json_before_json(&self.input[start..separator.line.start]) {
                self.at = start + length;
                self.separator = Some(separator);
                return Some(Chunk { text: start..self.at, after_separator });
            }
            self.at = separator.line.end;
            self.after_separator = separator.text;
            if start < separator.line.start || after_separator.is_some() {
                return Some(Chunk { text: start..separator.line.start, after_separator });
            }
        }
        None
    }
}

/// The length of the JSON object at the start of the text, if another one follows right behind it.
fn json_before_json(text: &[u8]) -> Option<usize> {
    let length = object(text)?;
    let another = text[length..].trim_ascii_start().starts_with(b"{");
    (another && serde_json::from_slice::<serde::de::IgnoredAny>(&text[..length]).is_ok()).then_some(length)
}

/// Where what looks like a JSON object at the start of the text ends.
fn object(text: &[u8]) -> Option<usize> {
    let start = text.len() - text.trim_ascii_start().len();
    if text.get(start) != Some(&b'{') {
        return None;
    }
    let (mut depth, mut quoted, mut escaped) = (0usize, false, false);
    for (at, byte) in text.iter().enumerate().skip(start) {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if quoted => escaped = true,
            b'"' => quoted = !quoted,
            b'{' if !quoted => depth += 1,
            b'}' if !quoted => {
                depth -= 1;
                if depth == 0 {
                    return Some(at + 1);
                }
            }
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(input: &str) -> Vec<&str> {
        Chunks::new(input.as_bytes()).map(|chunk| &input[chunk.text]).collect()
    }

    #[test]
    fn a_line_of_three_dashes_separates() {
        for (input, chunks) in [
            ("", vec![]),
            ("a: 1\n", vec!["a: 1\n"]),
            ("---\na: 1\n---\r\n---\nb: 2\n---", vec!["a: 1\n", "b: 2\n"]),
            ("a: |\n  ---\n--- # next\nb", vec!["a: |\n  ---\n", "b"]),
        ] {
            assert_eq!(split(input), chunks, "{input:?}");
        }
    }

    #[test]
    fn json_objects_may_follow_each_other() {
        assert_eq!(split(r#" {"a":"}"}{"b":{}} "#), [r#" {"a":"}"}"#, r#"{"b":{}} "#]);
        assert_eq!(split("{\"a\": 1}\n---\n{\"b\": 1}\n{}"), ["{\"a\": 1}\n", "{\"b\": 1}", "\n{}"]);
        assert_eq!(split("{a: 1} # {\n"), ["{a: 1} # {\n"]);
    }

    #[test]
    fn what_follows_a_separator_is_kept() {
        let input = "a\n--- # fine\nb\n---BEGIN\nc\n--- d";
        let after: Vec<_> = Chunks::new(input.as_bytes()).map(|chunk| chunk.after_separator).collect();
        assert_eq!(after.len(), 4);
        assert!(after[0].is_none() && after[1].is_none());
        assert_eq!(after[2].clone().map(|range| &input[range]), Some("BEGIN"));
        assert_eq!(after[3].clone().map(|range| &input[range]), Some("d"));
    }
}
