//! Maps and lists by indentation.

use super::{Leaf, Parser, Result, properties::Properties};
use crate::{Code, yaml::tree::Kind};

impl<'s> Parser<'s> {
    /// Whatever value comes next, if it stands further right than `indent`, the column of the map or list around it; a
    /// map's value may also be a list at that very column.
    pub(super) fn block_node(&mut self, indent: i32, beside: bool) -> Result<()> {
        let empty = self.at;
        // Properties on lines above, and on the line at hand: the latter belong to a key that follows on it.
        let (mut above, mut here) = (Properties::NONE, Properties::NONE);
        let mut key_start = None;
        loop {
            let line = self.line;
            self.skip_to_token(false);
            if self.line != line {
                let Some(both) = above.with(here) else { return self.unexpected() };
                (above, here) = (both, Properties::NONE);
                key_start = None;
            }
            let column = self.column();
            let is_item = self.peek() == b'-' && self.is_blank(self.at + 1);
            // Neither does a block scalar need to be indented, as long as its text is.
            let beside = matches!(self.peek(), b'|' | b'>') || beside && is_item;
            let inside = column > indent || beside && column == indent;
            if !inside || self.at >= self.bytes.len() || self.at_marker() {
                let Some(both) = above.with(here) else { return self.unexpected() };
                self.push_empty(empty, &both);
                return Ok(());
            }
            let (start, may_key) = *key_start.get_or_insert((self.at, self.may_key));
            let next_blank = self.is_blank(self.at + 1);
            let leaf = match self.peek() {
                b'&' | b'!' => {
                    let property = self.property()?;
                    let Some(both) = here.with(property) else { return self.unexpected() };
                    here = both;
                    self.may_key = false;
                    continue;
                }
                b'-' if next_blank && self.may_key => return self.list(column, &above, column == indent),
                b'-' if next_blank => return self.syntax("a list cannot start on the line of its key"),
                b'?' if next_blank && self.may_key => return self.map(column, &above, None),
                b'?' if next_blank => return self.syntax("`? ` cannot follow here"),
                b':' if next_blank && here.is_none() => {
                    return self.syntax("there is no key in front of the `:`");
                }
                b':' if next_blank => {
                    Some(Leaf { kind: Kind::Plain, text: "".into(), span: self.at..self.at })
                }
                b'|' | b'>' => {
                    let leaf = self.block_scalar(indent)?;
                    return self.value(leaf, above, here);
                }
                b'[' | b'{' => {
                    let Some(both) = above.with(here) else { return self.unexpected() };
                    self.flow_collection(&both)?;
                    self.may_key = false;
                    self.skip_to_colon();
                    if self.at_colon() {
                        return self.collection_as_key(start);
                    }
                    return Ok(());
                }
                _ => self.leaf(indent + 1, false)?,
            };
            let Some(leaf) = leaf else { return self.unexpected() };
            let end = self.at;
            if leaf.span.end >= self.line {
                self.skip_to_colon();
            }
            if leaf.span.end < self.line || !self.at_colon() {
                self.at = end;
                return self.value(leaf, above, here);
            }
            if !may_key || !self.is_short_key(start) {
                return self.misplaced_colon(start);
            }
            let column = i32::try_from(start - self.line).unwrap_or(i32::MAX);
            return self.map(column, &above, Some((leaf, here, start)));
        }
    }

    fn value(&mut self, leaf: Leaf<'s>, above: Properties<'s>, here: Properties<'s>) -> Result<()> {
        match above.with(here) {
            Some(both) if both.is_none() || !matches!(leaf.kind, Kind::Alias(_)) => {
                self.push_leaf(leaf, &both);
                Ok(())
            }
            _ => {
                self.at = leaf.span.start;
                self.syntax("an alias has no anchor and no tag, and nothing has two of them")
            }
        }
    }

    /// `- ` at a column, and all that follow at the same; if it stands beside its key, the next key may follow there.
    fn list(&mut self, column: i32, properties: &Properties<'s>, beside: bool) -> Result<()> {
        let number = self.open(Kind::List, self.at, properties)?;
        loop {
            self.at += 1;
            self.may_key = true;
            self.block_node(column, false)?;
            self.skip_to_token(false);
            let again =
                self.may_key && self.column() == column && self.peek() == b'-' && self.is_blank(self.at + 1);
            if !again {
                break;
            }
        }
        let end = self.end_of_last();
        self.close(number, end);
        self.ended(column, beside, "a list item")
    }

