//! The line that a diagnostic is about, with what is wrong in it underlined.

use unicode_width::UnicodeWidthChar;

use super::visible::shown;
use crate::Place;

/// What is shown of a line, in columns.
const MOST: usize = 100;
/// What is shown in front of the caret when the line is cut.
const BEFORE: usize = 40;

pub(super) struct Excerpt {
    /// From 1.
    pub(super) line: usize,
    /// Printable and cut to a reasonable length.
    pub(super) text: String,
    /// The columns to underline: how many are in front, and how many there are (at least one).
    pub(super) caret: (usize, usize),
}

impl Excerpt {
    pub(super) fn new(place: &Place) -> Option<Self> {
        let (source, span) = (&place.source, place.span.as_ref()?);
        let offset = span.start.min(source.bytes().len());
        let line = source.line_of(offset);
        let range = source.line_range(line);
        if range.is_empty() {
            return None;
        }
        let start = offset.clamp(range.start, range.end);
        let end = span.end.clamp(start, range.end);
        // Lines may have megabytes: only what can be seen is looked at. Four bytes are the longest character.
        let from = start.saturating_sub(4 * MOST).max(range.start);
        let to = (start + 4 * MOST).min(range.end);
        let decode = |from: usize, to: usize| String::from_utf8_lossy(&source.bytes()[from..to]).into_owned();
        let (before, after) = (decode(from, start), decode(start, to));
        let underlined = decode(start, end.min(to)).chars().count();

        let mut text = String::new();
        // The last part of what is in front, if it has to be cut.
        let fits = width(&before) <= BEFORE && from == range.start;
        let mut front = 0;
        if fits {
            front += show(&mut text, before.chars());
        } else {
            let mut kept = before.len();
            let mut columns = 0;
            for (at, c) in before.char_indices().rev() {
                columns += columns_of(c);
                if columns > BEFORE {
                    break;
                }
                kept = at;
            }
            text.push('…');
            front += 1 + show(&mut text, before[kept..].chars());
        }
        let (mut caret, mut columns, mut cut) = (0, front, to < range.end);
        for (index, c) in after.chars().enumerate() {
            if columns + columns_of(c) > MOST {
                cut = true;
                break;
            }
            let shown = show(&mut text, std::iter::once(c));
            columns += shown;
            if index < underlined {
                caret += shown;
            }
        }
        if cut {
            text.push('…');
        }
        text.truncate(text.trim_end().len());
        Some(Self { line: line + 1, text, caret: (front, caret.max(1)) })
    }
}

/// Writes what stands for the characters; gives the columns that it takes.
fn show(out: &mut String, text: impl Iterator<Item = char>) -> usize {
    let mut columns = 0;
    for c in text {
        columns += columns_of(c);
        if c == '\t' { out.push_str("    ") } else { out.push(shown(c)) }
    }
    columns
}

fn columns_of(c: char) -> usize {
    if c == '\t' { 4 } else { shown(c).width().unwrap_or(0) }
}

fn width(text: &str) -> usize {
    text.chars().map(columns_of).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Source;

    fn excerpt(text: &str, start: usize, end: usize) -> String {
        let excerpt = Excerpt::new(&Place::span(&Source::new("f", text), start..end)).unwrap();
        format!("{}\n{}{}", excerpt.text, " ".repeat(excerpt.caret.0), "^".repeat(excerpt.caret.1))
    }

    #[test]
    fn the_caret_stands_under_what_is_meant() {
        assert_eq!(excerpt("a: 1\nbé: 漢字 x\n", 10, 16), "bé: 漢字 x\n    ^^^^");
        assert_eq!(excerpt("\ta: b", 4, 5), "    a: b\n       ^");
        assert_eq!(excerpt("a: b", 4, 4), "a: b\n    ^");
        assert_eq!(excerpt("a: [1,\n2]", 3, 9), "a: [1,\n   ^^^");
    }

    #[test]
    fn a_long_line_is_cut_around_the_caret() {
        let text = format!("{}: [{}]", "k".repeat(300), "v".repeat(5_000_000));
        let shown = excerpt(&text, 300, 301);
        assert_eq!(shown, format!("…{}: [{}…\n{}^", "k".repeat(40), "v".repeat(56), " ".repeat(41)));
        assert!(excerpt(&text, 1, 4_000_000).chars().count() < 210);
        assert!(excerpt(&text, 5_000_303, 5_000_304).ends_with('^'));
    }

    #[test]
    fn a_place_outside_of_the_text_has_no_excerpt_but_does_no_harm() {
        assert!(Excerpt::new(&Place::span(&Source::new("f", ""), 5..9)).is_none());
        assert!(Excerpt::new(&Place::span(&Source::new("f", "a\n"), 5..9)).is_none());
        assert_eq!(excerpt("\u{feff}a", 0, 1), "a\n^");
    }
}
