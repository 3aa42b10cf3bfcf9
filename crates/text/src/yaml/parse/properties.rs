//! What may stand in front of a value: `&anchor` and `!tag`. And the alias, which is read as an anchor is.

use std::borrow::Cow;

use super::{Leaf, Parser, Result};
use crate::{
    Code,
    yaml::tree::{Kind, Tag},
};

#[derive(Clone, Copy, Debug)]
pub(super) struct Properties<'s> {
    pub(super) anchor: Option<&'s str>,
    pub(super) tag: Tag,
}

impl<'s> Properties<'s> {
    pub(super) const NONE: Self = Self { anchor: None, tag: Tag::None };

    pub(super) fn is_none(&self) -> bool {
        self.anchor.is_none() && self.tag == Tag::None
    }

    /// Both, unless they have the same one.
    pub(super) fn with(self, other: Self) -> Option<Self> {
        let clash = self.anchor.is_some() && other.anchor.is_some()
            || self.tag != Tag::None && other.tag != Tag::None;
        let tag = if self.tag == Tag::None { other.tag } else { self.tag };
        (!clash).then(|| Self { anchor: self.anchor.or(other.anchor), tag })
    }
}

impl<'s> Parser<'s> {
    /// The anchor or tag at hand.
    pub(super) fn property(&mut self) -> Result<Properties<'s>> {
        if self.peek() == b'&' {
            let anchor = Some(self.anchor_name()?);
            return Ok(Properties { anchor, tag: Tag::None });
        }
        Ok(Properties { anchor: None, tag: self.tag()? })
    }

    pub(super) fn alias(&mut self) -> Result<Leaf<'s>> {
        let start = self.at;
        let name = self.anchor_name()?;
        let span = start..self.at;
        let Some(target) = self.anchors.get(name) else {
            return Err(self.refusal(Code::Alias, format!("there is no anchor `{name}` above"), span));
        };
        Ok(Leaf { kind: Kind::Alias(*target), text: Cow::Borrowed(""), span })
    }

    fn anchor_name(&mut self) -> Result<&'s str> {
        let start = self.at + 1;
        let length = self.bytes[start..].iter().take_while(|byte| is_word(**byte)).count();
        self.at = start + length;
        let ended = self.is_blank(self.at) || b"?:,]}%@`".contains(&self.peek());
        if length == 0 || !ended {
            return self.syntax("the name of an anchor has only letters, digits, `-` and `_`");
        }
        Ok(&self.text[start..self.at])
    }

    fn tag(&mut self) -> Result<Tag> {
        let start = self.at;
        let bytes = &self.bytes[start..];
        let verbatim = bytes.starts_with(b"!<");
        let mut length = if verbatim { 2 } else { 1 };
        while let Some(byte) =
            bytes.get(length).filter(|byte| is_word(**byte) || b";/?:@&=+$,.!~*'()[]%".contains(byte))
        {
            let escape =
                bytes.get(length + 1..length + 3).is_some_and(|hex| hex.iter().all(u8::is_ascii_hexdigit));
            if *byte == b'%' && !escape {
                self.at = start + length;
                return self.syntax("`%` needs two hexadecimal digits in a tag");
            }
            length += 1;
        }
        self.at = start + length;
        let written = &self.text[start..self.at];
        let core = if verbatim {
            if self.peek() != b'>' || length == 2 {
                return self.syntax("a tag that starts with `!<` ends with `>`");
            }
            self.at += 1;
            written[2..].strip_prefix("tag:yaml.org,2002:")
        } else {
            self.short_tag(written)?
        };
        if !self.is_blank(self.at) {
            return self.syntax("a blank must follow a tag");
        }
        Ok(match core {
            _ if written == "!" || written == "!<!" => Tag::NonSpecific,
            Some("binary") => Tag::Binary,
            Some("bool") => Tag::Bool,
            Some("float") => Tag::Float,
            Some("int") => Tag::Int,
            Some("merge") => Tag::Merge,
            Some("null") => Tag::Null,
            Some("str") => Tag::String,
            Some("timestamp") => Tag::Timestamp,
            _ => Tag::Other,
        })
    }

    /// `!own`, `!!core` or `!handle!name`, of which only the first two are known without a directive.
    fn short_tag<'t>(&self, written: &'t str) -> Result<Option<&'t str>> {
        let name = &written[1..];
        let Some(handle) = name.find(|c: char| !c.is_ascii() || !is_word(c as u8)) else { return Ok(None) };
        if !name[handle..].starts_with('!') {
            return Ok(None);
        }
        if name.len() == handle + 1 {
            return self.syntax("the tag has no name");
        }
        if handle > 0 {
            return self.syntax(format!("there is no tag handle `!{}!`", &name[..handle]));
        }
        Ok(Some(&name[1..]))
    }
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-'
}
