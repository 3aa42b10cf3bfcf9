//! Scalars without quotes.

use std::borrow::Cow;

use super::{Leaf, Parser, Result};
use crate::yaml::tree::Kind;

impl<'s> Parser<'s> {
    pub(super) fn starts_plain(&self, flow: bool) -> bool {
        match self.peek() {
            b'-' => !matches!(self.bytes.get(self.at + 1), Some(b' ' | b'\t')) && !self.is_blank(self.at + 1),
            b'?' | b':' => !flow && !self.is_blank(self.at + 1),
            b',' | b'[' | b']' | b'{' | b'}' | b'#' | b'&' | b'*' | b'!' | b'|' | b'>' | b'\'' | b'"'
            | b'%' | b'@' | b'`' => false,
            _ => !self.is_blank(self.at),
        }
    }

    /// Words, on as many lines as are indented by `indent`; a line end between two words is a blank.
    pub(super) fn plain(&mut self, indent: i32, flow: bool) -> Result<Leaf<'s>> {
        let start = self.at;
        self.words(flow);
        let mut end = self.at;
        // Filled when there is more than one line: until then the text is as written.
        let mut folded = String::new();
        loop {
            let breaks = self.between_lines(indent)?;
            let Some((first, more)) = breaks else { break };
            self.may_key |= !flow;
            if !flow && self.column() < indent || self.peek() == b'#' || self.at_marker() {
                break;
            }
            let from = self.at;
            self.words(flow);
            if self.at == from {
                break;
            }
            if folded.is_empty() {
                folded.push_str(&self.text[start..end]);
            }
            fold(&mut folded, first, &more);
            self.may_key = false;
            end = self.at;
            folded.push_str(&self.text[from..end]);
        }
        let text = if folded.is_empty() { Cow::Borrowed(&self.text[start..end]) } else { Cow::Owned(folded) };
        Ok(Leaf { kind: Kind::Plain, text, span: start..end })
    }

    /// To the end of the last word on the line.
    fn words(&mut self, flow: bool) {
        let mut at = self.at;
        loop {
            while let Some(byte) = self.bytes.get(at) {
                match byte {
                    b' ' | b'\t' | b'\n' | b'\r' => break,
                    b':' if self.is_blank(at + 1) => break,
                    b',' | b'?' | b'[' | b']' | b'{' | b'}' if flow => break,
                    0xc2 | 0xe2 if self.line_break(at) > 0 => break,
                    _ => at += 1,
                }
            }
            if at > self.at {
                self.at = at;
            }
            let blanks = self.bytes[at..].iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
            if blanks == 0 {
                return;
            }
            at += blanks;
            let ends = self.line_break(at) > 0
                || match self.bytes.get(at) {
                    None | Some(b'#') => true,
                    Some(b':') => self.is_blank(at + 1),
                    Some(b',' | b'?' | b'[' | b']' | b'{' | b'}') => flow,
                    Some(_) => false,
                };
            if ends {
                return;
            }
        }
    }

    /// Over the rest of the line and empty ones: the first line break and those after it.
    fn between_lines(&mut self, indent: i32) -> Result<Option<(&'s str, String)>> {
        let mut breaks: Option<(&'s str, String)> = None;
        loop {
            match self.peek() {
                b' ' => self.at += 1,
                b'\t' if breaks.is_some() && self.column() < indent => {
                    return self.syntax_hint("a tab cannot indent", "use spaces");
                }
                b'\t' => self.at += 1,
                _ if self.line_break(self.at) > 0 => {
                    let written = self.end_line();
                    match &mut breaks {
                        Some((_, more)) => more.push_str(written),
                        None => breaks = Some((written, String::new())),
                    }
                }
                _ => return Ok(breaks),
            }
        }
    }
}

/// One line end is a blank; of several all but the first are kept.
pub(super) fn fold(text: &mut String, first: &str, more: &str) {
    if first != "\n" {
        text.push_str(first);
        text.push_str(more);
    } else if more.is_empty() {
        text.push(' ');
    } else {
        text.push_str(more);
    }
}
