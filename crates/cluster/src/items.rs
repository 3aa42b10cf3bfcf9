//! Pieces of a list → its items, one after the other: only one of them is in memory, however long the list is.

use crate::failure::Failure;
use memchr::memchr2;

/// Kubernetes stores objects of at most a few MiB.
const LONGEST: usize = 32 << 20;

#[derive(Debug, Default)]
pub(crate) struct Items {
    /// The list without its items.
    around: Vec<u8>,
    item: Vec<u8>,
    /// Objects and lists that are open.
    depth: usize,
    /// Within `items`.
    inside: bool,
    in_text: bool,
    escaped: bool,
}

impl Items {
    /// Gives each whole item to `each`, in order.
    pub(crate) fn take(
        &mut self,
        mut piece: &[u8],
        mut each: impl FnMut(&[u8]) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        while !piece.is_empty() {
            let used = if self.in_text { self.text(piece) } else { self.structure(piece, &mut each)? };
            piece = &piece[used..];
            if self.item.len().max(self.around.len()) > LONGEST {
                return Err(Failure::TooLarge(LONGEST >> 20));
            }
        }
        Ok(())
    }

    /// The list without its items, at its end.
    pub(crate) fn around(&self) -> &[u8] {
        &self.around
    }

    /// Up to the end of the text, or of the piece.
    fn text(&mut self, piece: &[u8]) -> usize {
        let mut at = 0;
        while at < piece.len() {
            if self.escaped {
                self.escaped = false;
                at += 1;
                continue;
            }
            let Some(found) = memchr2(b'"', b'\\', &piece[at..]) else {
                at = piece.len();
                break;
            };
            at += found + 1;
            if piece[at - 1] == b'"' {
                self.in_text = false;
                break;
            }
            self.escaped = true;
        }
        self.keep(&piece[..at]);
        at
    }

    /// Up to the next text, the end of an item, or the end of the piece.
    fn structure(
        &mut self,
        piece: &[u8],
        each: &mut impl FnMut(&[u8]) -> Result<(), Failure>,
    ) -> Result<usize, Failure> {
        for (at, &byte) in piece.iter().enumerate() {
            match byte {
                b'"' => {
                    self.keep(&piece[..=at]);
                    self.in_text = true;
                    return Ok(at + 1);
                }
                b'[' if self.depth == 1 => {
                    self.keep(&piece[..=at]);
                    self.inside = named_items(&self.around);
                    self.depth += 1;
                    return Ok(at + 1);
                }
                b'{' | b'[' => {
                    // What stands before an item is a comma or nothing.
                    let starts = self.inside && self.depth == 2;
                    self.keep(if starts { &piece[at..=at] } else { &piece[..=at] });
                    self.depth += 1;
                    if starts {
                        self.item.clear();
                        self.item.push(byte);
                    }
                    return Ok(at + 1);
                }
                b'}' | b']' => {
                    self.depth = self.depth.saturating_sub(1);
                    match (self.inside, self.depth) {
                        (true, 2) => {
                            self.item.extend_from_slice(&piece[..=at]);
                            each(&self.item)?;
                            self.item.clear();
                        }
                        (true, 1) => {
                            self.inside = false;
                            self.around.push(byte);
                        }
                        _ => self.keep(&piece[..=at]),
                    }
                    return Ok(at + 1);
                }
                _ => {}
            }
        }
        self.keep(piece);
        Ok(piece.len())
    }

    fn keep(&mut self, bytes: &[u8]) {
        match (self.inside, self.depth) {
            (true, 0..=2) => {}
            (true, _) => self.item.extend_from_slice(bytes),
            (false, _) => self.around.extend_from_slice(bytes),
        }
    }
}

/// Whether this ends with `"items": [`.
fn named_items(text: &[u8]) -> bool {
    let before = |text: &[u8], last: u8| -> Option<usize> {
        let text = text.trim_ascii_end();
        (text.last() == Some(&last)).then(|| text.len() - 1)
    };
    let Some(end) = before(text, b'[').and_then(|end| before(&text[..end], b':')) else { return false };
    text[..end].trim_ascii_end().ends_with(b"\"items\"")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, size: usize) -> (Vec<String>, String) {
        let (mut items, mut seen) = (Items::default(), Vec::new());
        for piece in text.as_bytes().chunks(size) {
            let each = |item: &[u8]| {
                seen.push(String::from_utf8_lossy(item).into_owned());
                Ok(())
            };
            items.take(piece, each).unwrap();
        }
        (seen, String::from_utf8_lossy(items.around()).into_owned())
    }

    #[test]
    fn items_are_whole_however_the_list_is_cut() {
        let list = r#"{"kind":"List","metadata":{"continue":"x","items":[1,{"no":1}]},
            "items" : [ {"a":"}]\"\\","b":[{"c":[]}]} ,{},{"items":[{"d":"[{"}]}],"more":[{"e":1}]}"#;
        let expected = [r#"{"a":"}]\"\\","b":[{"c":[]}]}"#, "{}", r#"{"items":[{"d":"[{"}]}"#];
        for size in 1..=list.len() {
            let (seen, around) = read(list, size);
            assert_eq!(seen, expected, "pieces of {size}");
            let around: serde_json::Value = serde_json::from_str(&around).unwrap();
            assert_eq!(around["metadata"]["continue"], "x");
            assert_eq!(around["items"], serde_json::json!([]));
            assert_eq!(around["more"], serde_json::json!([{ "e": 1 }]));
        }
    }

    #[test]
    fn a_list_without_items_has_none() {
        for list in [r#"{"items":null}"#, r#"{"items":[]}"#, r#"{"items":[ ]}"#, "{}", "[{}]", "", "]}]"] {
            assert_eq!(read(list, 3).0, [""; 0], "{list}");
        }
    }

    #[test]
    fn an_item_that_never_ends_is_not_kept() {
        let mut items = Items::default();
        items.take(br#"{"items":[{"a":""#, |_| Ok(())).unwrap();
        let more = vec![b'x'; 1 << 20];
        assert!((0..64).any(|_| items.take(&more, |_| Ok(())).is_err()));
    }
}
