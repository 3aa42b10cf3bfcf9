//! A [`Tree`] into a value: words resolved, keys made strings, aliases followed, `<<` merged, duplicates told.

use std::{borrow::Cow, collections::HashSet, ops::Range};

use base64::Engine;

use super::{
    build::Build,
    number,
    options::{Duplicates, Options},
    scalar::{self, Scalar},
    tree::{Kind, Node, Tag, Tree},
};
use crate::{At, Code, Diagnostic, Place, Source};

type Result<T> = std::result::Result<T, Box<Diagnostic>>;

/// More than these in one document say nothing new.
const MAX_WARNINGS: usize = 100;

pub(super) struct Convert<'t> {
    tree: &'t Tree<'t>,
    source: &'t Source,
    /// Where the document's text starts in the source.
    base: usize,
    options: &'t Options,
    /// The outermost alias that is being followed.
    alias: Option<u32>,
    expansion: usize,
    pub(super) warnings: Vec<Diagnostic>,
}

impl<'t> Convert<'t> {
    pub(super) fn new(tree: &'t Tree<'t>, source: &'t Source, base: usize, options: &'t Options) -> Self {
        Self { tree, source, base, options, alias: None, expansion: 0, warnings: Vec::new() }
    }

    pub(super) fn value<V: Build>(&mut self, at: u32, depth: usize, path: &At<'_>) -> Result<V> {
        let node = self.tree.node(at);
        self.expand(node)?;
        Ok(match node.kind {
            Kind::Alias(target) => {
                let outer = self.follow(at, target, path)?;
                let value = self.value(target, depth, path);
                self.alias = outer;
                value?
            }
            Kind::List => {
                self.deeper(node, depth, path)?;
                let mut items = Vec::new();
                for (index, child) in self.tree.children(at).enumerate() {
                    items.push(self.value(child, depth + 1, &path.index(index))?);
                }
                V::list(items)
            }
            Kind::Map => {
                self.deeper(node, depth, path)?;
                let mut map = V::Map::default();
                self.fill::<V>(&mut map, at, depth, path)?;
                V::map(map)
            }
            Kind::Plain | Kind::Quoted => match self.scalar(node, path)? {
                Text::Itself => V::text(&node.text),
                Text::Decoded(text) => V::text(&text),
                Text::Is(Scalar::Null) => V::null(),
                Text::Is(Scalar::Bool(bool)) => V::bool(bool),
                Text::Is(Scalar::Int(int)) => V::int(int),
                Text::Is(Scalar::Unsigned(int)) => V::unsigned(int),
                Text::Is(Scalar::Float(float)) => match number::as_integer(float) {
                    Some(int) => V::int(int),
                    None if float.is_finite() => V::float(float),
                    None => {
                        let message = format!("`{}` is a number that JSON does not have", node.text);
                        return Err(self.refusal(Code::NotJson, message, node, path));
                    }
                },
                Text::Is(Scalar::String | Scalar::Timestamp) => V::text(&node.text),
            },
        })
    }

    /// Puts a map's entries over what is there. Like kubectl, also those that `<<` brings: the order decides.
    fn fill<V: Build>(&mut self, map: &mut V::Map, at: u32, depth: usize, path: &At<'_>) -> Result<()> {
        let tree = self.tree;
        // Overwriting what was merged is no duplicate: then the map's own keys have to be remembered.
        let mut own = tree.entries(at).any(|(key, _)| tree.node(key).is_merge()).then(HashSet::new);
        for (key_at, value_at) in tree.entries(at) {
            let key = tree.node(key_at);
            if key.is_merge() {
                self.merge::<V>(map, value_at, depth, path)?;
                continue;
            }
            let name = self.key(key_at, path)?;
            let value = self.value(value_at, depth + 1, &path.field(&name))?;
            let remembered = own.as_mut().map(|own| !own.insert(name.clone()));
            let replaced = V::insert(map, &name, value);
            // What an alias repeats was told where it was written.
            if remembered.unwrap_or(replaced) && self.alias.is_none() {
                self.duplicate(at, key_at, path)?;
            }
        }
        Ok(())
    }

