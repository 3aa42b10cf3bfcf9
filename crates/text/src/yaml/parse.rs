//! YAML text into a [`Tree`].

use std::{collections::HashMap, ops::Range};

use granit_parser::{ErrorKind, Event, Parser, ScalarStyle};

use super::tree::{Kind, Node, Tag, Tree};
use crate::Code;

/// Why a text is no tree, and where in it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Refusal {
    pub(super) code: Code,
    pub(super) message: String,
    pub(super) span: Range<usize>,
}

pub(super) fn parse(text: &str, max_depth: usize) -> Result<Tree<'_>, Refusal> {
    let mut options =
        granit_parser::options! { flow_nesting_limit: max_depth + 1, block_nesting_limit: max_depth + 1 };
    options.set_emit_comments(false);
    let mut tree = Tree::default();
    let mut open: Vec<u32> = Vec::new();
    let mut anchors: HashMap<usize, u32> = HashMap::new();
    for event in Parser::new_from_str_with_options(text, options) {
        let (event, span) = event.map_err(|error| {
            let at = error.marker().byte_offset().unwrap_or(0);
            let code = match error.kind() {
                ErrorKind::UnknownAnchor => Code::Alias,
                _ => Code::Syntax,
            };
            Refusal { code, message: error.info().to_string(), span: at..at }
        })?;
        let range = span.byte_range().unwrap_or(0..0);
        let (start, end) = (range.start as u32, range.end as u32);
        let at = tree.nodes.len() as u32;
        let (kind, tag, anchor, scalar) = match event {
            Event::Scalar(value, style, anchor, tag) => {
                let kind = if style == ScalarStyle::Plain { Kind::Plain } else { Kind::Quoted };
                (kind, tag, anchor, value)
            }
            Event::Alias(id) => {
                let target = anchors.get(&id).copied().unwrap_or(0);
                (Kind::Alias(target), None, 0, "".into())
            }
            Event::SequenceStart(_, anchor, tag) => (Kind::List, tag, anchor, "".into()),
            Event::MappingStart(_, anchor, tag) => (Kind::Map, tag, anchor, "".into()),
            Event::SequenceEnd | Event::MappingEnd => {
                if let Some(parent) = open.pop() {
                    tree.nodes[parent as usize].next = at;
                    tree.nodes[parent as usize].end = end;
                }
                continue;
            }
            Event::DocumentEnd => {
                tree.end = end;
                break;
            }
            _ => continue,
        };
        if anchor != 0 {
            anchors.insert(anchor, at);
        }
        let tag = tag.map_or(Tag::None, |tag| match (tag.handle(), tag.suffix()) {
            ("!", "") | ("", "!") => Tag::NonSpecific,
            (handle, suffix) => named(&format!("{handle}{suffix}")),
        });
        if matches!(kind, Kind::List | Kind::Map) {
            if open.len() >= max_depth {
                return Err(Refusal { code: Code::TooDeep, message: String::new(), span: range });
            }
            open.push(at);
        }
        tree.nodes.push(Node { kind, tag, start, end, next: at + 1, text: scalar });
    }
    Ok(tree)
}

fn named(tag: &str) -> Tag {
    match tag.strip_prefix("tag:yaml.org,2002:") {
        Some("binary") => Tag::Binary,
        Some("bool") => Tag::Bool,
        Some("float") => Tag::Float,
        Some("int") => Tag::Int,
        Some("merge") => Tag::Merge,
        Some("null") => Tag::Null,
        Some("str") => Tag::String,
        Some("timestamp") => Tag::Timestamp,
        _ => Tag::Other,
    }
}
