//! Text of a stranger's on its way to a terminal: nothing in it may move the cursor, change colours or hide itself.

use std::borrow::Cow;

/// The text with a picture in place of every character that is not to be seen.
pub(super) fn visible(text: &str) -> Cow<'_, str> {
    if text.chars().all(|c| shown(c) == c) { Cow::Borrowed(text) } else { text.chars().map(shown).collect() }
}

/// What stands for a character.
pub(super) fn shown(c: char) -> char {
    match c {
        '\0'..='\x1f' => char::from_u32(0x2400 + u32::from(c)).unwrap_or('\u{fffd}'),
        '\x7f' => '\u{2421}',
        // Controls, marks without width, separators of lines, and what turns the direction of writing.
        '\u{80}'..='\u{9f}'
        | '\u{ad}'
        | '\u{61c}'
        | '\u{200b}'..='\u{200f}'
        | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}'
        | '\u{feff}'
        | '\u{fff9}'..='\u{fffb}'
        | '\u{e0000}'..='\u{e007f}' => '\u{fffd}',
        c => c,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_control_character_becomes_a_picture() {
        assert_eq!(visible("a\x1b[31m\0\u{202e}é"), "a␛[31m␀\u{fffd}é");
        assert!(matches!(visible("plain"), Cow::Borrowed(_)));
    }
}
