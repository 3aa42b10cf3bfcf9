//! YAML text into a [`Tree`].
//!
//! Our own parser, for three reasons: kubectl's reader (go-yaml v2) speaks YAML 1.1 with habits of its own, and one
//! that accepts other documents is no use; every node needs its place; and mesh configuration comes as thousands of
//! small documents, on which the event parsers at hand are slow. It goes over the bytes once and descends by recursion,
//! which the depth limit keeps short.

mod block;
mod flow;
mod literal;
mod plain;
mod properties;
mod quoted;

use std::{borrow::Cow, collections::HashMap, ops::Range};

use super::tree::{Kind, Node, Tree};
use crate::Code;
use properties::Properties;

/// Why a text is no tree, and where in it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Refusal {
    pub(super) code: Code,
    pub(super) message: String,
    pub(super) span: Range<usize>,
    pub(super) hint: Option<&'static str>,
}

type Result<T> = std::result::Result<T, Box<Refusal>>;

/// The first document of the text; no nodes when there is none. NUL must have been ruled out.
pub(super) fn parse(text: &str, max_depth: usize) -> Result<Tree<'_>> {
    let json = text.trim_start().starts_with('{');
    let mut parser = Parser {
        text,
        bytes: text.as_bytes(),
        at: 0,
        line: 0,
        may_key: true,
        json,
        depth: 0,
        max_depth,
        anchors: HashMap::new(),
        // About as many nodes as there will be; growing would copy them over and over.
        tree: Tree { nodes: Vec::with_capacity(text.len() / 20 + 1), end: 0 },
    };
    if u32::try_from(text.len()).is_err() {
        return Err(parser.refusal(Code::TooLarge, "the document has more than 4 GiB", 0..0));
    }
    parser.skip_to_token(false);
    if parser.bytes.get(parser.at) == Some(&b'%') && parser.column() == 0 {
        let message = "directives are not read; kubectl does not either";
        return Err(parser.refusal(Code::Syntax, message, parser.at..parser.at + 1));
    }
    if parser.at_marker() {
        return parser.syntax("the document ends before it has begun");
    }
    if parser.at < text.len() {
        parser.block_node(-1, false)?;
        parser.skip_to_token(false);
    }
    if parser.at_marker() {
        parser.at += 3;
        parser.skip_to_token(false);
    }
    parser.tree.end = parser.at as u32;
    Ok(parser.tree)
}

struct Parser<'s> {
    text: &'s str,
    bytes: &'s [u8],
    /// The next byte to read.
    at: usize,
    /// Where its line starts.
    line: usize,
    /// A key may start here: at the start of a line, and after `- ` and `? `, but not after `key: `.
    may_key: bool,
    /// It starts as JSON does. kubectl would read it as JSON, so what only JSON allows is allowed.
    json: bool,
    depth: usize,
    max_depth: usize,
    anchors: HashMap<&'s str, u32>,
    tree: Tree<'s>,
}

/// A node without children, not yet in the tree: it may turn out to be the first key of a map.
struct Leaf<'s> {
    kind: Kind,
    text: Cow<'s, str>,
    span: Range<usize>,
}

impl<'s> Parser<'s> {
    /// The byte at hand; 0 at the end, as the text holds none.
    fn peek(&self) -> u8 {
        self.bytes.get(self.at).copied().unwrap_or(0)
    }

    fn column(&self) -> i32 {
        // Only where a key or an item may start, and there only ASCII is in front.
        i32::try_from(self.at - self.line).unwrap_or(i32::MAX)
    }

    /// How many bytes the line break at this place has. YAML 1.1 has more of them than 1.2.
    fn line_break(&self, at: usize) -> usize {
        match self.bytes.get(at..) {
            Some([b'\r', b'\n', ..]) => 2,
            Some([b'\n' | b'\r', ..]) => 1,
            Some([0xc2, 0x85, ..]) => 2,
            Some([0xe2, 0x80, 0xa8 | 0xa9, ..]) => 3,
            _ => 0,
        }
    }

    /// Blank, a line break or the end.
    fn is_blank(&self, at: usize) -> bool {
        match self.bytes.get(at) {
            None | Some(b' ' | b'\t' | b'\n' | b'\r') => true,
            Some(0xc2 | 0xe2) => self.line_break(at) > 0,
            Some(_) => false,
        }
    }

