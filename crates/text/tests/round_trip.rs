//! What is printed is read back, and nothing that is read does harm.

#![allow(clippy::unwrap_used, reason = "test helpers")]

use mizzen_text::{
    Path, Source, Step,
    yaml::{Options, load_all, to_string},
};
use proptest::{collection, prelude::*};
use serde_json::Value;

/// Pieces that mean something to YAML, or look as if they did.
const PIECES: &[&str] = &[
    "a",
    "Z",
    " ",
    "  ",
    "\n",
    "\t",
    ":",
    ": ",
    "-",
    "- ",
    "#",
    " #",
    "?",
    "? ",
    "'",
    "\"",
    "\\",
    "{",
    "}",
    "[",
    "]",
    ",",
    "&",
    "&a ",
    "*",
    "*a ",
    "!",
    "!!str ",
    "!!int ",
    "|",
    "|\n",
    ">-\n",
    "%",
    "@",
    "~",
    "null",
    "true",
    "yes",
    "0",
    "12",
    "0x1",
    "1e3",
    ".5",
    "_",
    "2026-01-02",
    "é",
    "😀",
    "\u{85}",
    "\u{2028}",
    "\u{feff}",
    "\r",
    "\0",
    "=",
    "<<",
    "<<: ",
    "---",
    "---\n",
    "...\n",
    "key: ",
    "\n  ",
    "\n- ",
];

fn text() -> impl Strategy<Value = String> {
    let pieces = collection::vec(prop::sample::select(PIECES), 0..6).prop_map(|pieces| pieces.concat());
    prop_oneof![pieces, any::<String>(), "[a-z]{120,140}"]
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_filter("JSON has no others", |float| float.is_finite()).prop_map(Value::from),
        text().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 40, 6, |inner| {
        prop_oneof![
            collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            collection::btree_map(text(), inner, 0..5)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

/// A whole float comes back as an integer, as it does from Go.
fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => a == b || (b.is_f64() && a.as_f64() == b.as_f64()),
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b)),
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(key, a)| b.get(key).is_some_and(|b| same(a, b)))
        }
        (a, b) => a == b,
    }
}

/// Every path of a value.
fn paths(value: &Value, here: &mut Vec<Step>, all: &mut Vec<Path>) {
    all.push(Path(here.clone()));
    let mut below = |step: Step, value: &Value| {
        here.push(step);
        paths(value, here, all);
        here.pop();
    };
    match value {
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(index, item)| below(Step::Index(index), item));
        }
        Value::Object(map) => map.iter().for_each(|(key, value)| below(Step::Field(key.clone()), value)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_printed_is_read_back(value in value()) {
        let text = to_string(&value);
        let read: Vec<_> = load_all(&Source::new("f", text.as_str()), &Options::OWN).collect();
        match read.as_slice() {
            // A document that is null is no document.
            [] => prop_assert!(value.is_null(), "{text}"),
            [Ok(document)] => prop_assert!(same(&document.value, &value), "{text}\n{:?}\n{value:?}", document.value),
            other => prop_assert!(false, "{text}\n{other:?}"),
        }
    }

    #[test]
    fn every_value_that_is_read_has_a_place_in_its_document(pieces in collection::vec(prop::sample::select(PIECES), 0..40)) {
        let text = pieces.concat();
        let source = Source::new("f", text.as_str());
        for document in load_all(&source, &Options::KUBERNETES).flatten() {
            let mut all = Vec::new();
            paths(&document.value, &mut Vec::new(), &mut all);
            for path in all {
                for place in [document.place(&path), document.key_place(&path)] {
                    let span = place.span.clone().unwrap();
                    prop_assert!(span.start <= span.end && span.end <= text.len(), "{text:?} {path} {span:?}");
                    prop_assert!(text.is_char_boundary(span.start) && text.is_char_boundary(span.end));
                }
            }
        }
    }

    #[test]
    fn no_bytes_do_harm(bytes in collection::vec(any::<u8>(), 0..200)) {
        for read in load_all(&Source::new("f", bytes), &Options::KUBERNETES) {
            if let Err(diagnostic) = read {
                let people = diagnostic.for_people(false);
                prop_assert!(people.chars().all(|c| c == '\n' || !c.is_control()), "{people:?}");
            }
        }
    }
}