    /// Keys at a column, the first of which may have been read already, up to its colon.
    fn map(
        &mut self,
        column: i32,
        properties: &Properties<'s>,
        first: Option<(Leaf<'s>, Properties<'s>, usize)>,
    ) -> Result<()> {
        let start = first.as_ref().map_or(self.at, |(_, _, start)| *start);
        let number = self.open(Kind::Map, start, properties)?;
        match first {
            Some((leaf, here, _)) => {
                self.push_leaf(leaf, &here);
                self.after_colon(column, false)?;
            }
            None => self.explicit(column)?,
        }
        loop {
            self.skip_to_token(false);
            if !self.may_key || self.column() != column || self.at >= self.bytes.len() || self.at_marker() {
                break;
            }
            match self.peek() {
                b'?' if self.is_blank(self.at + 1) => self.explicit(column)?,
                b'-' if self.is_blank(self.at + 1) => {
                    let hint = "a list needs a key of its own in front of it";
                    return self.syntax_hint("a list item cannot follow the keys of a map", hint);
                }
                _ => self.key(column)?,
            }
        }
        let end = self.end_of_last();
        self.close(number, end);
        self.ended(column, false, "a key")
    }

    /// A key that stands where the map around it expects one.
    fn key(&mut self, column: i32) -> Result<()> {
        let (start, line) = (self.at, self.line);
        let mut properties = Properties::NONE;
        while matches!(self.peek(), b'&' | b'!') {
            let property = self.property()?;
            let Some(both) = properties.with(property) else { return self.unexpected() };
            properties = both;
            self.may_key = false;
            self.skip_to_colon();
        }
        let leaf = match self.peek() {
            b'[' | b'{' => return self.collection_as_key(start),
            b':' if self.is_blank(self.at + 1) => (!properties.is_none()).then(|| Leaf {
                kind: Kind::Plain,
                text: "".into(),
                span: self.at..self.at,
            }),
            b'|' | b'>' => None,
            _ => self.leaf(column + 1, false)?,
        };
        let Some(leaf) = leaf else { return self.unexpected() };
        let alias = matches!(leaf.kind, Kind::Alias(_));
        if self.line == line {
            self.skip_to_colon();
        }
        if !self.at_colon() || !self.is_short_key(start) || alias && !properties.is_none() {
            let message = "a key with a `:` behind it is expected here";
            let mut refusal = self.refusal(Code::Syntax, message, leaf.span);
            refusal.hint =
                Some("is a `: ` missing, or is the line indented too little to belong to the value above?");
            return Err(refusal);
        }
        self.push_leaf(leaf, &properties);
        self.after_colon(column, false)
    }

    /// `? key`, and `: value` on a later line.
    fn explicit(&mut self, column: i32) -> Result<()> {
        self.at += 1;
        self.may_key = true;
        self.block_node(column, true)?;
        self.skip_to_token(false);
        if self.column() == column && self.at_colon() {
            return self.after_colon(column, true);
        }
        let end = self.end_of_last();
        self.push_empty(end, &Properties::NONE);
        Ok(())
    }

    fn after_colon(&mut self, column: i32, may_key: bool) -> Result<()> {
        self.at += 1;
        self.may_key = may_key;
        self.block_node(column, true)
    }

    /// A scalar on one or more lines, or an alias; nothing if none of them starts here.
    pub(super) fn leaf(&mut self, indent: i32, flow: bool) -> Result<Option<Leaf<'s>>> {
        self.may_key = false;
        match self.peek() {
            b'*' => self.alias().map(Some),
            b'"' => self.double_quoted().map(Some),
            b'\'' => self.single_quoted().map(Some),
            _ if self.starts_plain(flow) => self.plain(indent, flow).map(Some),
            _ => Ok(None),
        }
    }

    /// Over the blanks between a key and its colon.
    fn skip_to_colon(&mut self) {
        while matches!(self.peek(), b' ' | b'\t') {
            self.at += 1;
        }
    }

    fn at_colon(&self) -> bool {
        self.peek() == b':' && self.is_blank(self.at + 1)
    }

    #[cold]
    fn collection_as_key(&self, start: usize) -> Result<()> {
        let message = "a key must be a string, this one is a list or a map";
        Err(self.refusal(Code::NotJson, message, start..start + 1))
    }

    #[cold]
    fn misplaced_colon(&self, start: usize) -> Result<()> {
        if start < self.line {
            let hint = "line it up with the keys of its map, or put the value above in quotes";
            return self.syntax_hint("a `: ` cannot be in this line, which continues the value above", hint);
        }
        if self.at - start > 1024 {
            return self.syntax("a key can have no more than 1024 characters");
        }
        let hint = "put the value in quotes if the `: ` belongs to it, or start a line for a map";
        self.syntax_hint("a `: ` cannot follow here, this is a value already", hint)
    }

    /// Is what follows a list or map further left, where it belongs to something around it?
    fn ended(&self, column: i32, beside: bool, expected: &str) -> Result<()> {
        let outside = self.may_key && (self.column() < column || beside && self.column() == column);
        if outside || self.at >= self.bytes.len() || self.at_marker() {
            return Ok(());
        }
        self.misplaced(expected, column)
    }

    #[cold]
    fn misplaced(&self, expected: &str, column: i32) -> Result<()> {
        if self.peek() == b'\t' {
            return self.unexpected();
        }
        let further = if self.column() > column { " further left" } else { "" };
        let message = format!("{expected}{further} is expected here");
        let hint = "line it up with the others, or put the value above in quotes if this belongs to it";
        self.syntax_hint(&message, hint)
    }
}
