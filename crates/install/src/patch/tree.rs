//! An object while overlays are written into it.
//!
//! Maps remember where they come from. What stands in the manifest and what an overlay has put there follow different rules
//! for the overlays after it, and users' files rely on both.

use std::collections::BTreeMap;

use serde_json::Value;

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Tree {
    /// No map and no list.
    Leaf(Value),
    List(Vec<Tree>),
    Map(Origin, BTreeMap<String, Tree>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Origin {
    Manifest,
    Overlay,
}

impl Tree {
    pub(super) fn new(value: Value, origin: Origin) -> Self {
        match value {
            Value::Array(items) => {
                Self::List(items.into_iter().map(|item| Self::new(item, origin)).collect())
            }
            Value::Object(fields) => {
                let fields = fields.into_iter().map(|(name, value)| (name, Self::new(value, origin)));
                Self::Map(origin, fields.collect())
            }
            leaf => Self::Leaf(leaf),
        }
    }

    pub(super) fn into_value(self) -> Value {
        match self {
            Self::Leaf(value) => value,
            Self::List(items) => items.into_iter().map(Self::into_value).collect(),
            Self::Map(_, fields) => {
                Value::Object(fields.into_iter().map(|(name, tree)| (name, tree.into_value())).collect())
            }
        }
    }

    pub(super) fn empty(origin: Origin) -> Self {
        Self::Map(origin, BTreeMap::new())
    }

    pub(super) fn is_null(&self) -> bool {
        *self == Self::Leaf(Value::Null)
    }

    /// A plain value as Go prints it, by which items of lists are compared and searched.
    pub(super) fn printed(&self) -> Option<String> {
        match self {
            Self::Leaf(Value::Null) => Some("<nil>".to_owned()),
            Self::Leaf(Value::String(text)) => Some(text.clone()),
            Self::Leaf(other) => Some(other.to_string()),
            Self::List(_) | Self::Map(..) => None,
        }
    }
}
