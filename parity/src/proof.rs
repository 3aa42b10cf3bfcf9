//! Proof that a comparison sees: one leaf of a dump is changed, and the comparison must turn red.

use std::hash::{BuildHasher as _, RandomState};

use serde_json::{Value, json};

use crate::dump::Dump;

/// How many leaves can be changed.
pub fn places(dump: &Dump) -> usize {
    let mut count = 0;
    let mut dump = dump.clone();
    messages(&mut dump, &mut |_| {
        count += 1;
        false
    });
    count
}

/// The dump with the leaf of that number changed, and what it was before.
pub fn plant(dump: &Dump, place: usize) -> Option<(Dump, Value)> {
    let mut changed = dump.clone();
    let (mut count, mut before) = (0, None);
    messages(&mut changed, &mut |leaf| {
        let here = count == place;
        if here {
            before = Some(leaf.clone());
            *leaf = other(leaf);
        }
        count += 1;
        here
    });
    before.map(|before| (changed, before))
}

/// Some number below that one.
pub fn random(below: usize) -> usize {
    let number = RandomState::new().hash_one(std::process::id());
    usize::try_from(number % (below.max(1) as u64)).unwrap_or_default()
}

fn other(leaf: &Value) -> Value {
    match leaf {
        Value::Bool(flag) => Value::Bool(!flag),
        Value::Number(number) => json!(number.as_f64().unwrap_or_default() + 1.0),
        Value::String(text) => Value::String(format!("{text}, planted")),
        Value::Null | Value::Array(_) | Value::Object(_) => "planted".into(),
    }
}

fn messages(dump: &mut Dump, visit: &mut impl FnMut(&mut Value) -> bool) -> bool {
    let kinds = dump.0.values_mut().flat_map(|configuration| configuration.0.values_mut());
    for message in kinds.flat_map(|messages| messages.values_mut()) {
        if walk(message, visit) {
            return true;
        }
    }
    false
}

fn walk(value: &mut Value, visit: &mut impl FnMut(&mut Value) -> bool) -> bool {
    match value {
        Value::Object(map) if !map.is_empty() => map.values_mut().any(|value| walk(value, visit)),
        Value::Array(items) if !items.is_empty() => items.iter_mut().any(|value| walk(value, visit)),
        leaf => visit(leaf),
    }
}
