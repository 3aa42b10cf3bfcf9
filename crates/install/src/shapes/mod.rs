//! What Go types look like in JSON: which fields a struct has, what is in them, and how Kubernetes merges their lists.
//!
//! In: the generated tables, one of Go's structs (IstioOperator and the kinds that charts make) and one of the messages of
//! Helm's values. Out: [`Struct`]s to walk along. Strict decoding and strategic merges are both driven by them, so that
//! neither has code of its own for any kind.

mod read;

use std::{collections::BTreeMap, sync::OnceLock};

/// What may stand at a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// Anything at all.
    Any,
    Bool,
    Text,
    /// A whole number of so many bits.
    Int(u8),
    Uint(u8),
    Float,
    /// Base64.
    Bytes,
    /// `100m`, `1Gi`, or a plain number.
    Quantity,
    IntOrString,
    /// RFC 3339.
    Time,
    /// A Go duration: `1h30m`.
    Duration,
    /// Any map.
    Object,
    /// One of these words, or a number.
    Word(Vec<String>),
    List(Box<Shape>),
    Map(Box<Shape>),
    /// The number of a [`Struct`].
    Struct(usize),
}

/// The fields of a Go struct or of a message.
#[derive(Debug)]
pub(crate) struct Struct {
    pub(crate) name: String,
    /// In the order of their declaration, which decides between names that differ by case.
    pub(crate) fields: Vec<Field>,
}

#[derive(Debug)]
pub(crate) struct Field {
    pub(crate) name: String,
    /// Another spelling that is read, too.
    pub(crate) older: Option<String>,
    pub(crate) shape: Shape,
    /// Lists are merged instead of replaced.
    pub(crate) merge: bool,
    /// Maps are replaced instead of merged.
    pub(crate) replace: bool,
    /// By which field the items of a merged list are known.
    pub(crate) key: Option<String>,
}

impl Struct {
    /// The field of this name; failing that, the first whose name differs only by case, which Go reads as well.
    pub(crate) fn field(&self, name: &str) -> Option<&Field> {
        let exact = self.fields.iter().find(|field| field.name == name);
        exact.or_else(|| self.fields.iter().find(|field| same_but_for_case(&field.name, name)))
    }
}

/// Go folds two more letters onto ASCII: the long s, and Kelvin's sign.
fn same_but_for_case(known: &str, name: &str) -> bool {
    let fold = |letter: char| match letter {
        'ſ' => 's',
        '\u{212a}' => 'k',
        other => other.to_ascii_lowercase(),
    };
    known.chars().map(fold).eq(name.chars().map(fold))
}

/// A table of structs, and which kinds they are.
#[derive(Debug, Default)]
pub(crate) struct Shapes {
    structs: Vec<Struct>,
    names: BTreeMap<String, usize>,
    kinds: BTreeMap<(String, String), usize>,
}

impl Shapes {
    /// IstioOperator, and Kubernetes' own kinds.
    pub(crate) fn kubernetes() -> &'static Self {
        static SHAPES: OnceLock<Shapes> = OnceLock::new();
        SHAPES.get_or_init(|| read::table(include_str!("../generated/kubernetes.json")))
    }

    /// Helm's values.
    pub(crate) fn values() -> &'static Self {
        static SHAPES: OnceLock<Shapes> = OnceLock::new();
        SHAPES.get_or_init(|| read::table(include_str!("../generated/values.json")))
    }

    pub(crate) fn kind(&self, api_version: &str, kind: &str) -> Option<&Struct> {
        self.kinds
            .get(&(api_version.to_owned(), kind.to_owned()))
            .and_then(|number| self.structs.get(*number))
    }

    pub(crate) fn named(&self, name: &str) -> Option<&Struct> {
        self.names.get(name).and_then(|number| self.structs.get(*number))
    }

    pub(crate) fn get(&self, number: usize) -> Option<&Struct> {
        self.structs.get(number)
    }
}
