//! What can be written: blocks of attributes, each with a shape and the field that it becomes.
//!
//! The tables of the front ends are made of these, and everything else follows from the tables: reading with all errors
//! at once, the rendered object, the JSON Schema, and the tests' list of what must be tested.

use super::decode::Decode;
use mizzen_text::At;
use serde_json::{Map, Value};

/// Fields of a map.
pub(crate) type Fields = Map<String, Value>;

/// What is wrong with a text, as a predicate: `must be …`.
pub(crate) type Syntax = fn(&str) -> Result<(), String>;

/// A map with named attributes.
#[derive(Debug)]
pub(crate) struct Block {
    pub(crate) attributes: &'static [Attribute],
    pub(crate) rules: &'static [Rule],
    /// What the table cannot say: a last look at what was written, and a hand on what is rendered from it.
    pub(crate) finish: Option<Finish>,
}

pub(crate) type Finish = fn(&Fields, &mut Fields, &mut Decode<'_>, &At<'_>);

#[derive(Debug)]
pub(crate) struct Attribute {
    pub(crate) name: &'static str,
    /// The field, from that of the block: `a.b`; nothing for fields of the block itself, [`NOWHERE`] for what only the
    /// block's last look is for.
    pub(crate) to: &'static str,
    pub(crate) shape: Shape,
    pub(crate) required: bool,
    /// What is written where the attribute is left out and its block is not. Most defaults are Istio's, by omission.
    pub(crate) default: Option<i64>,
    pub(crate) about: &'static str,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Shape {
    Text(Syntax),
    /// One of these words, in either case.
    Word(&'static [&'static str]),
    /// One of the first words, which becomes the second.
    WordTo(&'static [(&'static str, &'static str)]),
    Whole {
        least: i64,
        most: i64,
        /// What to do where the number is too small.
        hint: Option<&'static str>,
    },
    /// A whole number that the field has as text.
    WholeText {
        least: i64,
        most: i64,
    },
    Number {
        least: f64,
        most: f64,
    },
    Truth,
    /// Said or not said: `true` is the only value.
    Said,
    /// The field says the opposite.
    Untruth,
    /// `1h`, `1m`, `1s`, `1ms`, `1h30m`; at least a millisecond.
    Duration,
    List {
        of: &'static Shape,
        least: usize,
        most: usize,
    },
    /// Texts that become one, joined by commas.
    Joined(Syntax),
    /// Entries under names of the user's own.
    Map {
        key: Syntax,
        of: &'static Shape,
        most: usize,
    },
    /// The same, which becomes a list of maps with two fields.
    Pairs {
        key: &'static str,
        value: &'static str,
        of: &'static Shape,
    },
    Block(&'static Block),
    /// A value that becomes a list of one.
    Single(&'static Shape),
    /// A value that becomes a map with this one field.
    Within(&'static str, &'static Shape),
    /// Text that must be equal, or one of `exact`, `prefix`, `regex`.
    Match,
    /// The same, or `{}` for whatever is there.
    MatchOrPresent,
    /// Labels, or the word `self` for those of the application's own pods.
    Selector,
    /// `Kind/name`.
    Target,
    /// The name of a Gateway, or the key of one of the application's own.
    Gateway,
    /// The name of another object, or the key of the block that makes it; here is the word of its kind.
    Name(&'static str),
    /// Any map; the object's own rules look at it.
    Free,
    /// A shape of one attribute only.
    Own(&'static Own),
    /// The blocks of all kinds, which are read one by one.
    Istio,
}

#[derive(Debug)]
pub(crate) struct Own {
    pub(crate) decode: fn(&Value, &mut Decode<'_>, &At<'_>) -> Option<Value>,
    /// As JSON Schema.
    pub(crate) schema: fn() -> Value,
}

/// What holds between the attributes of a block.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Rule {
    ExactlyOne(&'static [&'static str]),
    AtMostOne(&'static [&'static str]),
    AtLeastOne(&'static [&'static str]),
    /// The first only with the second.
    Needs(&'static str, &'static str),
}

pub(crate) const NOWHERE: &str = "-";

pub(crate) const fn attribute(
    name: &'static str,
    to: &'static str,
    shape: Shape,
    about: &'static str,
) -> Attribute {
    Attribute { name, to, shape, required: false, default: None, about }
}

impl Attribute {
    pub(crate) const fn required(mut self) -> Self {
        self.required = true;
        self
    }

    pub(crate) const fn default(mut self, value: i64) -> Self {
        self.default = Some(value);
        self
    }
}

impl Block {
    pub(crate) const fn new(attributes: &'static [Attribute]) -> Self {
        Self { attributes, rules: &[], finish: None }
    }

    pub(crate) const fn rules(mut self, rules: &'static [Rule]) -> Self {
        self.rules = rules;
        self
    }

    pub(crate) const fn finish(mut self, finish: Finish) -> Self {
        self.finish = Some(finish);
        self
    }

    pub(crate) fn attribute(&self, name: &str) -> Option<&'static Attribute> {
        self.attributes.iter().find(|attribute| attribute.name == name)
    }
}

/// A list of any length.
pub(crate) const fn list(of: &'static Shape) -> Shape {
    Shape::List { of, least: 0, most: usize::MAX }
}

/// Entries under names of any kind.
pub(crate) const fn map(key: Syntax, of: &'static Shape) -> Shape {
    Shape::Map { key, of, most: usize::MAX }
}

pub(crate) const fn whole(least: i64, most: i64) -> Shape {
    Shape::Whole { least, most, hint: None }
}

pub(crate) const PORT: Shape = whole(1, 65_535);
pub(crate) const INT32: i64 = i32::MAX as i64;
pub(crate) const UINT32: i64 = u32::MAX as i64;
