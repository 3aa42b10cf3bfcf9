//! Block scalars: `|` keeps the line ends, `>` folds them.

use super::{Leaf, Parser, Result};
use crate::yaml::tree::Kind;

/// What becomes of the line ends behind the text.
#[derive(PartialEq)]
enum Chomp {
    Strip,
    Clip,
    Keep,
}

impl<'s> Parser<'s> {
    pub(super) fn block_scalar(&mut self, parent: i32) -> Result<Leaf<'s>> {
        let start = self.at;
        let literal = self.peek() == b'|';
        self.at += 1;
        let (chomp, increment) = self.header()?;
        if self.at < self.bytes.len() {
            self.end_line();
        }
        let mut indent = increment.map(|increment| parent.max(0) + increment);
        let mut text = String::new();
        let mut end = self.at;
        // The break at the end of the last line with text, and those of the empty lines behind it.
        let mut last_break = "";
        let mut empty = self.empty_lines(&mut indent, parent)?;
        let indent = indent.unwrap_or(1);
        let mut was_blank = false;
        while self.column() == indent && self.at < self.bytes.len() {
            let is_blank = matches!(self.peek(), b' ' | b'\t');
            if !literal && last_break == "\n" && !was_blank && !is_blank {
                if empty.is_empty() {
                    text.push(' ');
                }
            } else {
                text.push_str(last_break);
            }
            text.push_str(&empty);
            was_blank = is_blank;
            let from = self.at;
            while self.at < self.bytes.len() && self.line_break(self.at) == 0 {
                self.at += 1;
            }
            text.push_str(&self.text[from..self.at]);
            end = self.at;
            last_break = if self.at < self.bytes.len() { self.end_line() } else { "" };
            empty = self.empty_lines(&mut Some(indent), parent)?;
        }
        if chomp != Chomp::Strip {
            text.push_str(last_break);
        }
        if chomp == Chomp::Keep {
            text.push_str(&empty);
        }
        self.may_key = true;
        Ok(Leaf { kind: Kind::Quoted, text: text.into(), span: start..end })
    }

    /// `-`, `+` and a digit, in either order, then nothing but a comment.
    fn header(&mut self) -> Result<(Chomp, Option<i32>)> {
        let (mut chomp, mut increment) = (None, None);
        loop {
            match self.peek() {
                b'-' if chomp.is_none() => chomp = Some(Chomp::Strip),
                b'+' if chomp.is_none() => chomp = Some(Chomp::Keep),
                digit @ b'1'..=b'9' if increment.is_none() => increment = Some(i32::from(digit - b'0')),
                _ => break,
            }
            self.at += 1;
        }
        while matches!(self.peek(), b' ' | b'\t') {
            self.at += 1;
        }
        if self.peek() == b'#' {
            while self.at < self.bytes.len() && self.line_break(self.at) == 0 {
                self.at += 1;
            }
        }
        if self.at < self.bytes.len() && self.line_break(self.at) == 0 {
            return self
                .syntax_hint("the text of a block starts on the next line", "put the value in quotes");
        }
        Ok((chomp.unwrap_or(Chomp::Clip), increment))
    }

    /// Over the indentation and empty lines, whose breaks it gives. Finds the indentation where it is not known: the
    /// widest there is, up to the first text.
    fn empty_lines(&mut self, indent: &mut Option<i32>, parent: i32) -> Result<String> {
        let mut breaks = String::new();
        let mut widest = 0;
        loop {
            while self.peek() == b' ' && indent.is_none_or(|indent| self.column() < indent) {
                self.at += 1;
            }
            widest = widest.max(self.column());
            if self.peek() == b'\t' && indent.is_none_or(|indent| self.column() < indent) {
                return self.syntax_hint("a tab cannot indent", "use spaces");
            }
            if self.line_break(self.at) == 0 {
                break;
            }
            breaks.push_str(self.end_line());
        }
        if indent.is_none() {
            *indent = Some(widest.max(parent + 1).max(1));
        }
        Ok(breaks)
    }
}