    /// Goes past the line break at hand and says what a text has for it.
    fn end_line(&mut self) -> &'s str {
        let length = self.line_break(self.at);
        let written = &self.text[self.at..self.at + length];
        self.at += length;
        self.line = self.at;
        // Only the Unicode separators are kept.
        if length == 3 { written } else { "\n" }
    }

    /// Over blanks, comments and line ends to whatever comes next.
    fn skip_to_token(&mut self, flow: bool) {
        loop {
            while match self.peek() {
                b' ' => true,
                b'\t' => flow || !self.may_key || self.json,
                _ => false,
            } {
                self.at += 1;
            }
            if self.peek() == b'#' {
                while self.at < self.bytes.len() && self.line_break(self.at) == 0 {
                    self.at += 1;
                }
            }
            if self.line_break(self.at) == 0 {
                return;
            }
            self.end_line();
            self.may_key |= !flow;
        }
    }

    /// At a `...` or `---` line.
    fn at_marker(&self) -> bool {
        self.at == self.line
            && self.bytes.get(self.at..self.at + 3).is_some_and(|marker| marker == b"..." || marker == b"---")
            && self.is_blank(self.at + 3)
    }

    /// A key that began here is at its colon: on the same line, and not further than YAML looks ahead.
    fn is_short_key(&self, start: usize) -> bool {
        start >= self.line
            && (self.at - start <= 1024 || self.text[start..self.at].chars().nth(1024).is_none())
    }

    fn push_leaf(&mut self, leaf: Leaf<'s>, properties: &Properties<'s>) {
        let next = self.number() + 1;
        self.bind(properties);
        let (start, end) = (leaf.span.start as u32, leaf.span.end as u32);
        self.tree.nodes.push(Node {
            kind: leaf.kind,
            tag: properties.tag,
            start,
            end,
            next,
            text: leaf.text,
        });
    }

    /// Nothing is written here: null, unless a tag makes it something else.
    fn push_empty(&mut self, at: usize, properties: &Properties<'s>) {
        self.push_leaf(Leaf { kind: Kind::Plain, text: Cow::Borrowed(""), span: at..at }, properties);
    }

    /// A list or map whose children follow; gives its number for `close`.
    fn open(&mut self, kind: Kind, start: usize, properties: &Properties<'s>) -> Result<u32> {
        if self.depth >= self.max_depth {
            let message = format!("maps and lists are nested more than {} deep", self.max_depth);
            return Err(self.refusal(Code::TooDeep, message, start..start + 1));
        }
        self.depth += 1;
        let number = self.number();
        self.push_leaf(Leaf { kind, text: Cow::Borrowed(""), span: start..start }, properties);
        Ok(number)
    }

    fn close(&mut self, number: u32, end: usize) {
        self.depth -= 1;
        let next = self.number();
        if let Some(node) = self.tree.nodes.get_mut(number as usize) {
            node.next = next;
            node.end = end as u32;
        }
    }

    /// Of the node that is pushed next.
    fn number(&self) -> u32 {
        self.tree.nodes.len() as u32
    }

    /// Where the last node ends.
    fn end_of_last(&self) -> usize {
        self.tree.nodes.last().map_or(0, |node| node.end as usize)
    }

    fn bind(&mut self, properties: &Properties<'s>) {
        if let Some(anchor) = properties.anchor {
            let number = self.number();
            self.anchors.insert(anchor, number);
        }
    }

    #[cold]
    fn refusal(&self, code: Code, message: impl Into<String>, span: Range<usize>) -> Box<Refusal> {
        Box::new(Refusal { code, message: message.into(), span, hint: None })
    }

    /// The text is no YAML at the byte at hand.
    #[cold]
    fn syntax<T>(&self, message: impl Into<String>) -> Result<T> {
        Err(self.refusal(Code::Syntax, message, self.at..self.at + 1))
    }

    #[cold]
    fn syntax_hint<T>(&self, message: &str, hint: &'static str) -> Result<T> {
        let mut refusal = self.refusal(Code::Syntax, message, self.at..self.at + 1);
        refusal.hint = Some(hint);
        Err(refusal)
    }

    /// No token starts with the byte at hand.
    #[cold]
    fn unexpected<T>(&self) -> Result<T> {
        match self.text[self.at..].chars().next() {
            None => self.syntax("the document ends too early"),
            Some('\t') => self.syntax_hint("a tab cannot indent", "use spaces"),
            Some(c @ ('@' | '`' | '%')) => {
                self.syntax_hint(&format!("`{c}` cannot start a value"), "put the value in quotes")
            }
            Some(c) => self.syntax(format!("`{}` is not expected here", c.escape_debug())),
        }
    }
}
