//! YAML in as kubectl reads it (go-yaml v2's rules, then JSON), and out as Go prints it.
//!
//! In: a [`Source`]. Out: its documents one after the other, each a JSON value that can say where every field was
//! written, or the [`Diagnostic`] that says why it is none. A broken document leaves its neighbours alone; only the one
//! at hand is in memory. JSON is YAML and needs nothing special.
//!
//! Values are `serde_json`'s with sorted maps: Go prints them sorted, too, and the order in the text is kept by the
//! positions. Whole numbers keep all of their 64 bits.

mod build;
mod number;
mod options;
mod order;
mod parse;
mod positions;
mod print;
mod quote;
mod scalar;
mod split;
mod timestamp;
mod tree;
mod value;

use std::{ops::Range, sync::OnceLock};

use serde_json::Value;

pub use build::Build;
pub use options::{Duplicates, Options};
pub use print::{Node, Print, TooDeep, print, to_string};

use crate::{At, Code, Diagnostic, Path, Place, Source};
use positions::{Found, Positions};
use split::{Chunk, Chunks};
use value::Convert;

/// For printers of another style than [`to_string`]'s: a string with the end of its line, where no long line is folded;
/// the lines of a text of several are indented by `margin`.
pub fn print_string(out: &mut String, text: &str, margin: usize) {
    quote::print_unfolded(out, text, margin);
}

/// A key, for the same printers.
pub fn print_key(out: &mut String, key: &str) {
    quote::print_key(out, key);
}

/// Puts keys into go-yaml's order, for the same printers.
pub fn sort_keys<V: Copy>(entries: &mut [(&str, V)]) {
    order::sort(entries);
}

/// One document of a source.
#[derive(Debug)]
pub struct Document {
    pub value: Value,
    /// What is accepted but should be told: duplicate keys, text that is not read.
    pub warnings: Vec<Diagnostic>,
    source: Source,
    span: Range<usize>,
    options: Options,
    positions: OnceLock<Option<Positions>>,
}

impl Document {
    /// Where a value stands; where the path leads out of the document, the deepest value on the way that is there.
    pub fn place(&self, path: &Path) -> Place {
        Place::span(&self.source, self.find(path).value)
    }

    /// The same for the key in front of a value; for a list's item and for the document, the value itself.
    pub fn key_place(&self, path: &Path) -> Place {
        let found = self.find(path);
        Place::span(&self.source, found.key.unwrap_or(found.value))
    }

    pub fn source(&self) -> &Source {
        &self.source
    }

    fn find(&self, path: &Path) -> Found {
        let positions = self.positions.get_or_init(|| {
            let text = str::from_utf8(&self.source.bytes()[self.span.clone()]).ok()?;
            let tree = parse::parse(text, self.options.max_depth).ok()?;
            let mut convert = Convert::new(&tree, &self.source, self.span.start, &self.options);
            Some(Positions::new(&tree, self.span.start, &mut convert))
        });
        positions.as_ref().map_or_else(Found::default, |positions| positions.find(path))
    }
}

/// The documents of a source. Empty ones, and those that hold only comments or null, are passed by.
pub fn load_all<'s>(source: &'s Source, options: &'s Options) -> Documents<'s> {
    let too_large = source.bytes().len() > options.max_bytes;
    let bytes = if too_large { &[] } else { source.bytes() };
    Documents { source, options, chunks: Chunks::new(bytes), count: 0, too_large }
}

/// The first document of a text, as Go's `yaml.Unmarshal` reads it, into any kind of value; `None` where there is only
/// white space or comments. What follows the document is not looked at.
pub fn load_first<V: Build>(source: &Source, options: &Options) -> Result<Option<V>, Box<Diagnostic>> {
    if source.bytes().len() > options.max_bytes {
        return Err(too_large(source, options));
    }
    for chunk in Chunks::new(source.bytes()) {
        let (tree, base) = tree(source, chunk, options)?;
        if !tree.nodes.is_empty() {
            return Convert::new(&tree, source, base, options).value(0, 0, &At::TOP).map(Some);
        }
    }
    Ok(None)
}

/// See [`load_all`].
pub struct Documents<'s> {
    source: &'s Source,
    options: &'s Options,
    chunks: Chunks<'s>,
    count: usize,
    too_large: bool,
}

impl Iterator for Documents<'_> {
    type Item = Result<Document, Box<Diagnostic>>;

    fn next(&mut self) -> Option<Self::Item> {
        if std::mem::take(&mut self.too_large) {
            return Some(Err(too_large(self.source, self.options)));
        }
        loop {
            let chunk = self.chunks.next()?;
            let at = chunk.text.start;
            let read = read(self.source, chunk, self.options);
            let Some(result) = read.transpose() else { continue };
            self.count += 1;
            if self.count > self.options.max_documents {
                self.chunks = Chunks::new(&[]);
                let message = format!("only the first {} documents are read", self.options.max_documents);
                let place = Place::span(self.source, at..at);
                return Some(Err(Box::new(Diagnostic::new(Code::TooManyDocuments, message).at(place))));
            }
            return Some(result);
        }
    }
}

