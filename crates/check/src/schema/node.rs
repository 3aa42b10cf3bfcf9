//! A schema as it is walked: what its words say, resolved, and nothing that does not restrict.

use regex::Regex;
use serde_json::Value;

use super::{format::Format, rules::Rule};

#[derive(Debug, Default)]
pub(super) struct Node {
    /// `None`: a value of any type.
    pub(super) kind: Option<Kind>,
    pub(super) nullable: bool,
    /// Fields that the schema does not have are data, not mistakes.
    pub(super) preserves_unknown: bool,
    pub(super) format: Option<Format>,
    /// Sorted by name.
    pub(super) fields: Box<[(Box<str>, Node)]>,
    pub(super) required: Box<[Box<str>]>,
    /// For the keys that are no field.
    pub(super) additional: Additional,
    pub(super) items: Option<Box<Node>>,
    pub(super) values: Box<[Value]>,
    pub(super) limits: Limits,
    pub(super) list: List,
    pub(super) all_of: Box<[Node]>,
    pub(super) any_of: Box<[Node]>,
    pub(super) one_of: Box<[Node]>,
    pub(super) not: Option<Box<Node>>,
    pub(super) rules: Box<[Rule]>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Object,
    Array,
    String,
    Integer,
    Number,
    Boolean,
    IntOrString,
}

#[derive(Debug, Default)]
pub(super) enum Additional {
    /// Such keys are unknown fields.
    #[default]
    Unknown,
    Any,
    Like(Box<Node>),
}

#[derive(Debug, Default)]
pub(super) struct Limits {
    pub(super) length: Range<u64>,
    pub(super) items: Range<u64>,
    pub(super) properties: Range<u64>,
    pub(super) number: Range<f64>,
    pub(super) above_minimum: bool,
    pub(super) below_maximum: bool,
    pub(super) multiple_of: Option<f64>,
    pub(super) pattern: Option<Regex>,
    pub(super) unique: bool,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Range<T> {
    pub(super) least: Option<T>,
    pub(super) most: Option<T>,
}

impl<T> Default for Range<T> {
    fn default() -> Self {
        Self { least: None, most: None }
    }
}

#[derive(Debug, Default)]
pub(super) enum List {
    #[default]
    Atomic,
    Set,
    /// By these fields of its items.
    Map(Box<[Box<str>]>),
}

impl Node {
    pub(super) fn field_names(&self) -> impl Iterator<Item = &str> {
        self.fields.iter().map(|(name, _)| &**name)
    }

    pub(super) fn field(&self, name: &str) -> Option<&Self> {
        let place = self.fields.binary_search_by(|(known, _)| (**known).cmp(name)).ok()?;
        self.fields.get(place).map(|(_, node)| node)
    }

    /// The schema of whatever stands under a key of an object: a field of it, or an entry of a map.
    pub(super) fn under(&self, key: &str) -> Option<&Self> {
        self.field(key).or(match &self.additional {
            Additional::Like(node) => Some(node),
            Additional::Any | Additional::Unknown => None,
        })
    }

    /// Whether the server takes a key with this value for absent: it drops such nulls before it looks.
    pub(super) fn drops(&self, value: &Value) -> bool {
        value.is_null() && !self.nullable
    }
}
