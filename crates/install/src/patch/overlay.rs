//! The patches of `k8s.overlays`: an object and (path, value) pairs in, the object changed.
//!
//! A path that leads to a map's key makes what is missing on its way; an item of a list must be there, or be added with
//! `[-1]`. No value means delete. Istioctl drops patches that fail without a word; here the others are applied as well, but
//! the caller is told.

use std::collections::BTreeMap;

use mizzen_text::{Source, yaml};
use regex::{RegexBuilder, bytes};
use serde_json::Value;

use super::{
    route::{Element, Pick, Route},
    tree::{Origin, Tree},
};

/// A patch that could not be applied.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{path}: {message}")]
pub struct OverlayError {
    /// As it was written.
    pub path: String,
    pub message: String,
}

/// An expression that compiles to more than this is not searched for.
const LARGEST_EXPRESSION: usize = 1 << 20;

/// Applies the patches in their order. Those that fail change nothing but the maps made on their way.
pub fn overlay(object: &mut Value, patches: &[(String, Option<Value>)]) -> Result<(), Vec<OverlayError>> {
    let mut tree = Tree::new(object.take(), Origin::Manifest);
    let mut errors = Vec::new();
    for (path, value) in patches {
        let route = Route::parse(path);
        let change = match value {
            None | Some(Value::Null) => Change::Delete,
            Some(value) => Change::new(value),
        };
        let result = match (route.0.as_slice(), &change) {
            ([], Change::Delete) => Err("the object as a whole cannot be deleted".to_owned()),
            ([], _) => Err("the path is empty: the object as a whole cannot be replaced".to_owned()),
            (elements, change) => write(&mut tree, false, elements, change).map(drop),
        };
        if let Err(message) = result {
            errors.push(OverlayError { path: path.clone(), message });
        }
    }
    *object = tree.into_value();
    if errors.is_empty() { Ok(()) } else { Err(errors) }
}

/// What happens at the end of a path.
enum Change {
    Delete,
    Set(Tree),
    /// A text that is a map in YAML is this map.
    SetParsed(BTreeMap<String, Tree>),
}

impl Change {
    fn new(value: &Value) -> Self {
        match value.as_str().and_then(parsed) {
            Some(map) => Self::SetParsed(map),
            None => Self::Set(Tree::new(value.clone(), Origin::Overlay)),
        }
    }

    /// What is put into its place; nothing for a deletion.
    fn tree(&self) -> Option<Tree> {
        match self {
            Self::Delete => None,
            Self::Set(tree) => Some(tree.clone()),
            Self::SetParsed(map) => Some(Tree::Map(Origin::Overlay, map.clone())),
        }
    }
}

/// The map that a text may be: only one that looks like it, and JSON stays text.
fn parsed(text: &str) -> Option<BTreeMap<String, Tree>> {
    let sign = if text.contains('\n') { ":" } else { ": " };
    if !text.contains(sign) || serde_json::from_str::<serde_json::Map<String, Value>>(text).is_ok() {
        return None;
    }
    let (source, options) = (Source::new("overlay", text.as_bytes().to_vec()), yaml::Options::default());
    let value = yaml::load_all(&source, &options).next()?.ok()?.value;
    match Tree::new(value, Origin::Overlay) {
        Tree::Map(_, map) => Some(map),
        Tree::Leaf(_) | Tree::List(_) => None,
    }
}

/// Whether what was made on the way is kept. It is not where something is only taken away, or where a text has brought its
/// own key: a map that was made in place of nothing, or for a new item of a list, is forgotten then.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    Kept,
    Forgotten,
}

/// Follows the elements, of which there is at least one. `in_map`: the node is the value of a map's key; only such a list
/// can be changed.
fn write(node: &mut Tree, in_map: bool, elements: &[Element], change: &Change) -> Result<Way, String> {
    let Some((element, rest)) = elements.split_first() else { return Ok(Way::Forgotten) };
    if node.is_null() {
        let wants_list = element.index().is_some() || element.key_value().is_some();
        let mut made = if wants_list { Tree::List(Vec::new()) } else { Tree::empty(Origin::Overlay) };
        let way = write(&mut made, false, elements, change)?;
        if way == Way::Kept {
            *node = made;
        }
        return Ok(way);
    }
    match node {
        Tree::List(items) => write_item(items, in_map, element, rest, change),
        Tree::Map(origin, fields) => write_field(*origin, fields, element, rest, change),
        Tree::Leaf(_) => Err(format!("there is a plain value in front of `{element}`")),
    }
}

