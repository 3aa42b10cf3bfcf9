//! Untyped trees, as files and flags give them: walked by field names, merged key by key.
//!
//! Nothing is typed before it is rendered, so that "not set", "set to nothing" and "set to false" stay different.

use serde_json::{Map, Value};

/// The value at a way of field names; none where something on the way is missing or no map.
pub(crate) fn get<'t>(tree: &'t Value, way: &[&str]) -> Option<&'t Value> {
    way.iter().try_fold(tree, |here, name| here.as_object()?.get(*name))
}

pub(crate) fn text<'t>(tree: &'t Value, way: &[&str]) -> Option<&'t str> {
    get(tree, way)?.as_str()
}

/// Puts a value at a way of field names. What is no map on the way becomes one.
pub(crate) fn put(tree: &mut Value, way: &[&str], value: Value) {
    let mut here = tree;
    for name in way {
        here = map_at(here).entry(*name).or_insert(Value::Null);
    }
    *here = value;
}

/// Takes a field out, if it is there.
pub(crate) fn remove(tree: &mut Value, way: &[&str]) {
    let Some((last, parents)) = way.split_last() else { return };
    let parent = parents.iter().try_fold(tree, |here, name| here.as_object_mut()?.get_mut(*name));
    if let Some(Value::Object(map)) = parent {
        map.remove(*last);
    }
}

/// The map that stands here; whatever else stands here is replaced by an empty one.
pub(crate) fn map_at(here: &mut Value) -> &mut Map<String, Value> {
    if !here.is_object() {
        *here = Value::Object(Map::new());
    }
    match here {
        Value::Object(map) => map,
        _ => unreachable!("it was made a map"),
    }
}

/// Lays `over` on `base`: maps are merged key by key, everything else replaces what is there; lists as a whole, and null
/// as well.
pub fn merge(base: &mut Value, over: &Value) {
    let (Value::Object(base), Value::Object(over)) = (&mut *base, over) else {
        *base = over.clone();
        return;
    };
    for (key, value) in over {
        match base.get_mut(key) {
            Some(below @ Value::Object(_)) if value.is_object() => merge(below, value),
            _ => {
                base.insert(key.clone(), value.clone());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn maps_merge_lists_and_nothing_replace() {
        let mut base = json!({"a": {"x": 1, "y": [1, 2]}, "b": {"c": 1}, "d": 1});
        merge(&mut base, &json!({"a": {"y": [3], "z": false}, "b": null, "d": {"e": 1}}));
        assert_eq!(base, json!({"a": {"x": 1, "y": [3], "z": false}, "b": null, "d": {"e": 1}}));
    }

    #[test]
    fn a_value_is_put_through_whatever_stands_in_the_way() {
        let mut tree = json!({"a": null, "b": 1});
        put(&mut tree, &["a", "x"], json!(1));
        put(&mut tree, &["b", "y"], json!(2));
        put(&mut tree, &["c", "z"], json!(3));
        assert_eq!(tree, json!({"a": {"x": 1}, "b": {"y": 2}, "c": {"z": 3}}));
        remove(&mut tree, &["a", "x"]);
        remove(&mut tree, &["nowhere", "x"]);
        assert_eq!(get(&tree, &["a"]), Some(&json!({})));
    }
}
