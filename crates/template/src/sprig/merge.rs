//! `merge` and `mergeOverwrite` as mergo has them: the first map is changed where it is, and whoever holds it sees it.
//!
//! | in the source | in the destination | `merge` | `mergeOverwrite` |
//! |---|---|---|---|
//! | nothing | anything | stays | nothing |
//! | a map | a map that is not empty | both merged in place | both merged in place |
//! | anything | missing or empty | the source's, shared | the source's, shared |
//! | anything else | anything else | stays | the source's, shared; even if it is empty |

use super::{TableEntry, args::Arguments, budget};
use crate::{Call, Elements, Failure, Host, Map, Value};

pub(super) const TABLE: &[TableEntry] = &[
    ("merge", |call| merge(call, false)),
    ("mustMerge", |call| merge(call, false)),
    ("mergeOverwrite", |call| merge(call, true)),
    ("mustMergeOverwrite", |call| merge(call, true)),
];

fn merge(call: &mut Call<'_>, overwrite: bool) -> Result<Value, Failure> {
    call.at_least(1)?;
    let mut destination = call.dict(0)?;
    let sources = call.dicts_from(1)?;
    for source in &sources {
        if destination.is_nil() && !source.is_nil() {
            destination = Map::new();
        }
        let depth = call.host.depth();
        merge_maps(&destination, source, overwrite, depth, call.host)?;
    }
    Ok(destination.into())
}

fn merge_maps(
    destination: &Map,
    source: &Map,
    overwrite: bool,
    depth: usize,
    host: &mut dyn Host,
) -> Result<(), Failure> {
    let below = budget::below(depth)?;
    if destination.is_nil() {
        return Ok(());
    }
    let keys = source.keys();
    host.spend(budget::VALUE * (keys.len() + 1))?;
    for key in keys {
        let Some(new) = source.get(&key) else { continue };
        let old = destination.get(&key);
        if matches!(new, Value::Nil) {
            if overwrite {
                put(destination, key, new)?;
            }
            continue;
        }
        if let (Some(Value::Map(old)), Value::Map(new)) = (&old, &new) {
            merge_maps(old, new, overwrite, below, host)?;
            // Only now: what was empty may have been filled just here, and is kept. Where it is empty still, the
            // source's map takes its place.
            if !old.is_empty() {
                continue;
            }
        }
        if overwrite || old.as_ref().is_none_or(super::defaults::is_empty) {
            put(destination, key, new)?;
        }
    }
    Ok(())
}

fn put(map: &Map, key: std::rc::Rc<str>, value: Value) -> Result<(), Failure> {
    if map.elements() == Elements::Text && !matches!(value, Value::Text(_)) {
        return Err(super::args::wrong("string", &value));
    }
    map.insert(key, value);
    Ok(())
}