    fn merge<V: Build>(&mut self, map: &mut V::Map, at: u32, depth: usize, path: &At<'_>) -> Result<()> {
        let node = self.tree.node(at);
        match node.kind {
            Kind::List => {
                // Of several, the first has the last word.
                let items: Vec<u32> = self.tree.children(at).collect();
                items.into_iter().rev().try_for_each(|item| self.merge_one::<V>(map, item, depth, path))
            }
            _ => self.merge_one::<V>(map, at, depth, path),
        }
    }

    fn merge_one<V: Build>(&mut self, map: &mut V::Map, at: u32, depth: usize, path: &At<'_>) -> Result<()> {
        let node = self.tree.node(at);
        self.expand(node)?;
        // Merges nest without making the value any deeper.
        if depth >= self.options.max_depth {
            return Err(self.too_deep(node, path));
        }
        match node.kind {
            Kind::Map => self.fill::<V>(map, at, depth + 1, path),
            Kind::Alias(target) if self.tree.node(target).kind == Kind::Map => {
                let outer = self.follow(at, target, path)?;
                let filled = self.fill::<V>(map, target, depth + 1, path);
                self.alias = outer;
                filled
            }
            _ => {
                let message = "`<<` needs a map, or a list of maps, to merge";
                Err(self.refusal(Code::Merge, message.to_owned(), node, path))
            }
        }
    }

