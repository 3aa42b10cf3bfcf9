//! What one rendering remembers of the documents that it read and printed, so that nobody does the same work twice.
//!
//! Istio's base chart reads each of its fifteen large CRDs twice in a row; and what it prints is read again by whoever
//! wants the objects, only to be printed once more.

use std::{collections::HashSet, rc::Rc};

use crate::{Value, value::changes};

#[derive(Default)]
pub struct Memory {
    read: Option<Read>,
    printed: Printed,
    /// Where documents are printed, one after the other: a place that is large enough already.
    pub(crate) page: String,
}

struct Read {
    text: Rc<str>,
    value: Value,
    changes: u64,
}

impl Memory {
    /// The value that was just read from the same text, if nobody has it any more and nothing was changed since: then it
    /// cannot be told from one that is read anew.
    pub(crate) fn again(&mut self, text: &Rc<str>) -> Option<Value> {
        let read = self.read.take()?;
        let same = Rc::ptr_eq(&read.text, text) || read.text == *text;
        (same && read.changes == changes() && read.value.is_alone()).then_some(read.value)
    }

    pub(crate) fn has_read(&mut self, text: &Rc<str>, value: &Value) {
        self.read = Some(Read { text: Rc::clone(text), value: value.clone(), changes: changes() });
    }

    pub(crate) fn has_printed(&mut self, text: &str) {
        if text.len() >= WORTH_IT {
            self.printed.0.insert(fingerprint(text));
        }
    }

    /// What was printed, once the rendering is over.
    pub(crate) fn into_printed(self) -> Printed {
        self.printed
    }
}

/// Texts that are shorter are read faster than they are remembered.
const WORTH_IT: usize = 4 << 10;

/// The large documents that `toYaml` printed.
#[derive(Clone, Debug, Default)]
pub struct Printed(HashSet<(usize, u64)>);

impl Printed {
    /// Whether this very text is a whole document of `toYaml`: printing what it says would give it again.
    pub fn has(&self, document: &str) -> bool {
        document.len() >= WORTH_IT && !self.0.is_empty() && self.0.contains(&fingerprint(document))
    }
}

/// Quick rather than strong: whoever makes two of his documents look the same harms only himself.
fn fingerprint(text: &str) -> (usize, u64) {
    let (words, rest) = text.as_bytes().as_chunks::<8>();
    let mix = |hash: u64, word: u64| (hash ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29);
    let hash = words.iter().fold(0, |hash, word| mix(hash, u64::from_le_bytes(*word)));
    (text.len(), rest.iter().fold(hash, |hash, byte| mix(hash, u64::from(*byte))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Map;

    fn read() -> (Memory, Rc<str>, Map) {
        let text: Rc<str> = "a: {b: 1}".into();
        let inner: Map = Map::from_iter([("b", Value::Float(1.0))]);
        let map: Map = Map::from_iter([("a", Value::Map(inner))]);
        let mut memory = Memory::default();
        memory.has_read(&text, &Value::Map(map.clone()));
        (memory, text, map)
    }

    #[test]
    fn what_nobody_has_any_more_is_given_again_once() {
        let (mut memory, text, map) = read();
        drop(map);
        assert!(memory.again(&text).is_some());
        assert!(memory.again(&text).is_none());
    }

    #[test]
    fn what_somebody_holds_a_part_of_or_has_changed_is_read_anew() {
        let (mut memory, text, map) = read();
        let part = map.get("a");
        drop(map);
        assert!(memory.again(&text).is_none());
        drop(part);
        let (mut memory, text, map) = read();
        map.insert("c", true);
        drop(map);
        assert!(memory.again(&text).is_none());
    }
}
