//! A dump taken apart.

use std::collections::BTreeMap;

use serde_json::Value;

use super::path::{Path, Step};
use crate::dump::Dump;

pub(super) type Leaves = BTreeMap<(String, Path), Value>;

/// Depth is bounded by the decoder of protobuf messages, which refuses more than a hundred in each other.
pub(super) fn leaves(dump: &Dump) -> Leaves {
    let mut leaves = Leaves::new();
    for (proxy, configuration) in &dump.0 {
        for (kind, messages) in &configuration.0 {
            let kind = Path(vec![Step::Key(kind.word().to_owned())]);
            for (name, message) in messages {
                collect(proxy, &kind.with(Step::Key(name.clone())), message, &mut leaves);
            }
        }
    }
    leaves
}

fn collect(proxy: &str, path: &Path, value: &Value, leaves: &mut Leaves) {
    match value {
        Value::Object(map) if !map.is_empty() => {
            for (key, value) in map {
                collect(proxy, &path.with(Step::Key(key.clone())), value, leaves);
            }
        }
        Value::Array(items) if !items.is_empty() => {
            for (index, value) in items.iter().enumerate() {
                collect(proxy, &path.with(Step::Index(index)), value, leaves);
            }
        }
        leaf => {
            leaves.insert((proxy.to_owned(), path.clone()), leaf.clone());
        }
    }
}