fn write_item(
    items: &mut Vec<Tree>,
    in_map: bool,
    element: &Element,
    rest: &[Element],
    change: &Change,
) -> Result<Way, String> {
    let nested = || "a list directly in a list, or in place of nothing, cannot be changed".to_owned();
    let place = place(items, element)?;
    if rest.is_empty() {
        return match (place, change.tree()) {
            _ if !in_map => Err(nested()),
            (Some(place), Some(tree)) => {
                items[place] = tree;
                Ok(Way::Kept)
            }
            (None, Some(tree)) => {
                items.push(tree);
                Ok(Way::Kept)
            }
            (Some(place), None) => {
                items.remove(place);
                Ok(Way::Forgotten)
            }
            (None, None) => Err(format!("there is no item {element} to delete")),
        };
    }
    let mut added = None;
    let item = match place {
        Some(place) => &mut items[place],
        None => added.insert(Tree::empty(Origin::Overlay)),
    };
    let way = write(item, false, rest, change)?;
    if way == Way::Kept {
        if !in_map {
            return Err(nested());
        }
        items.extend(added);
    }
    Ok(way)
}

/// Which item an element means: none for one that is to be added.
fn place(items: &[Tree], element: &Element) -> Result<Option<usize>, String> {
    if let Some(index) = element.index() {
        return Ok(index.filter(|index| *index < items.len()));
    }
    for (index, item) in items.iter().enumerate() {
        let fields = match item {
            Tree::Map(_, fields) => Some(fields),
            Tree::Leaf(_) | Tree::List(_) => None,
        };
        let found = match (element.pick(fields.is_some()), fields) {
            (Pick::Field(key, value), Some(fields)) => {
                let there = fields.get(key).map_or_else(|| Some("<nil>".to_owned()), Tree::printed);
                there.as_deref() == Some(value)
            }
            (Pick::Matching(expression), None) => {
                item.printed().is_some_and(|text| matches(expression, &text))
            }
            _ if fields.is_some() => {
                return Err(format!(
                    "`{element}` must be [key:value] or [index] to pick one of a list of maps"
                ));
            }
            _ => return Err(format!("`{element}` must be in brackets to pick one of a list")),
        };
        if found {
            return Ok(Some(index));
        }
    }
    Err(format!("no item of the list is {element}"))
}

/// Go's classes (`\d`, `\w`) have ASCII in them and nothing else, which bytes give us; but there a dot is one byte, so what is
/// not ASCII is searched as text.
fn matches(expression: &str, text: &str) -> bool {
    if expression.is_ascii() && text.is_ascii() {
        let built =
            bytes::RegexBuilder::new(expression).unicode(false).size_limit(LARGEST_EXPRESSION).build();
        return built.is_ok_and(|expression| expression.is_match(text.as_bytes()));
    }
    let built = RegexBuilder::new(expression).size_limit(LARGEST_EXPRESSION).build();
    built.is_ok_and(|expression| expression.is_match(text))
}

fn write_field(
    origin: Origin,
    fields: &mut BTreeMap<String, Tree>,
    element: &Element,
    rest: &[Element],
    change: &Change,
) -> Result<Way, String> {
    let key = &element.0;
    if let Some(next) = rest.first() {
        let child = fields.entry(key.clone()).or_insert_with(|| match origin {
            Origin::Overlay if next.index().is_some() => Tree::List(Vec::new()),
            origin => Tree::empty(origin),
        });
        return write(child, true, rest, change);
    }
    match (origin, change) {
        (_, Change::Delete) => {
            fields.remove(key);
            return Ok(Way::Forgotten);
        }
        // The text brings its own key.
        (Origin::Overlay, Change::SetParsed(map)) => {
            fields.remove(key);
            if let Some((key, tree)) = map.first_key_value() {
                fields.insert(key.clone(), tree.clone());
            }
            return Ok(Way::Forgotten);
        }
        (Origin::Overlay, Change::Set(tree)) => match fields.get_mut(key) {
            // What an overlay has made a list, a later one adds to.
            Some(Tree::List(items)) => items.push(tree.clone()),
            _ => drop(fields.insert(key.clone(), tree.clone())),
        },
        (Origin::Manifest, change) => {
            if let Some(tree) = change.tree() {
                fields.insert(key.clone(), tree);
            }
        }
    }
    Ok(Way::Kept)
}
