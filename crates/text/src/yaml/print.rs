//! A JSON value as YAML, byte for byte as Go prints it (`sigs.k8s.io/yaml`, hence `kubectl -o yaml`): keys sorted, lists
//! not indented under their key, long strings folded behind column 80.
//!
//! One exception: Go leaves a key `<<` unquoted, which every reader takes for a merge. It is quoted here.

use std::fmt::Write;

use serde_json::Value;

use super::{number, order, quote};

/// One level of a value that can be printed.
pub enum Node<'v, V> {
    Null,
    Bool(bool),
    Int(i64),
    Unsigned(u64),
    Float(f64),
    Text(&'v str),
    List(&'v [V]),
    /// Whose entries have to be asked for.
    Map,
}

/// What can be printed. JSON values can; templates have values of their own.
pub trait Print: Sized {
    fn node(&self) -> Node<'_, Self>;

    /// Lends the entries of a map, in any order.
    fn entries<R>(&self, read: impl FnOnce(Vec<(&str, &Self)>) -> R) -> R;
}

/// The value is nested deeper than it may be, for instance within itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooDeep;

/// The value as a document, without a separator in front.
pub fn to_string(value: &Value) -> String {
    let mut out = String::new();
    // What came out of JSON is not as deep as that.
    let _ = print(&mut out, value, usize::MAX);
    out
}

/// The same for any value, at the end of a text. What has been printed stays there if the value is too deep.
pub fn print<V: Print>(out: &mut String, value: &V, max_depth: usize) -> Result<(), TooDeep> {
    let mut printer = Printer { out, depth: max_depth };
    printer.inline(value, 0, 0)
}

struct Printer<'o> {
    out: &'o mut String,
    /// How much deeper it may go.
    depth: usize,
}

impl Printer<'_> {
    /// Where the line already has what is in front of the value. A collection starts right there, its further lines at
    /// the column; a scalar ends the line, and those that take several are indented by two more than `base`.
    fn inline<V: Print>(&mut self, value: &V, column: usize, base: usize) -> Result<(), TooDeep> {
        match value.node() {
            Node::Map => {
                value.entries(
                    |entries| {
                        if entries.is_empty() { self.word("{}") } else { self.map(entries, column) }
                    },
                )
            }
            Node::List(items) if !items.is_empty() => self.list(items, column),
            scalar => self.scalar(&scalar, base),
        }
    }

    /// At the column where the first key stands already, or the margin.
    fn map<V: Print>(&mut self, mut entries: Vec<(&str, &V)>, column: usize) -> Result<(), TooDeep> {
        self.deeper()?;
        order::sort(&mut entries);
        for (index, (key, value)) in entries.into_iter().enumerate() {
            if index > 0 {
                margin(self.out, column);
            }
            if quote::is_simple_key(key) {
                quote::print_key(self.out, key);
                self.out.push(':');
                self.value(value, column)?;
            } else {
                self.out.push_str("? ");
                quote::print_string(self.out, key, column + 2);
                margin(self.out, column);
                self.out.push_str(": ");
                self.inline(value, column + 2, column)?;
            }
        }
        self.depth += 1;
        Ok(())
    }

    /// Behind a colon.
    fn value<V: Print>(&mut self, value: &V, column: usize) -> Result<(), TooDeep> {
        match value.node() {
            Node::Map => value.entries(|entries| {
                if entries.is_empty() {
                    return self.word(" {}");
                }
                self.out.push('\n');
                margin(self.out, column + 2);
                self.map(entries, column + 2)
            }),
            Node::List(items) if !items.is_empty() => {
                self.out.push('\n');
                margin(self.out, column);
                self.list(items, column)
            }
            scalar => {
                self.out.push(' ');
                self.scalar(&scalar, column)
            }
        }
    }

    fn list<V: Print>(&mut self, items: &[V], column: usize) -> Result<(), TooDeep> {
        self.deeper()?;
        for (index, item) in items.iter().enumerate() {
            if index > 0 {
                margin(self.out, column);
            }
            self.out.push_str("- ");
            self.inline(item, column + 2, column)?;
        }
        self.depth += 1;
        Ok(())
    }

    /// Ends its line.
    fn scalar<V>(&mut self, value: &Node<'_, V>, column: usize) -> Result<(), TooDeep> {
        let written = match value {
            Node::Text(text) => {
                quote::print_string(self.out, text, column + 2);
                return Ok(());
            }
            Node::Null => self.out.write_str("null"),
            Node::Bool(bool) => write!(self.out, "{bool}"),
            Node::Int(int) => write!(self.out, "{int}"),
            Node::Unsigned(int) => write!(self.out, "{int}"),
            Node::Float(float) => self.out.write_str(&number::printed(*float)),
            Node::List(_) => self.out.write_str("[]"),
            Node::Map => self.out.write_str("{}"),
        };
        // A `String` takes everything.
        let _ = written;
        self.out.push('\n');
        Ok(())
    }

    fn word(&mut self, word: &str) -> Result<(), TooDeep> {
        self.out.push_str(word);
        self.out.push('\n');
        Ok(())
    }

    fn deeper(&mut self) -> Result<(), TooDeep> {
        self.depth = self.depth.checked_sub(1).ok_or(TooDeep)?;
        Ok(())
    }
}

impl Print for Value {
    fn node(&self) -> Node<'_, Self> {
        match self {
            Self::Null => Node::Null,
            Self::Bool(bool) => Node::Bool(*bool),
            Self::Number(number) => match (number.as_i64(), number.as_u64()) {
                (Some(int), _) => Node::Int(int),
                (None, Some(int)) => Node::Unsigned(int),
                (None, None) => Node::Float(number.as_f64().unwrap_or(f64::NAN)),
            },
            Self::String(text) => Node::Text(text),
            Self::Array(items) => Node::List(items),
            Self::Object(_) => Node::Map,
        }
    }

    fn entries<R>(&self, read: impl FnOnce(Vec<(&str, &Self)>) -> R) -> R {
        let entries = self.as_object().into_iter().flatten();
        read(entries.map(|(key, value)| (key.as_str(), value)).collect())
    }
}

fn margin(out: &mut String, column: usize) {
    quote::indent(out, column);
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn maps_and_lists_nest() {
        let value =
            json!({"a": {"b": ["x", {"c": 1, "d": [2]}, [3, [4]], [], {}], "e": {}, "f": []}, "g": null});
        let text = "a:\n  b:\n  - x\n  - c: 1\n    d:\n    - 2\n  - - 3\n    - - 4\n  - []\n  - {}\n  e: {}\n  f: []\ng: null\n";
        assert_eq!(to_string(&value), text);
    }

    #[test]
    fn a_long_key_stands_behind_a_question_mark() {
        let key = "k".repeat(129);
        let value = json!({key.clone(): [1, {"a": 2}], "m\nn": {"a": "x\ny"}});
        assert_eq!(
            to_string(&value),
            format!("? {key}\n: - 1\n  - a: 2\n? |-\n  m\n  n\n: a: |-\n    x\n    y\n")
        );
    }

    #[test]
    fn a_key_that_would_merge_is_quoted() {
        assert_eq!(to_string(&json!({"<<": "<<"})), "\"<<\": <<\n");
    }
}
