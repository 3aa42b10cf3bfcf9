//! Flags, width and precision of a verb, and padding by them.

/// `%+-# 0` and the numbers behind.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Flags {
    pub(super) plus: bool,
    pub(super) minus: bool,
    pub(super) sharp: bool,
    pub(super) space: bool,
    pub(super) zero: bool,
    /// `%#v`: Go's syntax. Then `sharp` itself is not set.
    pub(super) syntax: bool,
    pub(super) width: Option<usize>,
    pub(super) precision: Option<usize>,
}

impl Flags {
    /// To the left unless `-` says otherwise; with zeros if asked for.
    pub(super) fn pad(&self, text: String) -> String {
        let length = text.chars().count();
        let Some(missing) = self.width.and_then(|width| width.checked_sub(length)).filter(|n| *n > 0) else {
            return text;
        };
        if self.minus {
            return text + &" ".repeat(missing);
        }
        let padding = if self.zero { "0" } else { " " };
        padding.repeat(missing) + &text
    }

    /// The same, never with zeros.
    pub(super) fn pad_with_spaces(&self, text: String) -> String {
        Self { zero: false, ..*self }.pad(text)
    }

    /// At most `precision` characters.
    pub(super) fn cut<'t>(&self, text: &'t str) -> &'t str {
        let end = self.precision.and_then(|precision| text.char_indices().nth(precision));
        end.map_or(text, |(end, _)| &text[..end])
    }
}
