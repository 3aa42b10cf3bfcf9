//! One document as written: scalars not yet resolved, aliases not yet followed, every node with its place. It is what
//! both the value and the positions are made of.

use std::borrow::Cow;

/// The nodes of a document, each collection before its children. A map's children are key, value, key, value.
#[derive(Debug, Default)]
pub(super) struct Tree<'s> {
    pub(super) nodes: Vec<Node<'s>>,
    /// Where the parser stopped; behind it only what follows a `...`.
    pub(super) end: u32,
}

#[derive(Debug)]
pub(super) struct Node<'s> {
    pub(super) kind: Kind,
    pub(super) tag: Tag,
    /// The first byte of the node, its properties not counted, and the first one behind it.
    pub(super) start: u32,
    pub(super) end: u32,
    /// The next node that is not inside this one.
    pub(super) next: u32,
    /// Of a scalar.
    pub(super) text: Cow<'s, str>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Unquoted: the text decides what it is.
    Plain,
    /// Quoted or a block: a string.
    Quoted,
    List,
    Map,
    /// Of the node with this number.
    Alias(u32),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tag {
    None,
    /// `!`: a string, whatever it looks like.
    NonSpecific,
    Binary,
    Bool,
    Float,
    Int,
    Merge,
    Null,
    String,
    Timestamp,
    Other,
}

impl Tree<'_> {
    /// The numbers of a collection's children.
    pub(super) fn children(&self, parent: u32) -> impl Iterator<Item = u32> {
        let end = self.node(parent).next;
        let mut at = parent + 1;
        std::iter::from_fn(move || {
            let child = at;
            (child < end).then(|| {
                at = self.node(child).next;
                child
            })
        })
    }

    /// The keys and values of a map.
    pub(super) fn entries(&self, map: u32) -> impl Iterator<Item = (u32, u32)> {
        let mut children = self.children(map);
        std::iter::from_fn(move || Some((children.next()?, children.next()?)))
    }

    pub(super) fn node(&self, at: u32) -> &Node<'_> {
        &self.nodes[at as usize]
    }
}

impl Node<'_> {
    /// A key that merges its value into the map around it.
    pub(super) fn is_merge(&self) -> bool {
        let plain = self.kind == Kind::Plain && self.tag == Tag::None;
        let scalar = matches!(self.kind, Kind::Plain | Kind::Quoted);
        scalar && self.text == "<<" && (plain || matches!(self.tag, Tag::NonSpecific | Tag::Merge))
    }
}
