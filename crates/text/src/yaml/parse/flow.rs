//! Maps and lists in brackets. Indentation means nothing in them.

use super::{Leaf, Parser, Result, properties::Properties};
use crate::{Code, yaml::tree::Kind};

impl<'s> Parser<'s> {
    /// From the opening bracket to behind the closing one.
    pub(super) fn flow_collection(&mut self, properties: &Properties<'s>) -> Result<()> {
        let start = self.at;
        let is_map = self.peek() == b'{';
        let (kind, closing) = if is_map { (Kind::Map, b'}') } else { (Kind::List, b']') };
        let number = self.open(kind, start, properties)?;
        self.at += 1;
        let mut first = true;
        loop {
            self.skip_to_flow_token(start)?;
            if self.peek() != closing && !first {
                if self.peek() != b',' {
                    return self.missing_comma(closing);
                }
                self.at += 1;
                self.skip_to_flow_token(start)?;
            }
            if self.peek() == closing {
                break;
            }
            first = false;
            self.may_key = true;
            if is_map { self.flow_pair(closing)? } else { self.flow_item()? }
        }
        self.at += 1;
        self.close(number, self.at);
        Ok(())
    }

    fn skip_to_flow_token(&mut self, opened: usize) -> Result<()> {
        self.skip_to_token(true);
        if self.at >= self.bytes.len() || self.at_marker() {
            let bracket = char::from(self.bytes[opened]);
            let message = format!("the document ends, and the `{bracket}` is not closed");
            return Err(self.refusal(Code::Syntax, message, opened..opened + 1));
        }
        Ok(())
    }

    #[cold]
    fn missing_comma(&self, closing: u8) -> Result<()> {
        self.syntax(format!("a `,` or the closing `{}` is expected here", char::from(closing)))
    }

    /// An item of a list: a value, or `key: value`, which is a map of its own.
    fn flow_item(&mut self) -> Result<()> {
        if self.peek() == b'?' {
            let number = self.open(Kind::Map, self.at, &Properties::NONE)?;
            self.flow_pair(b']')?;
            let end = self.end_of_last();
            self.close(number, end);
            return Ok(());
        }
        let start = self.at;
        let Some((leaf, properties)) = self.flow_leaf_or_collection()? else {
            self.skip_to_token(true);
            if self.peek() == b':' {
                let message = "a key must be a string, this one is a list or a map";
                return Err(self.refusal(Code::NotJson, message, start..start + 1));
            }
            return Ok(());
        };
        self.skip_to_token(true);
        if self.peek() != b':' || !self.is_short_key(start) {
            self.push_leaf(leaf, &properties);
            return Ok(());
        }
        let number = self.open(Kind::Map, start, &Properties::NONE)?;
        self.push_leaf(leaf, &properties);
        self.flow_value(b']')?;
        let end = self.end_of_last();
        self.close(number, end);
        Ok(())
    }

    /// `key: value`, `? key : value` or a key alone.
    fn flow_pair(&mut self, closing: u8) -> Result<()> {
        let explicit = self.peek() == b'?';
        let start = self.at;
        if explicit {
            self.at += 1;
            self.may_key = false;
            self.skip_to_token(true);
        }
        if explicit && (self.peek() == closing || matches!(self.peek(), b':' | b',')) {
            self.push_empty(self.at, &Properties::NONE);
        } else {
            self.flow_node()?;
        }
        let end = self.at;
        self.skip_to_token(true);
        if self.peek() == b':' && (explicit || self.is_short_key(start)) {
            return self.flow_value(closing);
        }
        self.push_empty(end, &Properties::NONE);
        Ok(())
    }

    /// From the colon on.
    fn flow_value(&mut self, closing: u8) -> Result<()> {
        self.at += 1;
        self.may_key = false;
        let empty = self.at;
        self.skip_to_token(true);
        if self.peek() == closing || self.peek() == b',' {
            self.push_empty(empty, &Properties::NONE);
            return Ok(());
        }
        self.flow_node()
    }

    fn flow_node(&mut self) -> Result<()> {
        if let Some((leaf, properties)) = self.flow_leaf_or_collection()? {
            self.push_leaf(leaf, &properties);
        }
        Ok(())
    }

    /// A leaf that is not in the tree yet, or a whole collection that is.
    fn flow_leaf_or_collection(&mut self) -> Result<Option<(Leaf<'s>, Properties<'s>)>> {
        let mut properties = Properties::NONE;
        loop {
            if self.at_marker() {
                return self.unexpected();
            }
            match self.peek() {
                b'&' | b'!' => {
                    let property = self.property()?;
                    let Some(both) = properties.with(property) else { return self.unexpected() };
                    properties = both;
                    self.skip_to_token(true);
                }
                b'[' | b'{' => {
                    self.flow_collection(&properties)?;
                    return Ok(None);
                }
                b',' | b']' | b'}' | b':' if !properties.is_none() => {
                    let leaf = Leaf { kind: Kind::Plain, text: "".into(), span: self.at..self.at };
                    return Ok(Some((leaf, properties)));
                }
                byte => {
                    // Indentation matters to a plain scalar only where a tab stands in it.
                    let leaf = self.leaf(0, true)?;
                    let Some(leaf) = leaf else { return self.unexpected() };
                    if byte == b'*' && !properties.is_none() {
                        self.at = leaf.span.start;
                        return self.syntax("an alias has no anchor and no tag");
                    }
                    return Ok(Some((leaf, properties)));
                }
            }
        }
    }
}
