//! One input as a person gave it: a name to show and its bytes. Cheap to clone, so that a diagnostic can carry the
//! place where it belongs and an excerpt is only cut out when somebody prints it.

use std::{
    fmt,
    ops::Range,
    sync::{Arc, OnceLock},
};

#[derive(Clone)]
pub struct Source(Arc<Inner>);

struct Inner {
    name: String,
    bytes: Vec<u8>,
    /// Where each line starts. Filled at the first question, so input without problems never pays for it.
    lines: OnceLock<Vec<u32>>,
}

impl Source {
    /// `name` is shown as it is: a path as the user wrote it, or `-` for standard input.
    pub fn new(name: impl Into<String>, bytes: impl Into<Vec<u8>>) -> Self {
        Self(Arc::new(Inner { name: name.into(), bytes: bytes.into(), lines: OnceLock::new() }))
    }

    pub fn name(&self) -> &str {
        &self.0.name
    }

    pub fn bytes(&self) -> &[u8] {
        &self.0.bytes
    }

    /// Line and column of a byte, both from 1; the column counts characters.
    pub fn line_column(&self, offset: usize) -> (usize, usize) {
        let offset = offset.min(self.bytes().len());
        let line = self.line_of(offset);
        let before = &self.bytes()[self.line_start(line).min(offset)..offset];
        // First bytes of characters. Lines may have megabytes, and this is quick.
        (line + 1, before.iter().filter(|byte| **byte & 0xc0 != 0x80).count() + 1)
    }

    /// The line that holds a byte, from 0.
    pub(crate) fn line_of(&self, offset: usize) -> usize {
        self.lines().partition_point(|start| *start as usize <= offset).saturating_sub(1)
    }

    pub(crate) fn line_start(&self, line: usize) -> usize {
        self.lines().get(line).map_or(self.bytes().len(), |start| *start as usize)
    }

    /// A line without its end, as bytes of the input.
    pub(crate) fn line_range(&self, line: usize) -> Range<usize> {
        let start = self.line_start(line);
        let mut end = self.line_start(line + 1);
        while end > start && matches!(self.bytes()[end - 1], b'\n' | b'\r') {
            end -= 1;
        }
        start..end
    }

    fn lines(&self) -> &[u32] {
        self.0.lines.get_or_init(|| {
            let bytes = self.bytes();
            let ends = bytes.iter().enumerate().filter(|(at, byte)| match byte {
                b'\n' => true,
                // A lone carriage return ends a line in YAML.
                b'\r' => bytes.get(at + 1) != Some(&b'\n'),
                _ => false,
            });
            // A byte order mark is no column.
            let first = if bytes.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
            std::iter::once(first)
                .chain(ends.map(|(at, _)| u32::try_from(at + 1).unwrap_or(u32::MAX)))
                .collect()
        })
    }
}

impl fmt::Debug for Source {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Source({:?}, {} bytes)", self.name(), self.bytes().len())
    }
}

/// The same name and the same bytes.
impl PartialEq for Source {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || (self.name(), self.bytes()) == (other.name(), other.bytes())
    }
}

impl Eq for Source {}

/// A stretch of a source; without a span, the source as a whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    pub source: Source,
    pub span: Option<Range<usize>>,
}

impl Place {
    /// Somewhere in this input: all that is known.
    pub fn whole(source: &Source) -> Self {
        Self { source: source.clone(), span: None }
    }

    pub fn span(source: &Source, span: Range<usize>) -> Self {
        Self { source: source.clone(), span: Some(span) }
    }

    /// Line and column of the start, both from 1; the column counts characters.
    pub fn line_column(&self) -> Option<(usize, usize)> {
        self.span.as_ref().map(|span| self.source.line_column(span.start))
    }
}

/// `file:line:column`, or the file alone.
impl fmt::Display for Place {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}", self.source.name())?;
        match self.line_column() {
            Some((line, column)) => write!(out, ":{line}:{column}"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_end_as_yaml_ends_them() {
        let source = Source::new("f", "ab\r\nc\rä=x\n");
        for (offset, place) in [(0, (1, 1)), (1, (1, 2)), (4, (2, 1)), (6, (3, 1)), (8, (3, 2)), (11, (4, 1))]
        {
            assert_eq!(source.line_column(offset), place, "byte {offset}");
        }
        assert_eq!(source.line_range(0), 0..2);
        assert_eq!(source.line_range(3), 11..11);
    }

    #[test]
    fn a_place_past_the_end_is_the_end() {
        assert_eq!(Place::span(&Source::new("f", "a"), 7..9).to_string(), "f:1:2");
        assert_eq!(Place::whole(&Source::new("f", "a")).to_string(), "f");
    }
}