fn too_large(source: &Source, options: &Options) -> Box<Diagnostic> {
    let message = format!(
        "the input has more than {} MiB, which is as much as is read of one",
        options.max_bytes >> 20
    );
    Box::new(Diagnostic::new(Code::TooLarge, message).at(Place::whole(source)).hint("split the file"))
}

fn read(source: &Source, chunk: Chunk, options: &Options) -> Result<Option<Document>, Box<Diagnostic>> {
    let end_of_chunk = chunk.text.end;
    let (tree, start) = tree(source, chunk, options)?;
    if tree.nodes.is_empty() {
        return Ok(None);
    }
    let mut convert = Convert::new(&tree, source, start, options);
    let value: Value = convert.value(0, 0, &At::TOP)?;
    if value.is_null() {
        return Ok(None);
    }
    let mut warnings = convert.warnings;
    let end = start + tree.end as usize;
    if end < end_of_chunk {
        let message = "what follows here, up to the next `---`, is not read";
        let hint = "put `---` on a line of its own in front of it, or remove it";
        let place = Place::span(source, end..end + 1);
        warnings.push(Diagnostic::new(Code::NotRead, message).at(place).hint(hint));
    }
    let positions = OnceLock::new();
    let options = options.clone();
    let span = start..end_of_chunk;
    Ok(Some(Document { value, warnings, source: source.clone(), span, options, positions }))
}

/// A document's tree, and where its text starts in the source.
fn tree<'s>(
    source: &'s Source,
    chunk: Chunk,
    options: &Options,
) -> Result<(tree::Tree<'s>, usize), Box<Diagnostic>> {
    if let Some(span) = chunk.after_separator {
        let message = "only a comment may follow `---` on its line";
        let hint = "kubectl ends the document at every line that begins with `---`; indent the line if it is part \
                    of a text";
        let place = Place::span(source, span);
        return Err(Box::new(Diagnostic::new(Code::Separator, message).at(place).hint(hint)));
    }
    let mut span = chunk.text;
    if source.bytes()[span.clone()].starts_with(b"\xef\xbb\xbf") {
        span.start += 3;
    }
    let text = text(source, &span)?;
    let refused = |refusal: Box<parse::Refusal>| {
        let place = Place::span(source, span.start + refusal.span.start..span.start + refusal.span.end);
        let mut diagnostic = Diagnostic::new(refusal.code, refusal.message).at(place);
        diagnostic.hint = refusal.hint.map(str::to_owned);
        Box::new(diagnostic)
    };
    Ok((parse::parse(text, options.max_depth).map_err(refused)?, span.start))
}

/// Printable ASCII and line ends.
const PLAIN: [bool; 256] = {
    let mut plain = [false; 256];
    let mut byte = 0x20;
    while byte < 0x7f {
        plain[byte] = true;
        byte += 1;
    }
    plain[b'\t' as usize] = true;
    plain[b'\n' as usize] = true;
    plain[b'\r' as usize] = true;
    plain
};

/// The document's bytes as text that YAML may have.
fn text<'s>(source: &'s Source, span: &Range<usize>) -> Result<&'s str, Box<Diagnostic>> {
    let bytes = &source.bytes()[span.clone()];
    let refuse = |at: usize, length: usize, message: String, hint: &str| {
        let place = Place::span(source, span.start + at..span.start + at + length);
        Box::new(Diagnostic::new(Code::NotText, message).at(place).hint(hint))
    };
    let text = str::from_utf8(bytes).map_err(|error| {
        let hint = match bytes {
            [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => "the input is UTF-16; save it as UTF-8",
            _ => "save the input as UTF-8",
        };
        let message = format!("the byte 0x{:02x} is not UTF-8", bytes[error.valid_up_to()]);
        refuse(error.valid_up_to(), 1, message, hint)
    })?;
    // What nearly all texts are made of, looked at quickly.
    if bytes.chunks(64).all(|chunk| chunk.iter().fold(true, |fine, byte| fine & PLAIN[usize::from(*byte)])) {
        return Ok(text);
    }
    // JSON forbids only what is below the blank.
    let json = text.trim_start().starts_with('{');
    let forbidden = text.bytes().enumerate().find(|(at, byte)| match byte {
        0..=0x1f => !matches!(byte, b'\t' | b'\n' | b'\r'),
        0x7f => !json,
        0xc2 => !json && matches!(bytes.get(at + 1), Some(0x80..=0x84 | 0x86..=0x9f)),
        0xef => !json && matches!(bytes.get(at + 1..at + 3), Some([0xbf, 0xbe | 0xbf])),
        _ => false,
    });
    match forbidden.and_then(|(at, _)| Some((at, text[at..].chars().next()?))) {
        None => Ok(text),
        Some((at, character)) => {
            let message = format!("the control character U+{:04X} cannot be in YAML", u32::from(character));
            Err(refuse(at, character.len_utf8(), message, "in double quotes it can be written as an escape"))
        }
    }
}
