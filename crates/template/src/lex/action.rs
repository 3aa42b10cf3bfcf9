//! The tokens of an action: between `{{` and `}}`.

use crate::go::is_printable;

use super::{CLOSE, Keyword, Kind, Lexer, Token, Wrong, is_space};

impl Lexer<'_> {
    pub(super) fn in_action(&mut self, open: usize) -> Result<Token, Wrong> {
        let spaced = self.pass_space();
        let start = self.position;
        if let Some(trims) = self.close() {
            if self.parentheses > 0 {
                return self.wrong(start, "unclosed left paren");
            }
            self.pass_close(trims);
            self.action = None;
            return Ok(self.stretch(Kind::Close, start, start + CLOSE.len(), spaced));
        }
        let Some(first) = self.bump() else {
            return self.wrong(open, "unclosed action");
        };
        let kind = match first {
            '=' => Kind::Assign,
            ':' => match self.bump() {
                Some('=') => Kind::Declare,
                _ => return self.wrong(start, "expected :="),
            },
            '|' => Kind::Pipe,
            ',' => Kind::Comma,
            '"' => self.quoted(start, '"', Kind::Quoted, "unterminated quoted string")?,
            '\'' => self.quoted(start, '\'', Kind::Character, "unterminated character constant")?,
            '`' => match self.rest().find('`') {
                Some(length) => {
                    self.position += length + 1;
                    Kind::Raw
                }
                None => return self.wrong(start, "unterminated raw quoted string"),
            },
            '$' => {
                self.word()?;
                Kind::Variable
            }
            '.' if !self.rest().starts_with(|c: char| c.is_ascii_digit()) => {
                if self.word()? == 0 {
                    Kind::Dot
                } else {
                    Kind::Field
                }
            }
            '.' | '+' | '-' | '0'..='9' => {
                self.position = start;
                self.number(start)?
            }
            '(' => {
                self.parentheses += 1;
                Kind::LeftParenthesis
            }
            ')' => match self.parentheses.checked_sub(1) {
                Some(left) => {
                    self.parentheses = left;
                    Kind::RightParenthesis
                }
                None => return self.wrong(start, "unexpected right paren"),
            },
            c if is_alphanumeric(c) => {
                self.word()?;
                match &self.text[start..self.position] {
                    "true" => Kind::Bool(true),
                    "false" => Kind::Bool(false),
                    "nil" => Kind::Nil,
                    word => Keyword::of(word).map_or(Kind::Identifier, Kind::Keyword),
                }
            }
            c if c.is_ascii_graphic() => Kind::Other,
            c => return self.wrong(start, format!("unrecognized character in action: {}", code_point(c))),
        };
        Ok(self.token(kind, start, spaced))
    }

    fn bump(&mut self) -> Option<char> {
        let c = self.rest().chars().next()?;
        self.position += c.len_utf8();
        Some(c)
    }

    /// Space before the end of the action may belong to its trim marker.
    fn pass_space(&mut self) -> bool {
        let start = self.position;
        while self.rest().starts_with(is_space) && self.close() != Some(true) {
            self.position += 1;
        }
        self.position > start
    }

    /// Letters, digits and underscores, as many as there are, and nothing that a word must not touch after them.
    fn word(&mut self) -> Result<usize, Wrong> {
        let rest = self.rest();
        let length = rest.find(|c| !is_alphanumeric(c)).unwrap_or(rest.len());
        self.position += length;
        match self.rest().chars().next() {
            Some(c) if !is_space(c) && !".,|:)(".contains(c) && !self.rest().starts_with(CLOSE) => {
                self.wrong(self.position, format!("bad character {}", code_point(c)))
            }
            _ => Ok(length),
        }
    }

    /// Up to the closing quote; what the escapes mean is read later.
    fn quoted(&mut self, start: usize, quote: char, kind: Kind, unclosed: &str) -> Result<Kind, Wrong> {
        loop {
            match self.bump() {
                Some('\\') => {
                    if matches!(self.bump(), None | Some('\n')) {
                        return self.wrong(start, unclosed);
                    }
                }
                None | Some('\n') => return self.wrong(start, unclosed),
                Some(c) if c == quote => return Ok(kind),
                Some(_) => {}
            }
        }
    }

    /// Generous: what is no number after all is found when its value is read.
    fn number(&mut self, start: usize) -> Result<Kind, Wrong> {
        let mut good = self.pass_number();
        if good && self.rest().starts_with(['+', '-']) {
            good = false;
            if self.pass_number() && self.text[start..self.position].ends_with('i') {
                return self.wrong(start, "complex numbers are not supported");
            }
        }
        if !good {
            let text = &self.text[start..self.position];
            return self.wrong(start, format!("bad number syntax: {text:?}"));
        }
        Ok(Kind::Number)
    }

    fn pass_number(&mut self) -> bool {
        self.pass_any("+-");
        let (mut digits, mut exponent) = ("0123456789_", "eE");
        if self.pass_any("0") {
            if self.pass_any("xX") {
                (digits, exponent) = ("0123456789abcdefABCDEF_", "pP");
            } else if self.pass_any("oO") {
                (digits, exponent) = ("01234567_", "");
            } else if self.pass_any("bB") {
                (digits, exponent) = ("01_", "");
            }
        }
        while self.pass_any(digits) {}
        if self.pass_any(".") {
            while self.pass_any(digits) {}
        }
        if self.pass_any(exponent) {
            self.pass_any("+-");
            while self.pass_any("0123456789_") {}
        }
        self.pass_any("i");
        match self.rest().chars().next() {
            Some(c) if is_alphanumeric(c) => {
                self.position += c.len_utf8();
                false
            }
            _ => true,
        }
    }

    fn pass_any(&mut self, set: &str) -> bool {
        let passes = self.rest().starts_with(|c| set.contains(c));
        self.position += usize::from(passes);
        passes
    }
}

fn is_alphanumeric(c: char) -> bool {
    c == '_' || c.is_alphanumeric()
}

fn code_point(c: char) -> String {
    let number = u32::from(c);
    if is_printable(c) { format!("U+{number:04X} '{c}'") } else { format!("U+{number:04X}") }
}
