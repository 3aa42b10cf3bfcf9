//! Lists that are sets, or maps by some fields of their items: which items come again.

use std::collections::HashMap;

use mizzen_text::At;
use serde_json::Value;

use super::{node::List, rules::present, walk::Walk};

pub(super) fn check(list: &List, items: &[Value], at: &At<'_>, walk: &mut Walk<'_>) {
    match list {
        List::Atomic => {}
        List::Set => {
            twice(items.iter().map(Value::to_string), at, walk, |_| "is in the list twice".to_owned());
        }
        // Items of a wrong type are told of where types are.
        List::Map(keys) if items.iter().all(|item| item.is_object() || item.is_null()) => {
            let key = |item: &Value| {
                let parts =
                    keys.iter().map(|key| present(item, key).map(Value::to_string).unwrap_or_default());
                parts.collect::<Vec<_>>().join(",")
            };
            let names = keys.join(", ");
            twice(items.iter().map(key), at, walk, |key| match key {
                "" => format!("is the second item without {names}"),
                key => format!("is the second item with {names} {key}"),
            });
        }
        List::Map(_) => {}
    }
}

/// Finds each key at its second place, as the server does, however often it comes.
fn twice(keys: impl Iterator<Item = String>, at: &At<'_>, walk: &mut Walk<'_>, say: impl Fn(&str) -> String) {
    let mut seen = HashMap::new();
    for (index, key) in keys.enumerate() {
        let times = seen.entry(key.clone()).or_insert(0_u32);
        *times += 1;
        if *times == 2 {
            walk.fail(&at.index(index), || say(&key));
        }
    }
}
