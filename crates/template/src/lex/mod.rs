//! Text in, tokens out, one at a time. Trim markers and comments are dealt with here; nobody else sees them.

mod action;
mod token;

pub(crate) use token::{Keyword, Kind, Span, Token, Wrong};

pub(crate) const OPEN: &str = "{{";
pub(crate) const CLOSE: &str = "}}";

pub(crate) struct Lexer<'s> {
    text: &'s str,
    position: usize,
    /// Where the action that we are in begins.
    action: Option<usize>,
    parentheses: usize,
}

impl<'s> Lexer<'s> {
    pub(crate) fn new(text: &'s str) -> Self {
        Self { text, position: 0, action: None, parentheses: 0 }
    }

    pub(crate) fn next(&mut self) -> Result<Token, Wrong> {
        match self.action {
            Some(start) => self.in_action(start),
            None => self.outside(),
        }
    }

    fn rest(&self) -> &'s str {
        self.text.get(self.position..).unwrap_or_default()
    }

    fn token(&self, kind: Kind, start: usize, spaced: bool) -> Token {
        self.stretch(kind, start, self.position, spaced)
    }

    #[expect(clippy::cast_possible_truncation, reason = "the parser refuses longer texts")]
    fn stretch(&self, kind: Kind, start: usize, end: usize, spaced: bool) -> Token {
        Token { kind, span: Span { start: start as u32, end: end as u32 }, spaced }
    }

    #[expect(clippy::cast_possible_truncation, reason = "the parser refuses longer texts")]
    fn wrong<T>(&self, at: usize, message: impl Into<String>) -> Result<T, Wrong> {
        Err(Wrong { at: at as u32, message: message.into() })
    }

    fn outside(&mut self) -> Result<Token, Wrong> {
        loop {
            let start = self.position;
            let Some(length) = self.rest().find(OPEN) else {
                self.position = self.text.len();
                let kind = if start == self.position { Kind::End } else { Kind::Text };
                return Ok(self.token(kind, start, false));
            };
            let open = start + length;
            let inside = &self.text[open + OPEN.len()..];
            let trims = trims_left(inside);
            let text = &self.text[start..open];
            let text = if trims { text.trim_end_matches(is_space) } else { text };
            if !text.is_empty() {
                // The action itself is the next token: it is found again at once.
                self.position = open;
                return Ok(self.stretch(Kind::Text, start, start + text.len(), false));
            }
            self.position = open + OPEN.len() + if trims { 2 } else { 0 };
            if !self.rest().starts_with("/*") {
                self.action = Some(open);
                self.parentheses = 0;
                return Ok(self.stretch(Kind::Open, open, open + OPEN.len(), false));
            }
            self.comment(open)?;
        }
    }

    fn comment(&mut self, open: usize) -> Result<(), Wrong> {
        let Some(length) = self.rest().get(2..).and_then(|inner| inner.find("*/")) else {
            return self.wrong(open, "unclosed comment");
        };
        self.position += 2 + length + 2;
        match self.close() {
            Some(trims) => self.pass_close(trims),
            None => return self.wrong(open, "comment ends before closing delimiter"),
        }
        Ok(())
    }

    /// Whether an action ends here, and whether it trims what follows.
    fn close(&self) -> Option<bool> {
        let rest = self.rest();
        if rest.starts_with(CLOSE) {
            return Some(false);
        }
        let trims = rest.strip_prefix(is_space).and_then(|rest| rest.strip_prefix('-'));
        trims.filter(|rest| rest.starts_with(CLOSE)).map(|_| true)
    }

    fn pass_close(&mut self, trims: bool) {
        self.position += CLOSE.len() + if trims { 2 } else { 0 };
        if trims {
            let rest = self.rest();
            self.position += rest.len() - rest.trim_start_matches(is_space).len();
        }
    }
}

fn trims_left(inside: &str) -> bool {
    inside.strip_prefix('-').is_some_and(|rest| rest.starts_with(is_space))
}

/// Only these: other white space is part of the text.
pub(crate) fn is_space(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\r' | '\n')
}