    /// A key as sigs.k8s.io/yaml makes it a string.
    pub(super) fn key(&mut self, at: u32, path: &At<'_>) -> Result<Cow<'t, str>> {
        let tree = self.tree;
        let mut node = tree.node(at);
        if let Kind::Alias(target) = node.kind {
            let outer = self.follow(at, target, path)?;
            node = tree.node(target);
            let counted = self.expand(node);
            self.alias = outer;
            counted?;
        }
        self.expand(node)?;
        let what = match node.kind {
            Kind::Plain if self.options.plain_keys && node.tag == Tag::None => {
                match self.scalar(node, path)? {
                    Text::Is(Scalar::Null) => "null",
                    _ => return Ok(Cow::Borrowed(&node.text)),
                }
            }
            Kind::Plain | Kind::Quoted => match self.scalar(node, path)? {
                Text::Itself | Text::Is(Scalar::String | Scalar::Timestamp) => {
                    return Ok(Cow::Borrowed(&node.text));
                }
                Text::Decoded(text) => return Ok(text.into()),
                Text::Is(Scalar::Bool(bool)) => return Ok(bool.to_string().into()),
                Text::Is(Scalar::Int(int)) => return Ok(int.to_string().into()),
                #[expect(clippy::cast_possible_truncation, reason = "so does sigs.k8s.io/yaml")]
                Text::Is(Scalar::Float(float)) => return Ok(number::shortest_32(float as f32).into()),
                Text::Is(Scalar::Null) => "null",
                Text::Is(Scalar::Unsigned(_)) => "a number of more than 63 bits",
            },
            Kind::List => "a list",
            Kind::Map | Kind::Alias(_) => "a map",
        };
        let message = format!("a key must be a string, this one is {what}");
        Err(self.refusal(Code::NotJson, message, self.tree.node(at), path))
    }

    fn scalar(&self, node: &Node<'_>, path: &At<'_>) -> Result<Text> {
        let refuse = |what: &str| {
            let message =
                format!("`{}` cannot be read as {what}, which its tag says it is", brief(&node.text));
            Err(self.refusal(Code::Tag, message, node, path))
        };
        let resolved = match (node.tag, node.kind) {
            (Tag::String | Tag::Other | Tag::Merge | Tag::NonSpecific, _) | (Tag::None, Kind::Quoted) => {
                return Ok(Text::Itself);
            }
            (Tag::Binary, _) => {
                return match decode(&node.text) {
                    Some(text) => Ok(Text::Decoded(text)),
                    None => refuse("base64"),
                };
            }
            _ => scalar::resolve(&node.text),
        };
        match (node.tag, resolved) {
            (Tag::Null, Scalar::Null)
            | (Tag::Bool, Scalar::Bool(_))
            | (Tag::Int, Scalar::Int(_) | Scalar::Unsigned(_))
            | (Tag::Float, Scalar::Float(_))
            | (Tag::Timestamp, Scalar::Timestamp) => Ok(Text::Is(resolved)),
            #[expect(clippy::cast_precision_loss, reason = "that is what the tag asks for")]
            (Tag::Float, Scalar::Int(int)) => Ok(Text::Is(Scalar::Float(int as f64))),
            (Tag::Null, _) => refuse("null"),
            (Tag::Bool, _) => refuse("a boolean"),
            (Tag::Int, _) => refuse("an integer"),
            (Tag::Float, _) => refuse("a number"),
            (Tag::Timestamp, _) => refuse("a timestamp"),
            _ => Ok(Text::Is(resolved)),
        }
    }

    /// Enters an alias; gives back what to restore when it is left.
    fn follow(&mut self, at: u32, target: u32, path: &At<'_>) -> Result<Option<u32>> {
        // A node that contains its own alias would never end.
        if target < at && at < self.tree.node(target).next {
            let message = "the alias stands inside of what it is an alias of";
            return Err(self.refusal(Code::Alias, message.to_owned(), self.tree.node(at), path));
        }
        let outer = self.alias;
        self.alias = outer.or(Some(at));
        Ok(outer)
    }

    /// Counts what is there only because of an alias.
    fn expand(&mut self, node: &Node<'_>) -> Result<()> {
        if let Some(alias) = self.alias {
            self.expansion += 64 + node.text.len();
            if self.expansion > self.options.max_expansion {
                let message = format!(
                    "with its aliases written out the document has more than {} MiB",
                    self.options.max_expansion >> 20
                );
                return Err(self.refusal(Code::Expansion, message, self.tree.node(alias), &At::TOP));
            }
        }
        Ok(())
    }

    fn deeper(&self, node: &Node<'_>, depth: usize, path: &At<'_>) -> Result<()> {
        if depth < self.options.max_depth { Ok(()) } else { Err(self.too_deep(node, path)) }
    }

    fn too_deep(&self, node: &Node<'_>, path: &At<'_>) -> Box<Diagnostic> {
        let message = format!("maps and lists are nested more than {} deep", self.options.max_depth);
        self.refusal(Code::TooDeep, message, node, path)
    }

    fn duplicate(&mut self, map: u32, second: u32, path: &At<'_>) -> Result<()> {
        if self.warnings.len() >= MAX_WARNINGS {
            return Ok(());
        }
        let name = self.key(second, path)?;
        let tree = self.tree;
        let mut first = second;
        for (key, _) in tree.entries(map) {
            if !self.tree.node(key).is_merge() && self.key(key, path)? == name {
                first = key;
                break;
            }
        }
        let message = format!("the key `{}` is in this map already", brief(&name));
        let at = path.field(&name);
        let mut diagnostic = *self.refusal(Code::DuplicateKey, message, self.tree.node(second), &at);
        diagnostic = diagnostic.related("the first one", self.place(self.tree.node(first)));
        match self.options.duplicates {
            Duplicates::Refuse => {
                diagnostic.severity = crate::Severity::Error;
                Err(Box::new(diagnostic.hint("remove one of them")))
            }
            Duplicates::Warn => {
                self.warnings.push(diagnostic.hint("the last one counts; remove the others"));
                Ok(())
            }
        }
    }

    fn refusal(&self, code: Code, message: String, node: &Node<'_>, path: &At<'_>) -> Box<Diagnostic> {
        Box::new(Diagnostic::new(code, message).at(self.place(node)).path(path.path()))
    }

    fn place(&self, node: &Node<'_>) -> Place {
        Place::span(self.source, span(self.base, node))
    }
}

/// What the text of a scalar comes to.
enum Text {
    Itself,
    Decoded(String),
    Is(Scalar),
}

pub(super) fn span(base: usize, node: &Node<'_>) -> Range<usize> {
    base + node.start as usize..base + node.end as usize
}

/// Base64 into text; where it is not UTF-8, each wrong byte becomes U+FFFD, as in Go's JSON.
fn decode(text: &str) -> Option<String> {
    let text: String = text.chars().filter(|c| !matches!(c, '\r' | '\n')).collect();
    let bytes = base64::engine::general_purpose::STANDARD.decode(text).ok()?;
    let mut out = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        out.push_str(chunk.valid());
        out.extend(std::iter::repeat_n('\u{fffd}', chunk.invalid().len()));
    }
    Some(out)
}

/// Short enough for a message.
fn brief(text: &str) -> String {
    const MOST: usize = 60;
    if text.chars().count() <= MOST {
        return text.to_owned();
    }
    text.chars().take(MOST).chain(['…']).collect()
}
