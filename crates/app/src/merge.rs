//! One file over another: maps are merged, lists and everything else replaced, and `null` removes.

use serde_json::{Map, Value, map::Entry};

/// What `over` says, on top of `base`. A `null` that has nothing to remove stays: in some places it says something.
pub(crate) fn merge(base: &mut Value, over: &Value) {
    match (base, over) {
        (Value::Object(base), Value::Object(over)) => {
            for (key, value) in over {
                match base.entry(key) {
                    Entry::Occupied(entry) if value.is_null() => drop(entry.remove()),
                    Entry::Occupied(entry) => merge(entry.into_mut(), value),
                    Entry::Vacant(entry) => drop(entry.insert(value.clone())),
                }
            }
        }
        (base, over) => base.clone_from(over),
    }
}

/// RFC 7396: the same, but a `null` is never kept.
pub(crate) fn patch(base: &mut Value, patch_with: &Value) {
    let Value::Object(over) = patch_with else { return base.clone_from(patch_with) };
    if !base.is_object() {
        *base = Value::Object(Map::new());
    }
    let Value::Object(base) = base else { return };
    for (key, value) in over {
        if value.is_null() {
            base.remove(key);
        } else {
            patch(base.entry(key).or_insert(Value::Null), value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn maps_are_merged_lists_replaced_and_null_removes() {
        for (base, over, merged) in [
            (json!({"a": {"b": 1, "c": 2}}), json!({"a": {"b": 3}}), json!({"a": {"b": 3, "c": 2}})),
            (json!({"a": [1, 2, 3]}), json!({"a": [4]}), json!({"a": [4]})),
            (json!({"a": 1, "b": 2}), json!({"a": null}), json!({"b": 2})),
            (json!({"a": {"b": 1}}), json!({"a": "text"}), json!({"a": "text"})),
            (json!({"a": "text"}), json!({"a": {"b": 1}}), json!({"a": {"b": 1}})),
            (json!({}), json!({"a": null}), json!({"a": null})),
        ] {
            let mut value = base;
            merge(&mut value, &over);
            assert_eq!(value, merged, "{over}");
        }
    }

    #[test]
    fn a_patch_keeps_no_null() {
        let mut value = json!({"a": {"b": 1}, "c": 2});
        patch(&mut value, &json!({"a": {"b": null, "d": {"e": null, "f": 1}}, "c": [null]}));
        assert_eq!(value, json!({"a": {"d": {"f": 1}}, "c": [null]}));
    }
}
