//! Where each value of a document stands in its text. Made by parsing the document a second time, when the first
//! diagnostic asks, so that documents without problems carry nothing.

use std::{collections::HashMap, ops::Range};

use super::{
    tree::{Kind, Tree},
    value::{Convert, span},
};
use crate::{At, Path, Step};

#[derive(Debug)]
pub(super) struct Positions(Vec<Spot>);

/// One node of the tree, under the same number.
#[derive(Debug)]
struct Spot {
    span: Range<usize>,
    below: Below,
}

#[derive(Debug)]
enum Below {
    Nothing,
    /// The numbers of the items.
    Items(Vec<u32>),
    /// The number of the value and the place of its key.
    Fields(HashMap<String, (u32, Range<usize>)>),
    Alias(u32),
}

/// Where a value stands, and the key in front of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) value: Range<usize>,
    pub(super) key: Option<Range<usize>>,
}

impl Positions {
    /// Of a tree that has become a value, so its keys, merges and aliases are known to be good.
    pub(super) fn new(tree: &Tree<'_>, base: usize, convert: &mut Convert<'_>) -> Self {
        let mut spots: Vec<Spot> = Vec::with_capacity(tree.nodes.len());
        for (at, node) in (0..).zip(&tree.nodes) {
            let below = match node.kind {
                Kind::Plain | Kind::Quoted => Below::Nothing,
                Kind::Alias(target) => Below::Alias(target),
                Kind::List => Below::Items(tree.children(at).collect()),
                Kind::Map => {
                    let mut fields = HashMap::new();
                    collect(tree, at, base, convert, &mut fields);
                    Below::Fields(fields)
                }
            };
            spots.push(Spot { span: span(base, node), below });
        }
        Self(spots)
    }

    /// The value at the end of the path or, where the path leaves the document, the last one on the way.
    pub(super) fn find(&self, path: &Path) -> Found {
        let Some(top) = self.0.first() else { return Found::default() };
        let mut found = Found { value: top.span.clone(), key: None };
        let mut at = 0;
        for step in &path.0 {
            while let Some(Below::Alias(target)) = self.0.get(at as usize).map(|spot| &spot.below) {
                at = *target;
            }
            let Some(spot) = self.0.get(at as usize) else { break };
            let (next, key) = match (step, &spot.below) {
                (Step::Index(index), Below::Items(items)) => match items.get(*index) {
                    Some(item) => (*item, None),
                    None => break,
                },
                (Step::Field(name), Below::Fields(fields)) => match fields.get(name) {
                    Some((value, key)) => (*value, Some(key.clone())),
                    None => break,
                },
                _ => break,
            };
            at = next;
            found = Found { value: self.0[at as usize].span.clone(), key };
        }
        found
    }
}

fn collect(
    tree: &Tree<'_>,
    map: u32,
    base: usize,
    convert: &mut Convert<'_>,
    fields: &mut HashMap<String, (u32, Range<usize>)>,
) {
    for (key, value) in tree.entries(map) {
        if tree.node(key).is_merge() {
            let merged: Vec<u32> = match tree.node(value).kind {
                Kind::List => tree.children(value).collect(),
                _ => vec![value],
            };
            for item in merged.into_iter().rev() {
                let item = match tree.node(item).kind {
                    Kind::Alias(target) => target,
                    _ => item,
                };
                collect(tree, item, base, convert, fields);
            }
        } else if let Ok(name) = convert.key(key, &At::TOP) {
            fields.insert(name.into_owned(), (value, span(base, tree.node(key))));
        }
    }
}
