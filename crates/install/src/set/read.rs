//! The value at a path of the same language.

use serde_json::Value;

use super::path::{Segment, split};

/// The value at `path`; none where there is none, or the path is none.
pub fn get_path<'t>(tree: &'t Value, path: &str) -> Option<&'t Value> {
    split(path).ok()?.iter().try_fold(tree, |here, segment| match segment {
        Segment::Field(name) => here.as_object()?.get(name),
        Segment::Index(index) => here.as_array()?.get(usize::try_from(*index).ok()?),
        Segment::Item { key, value } => {
            here.as_array()?.iter().find(|item| item.get(key).and_then(Value::as_str) == Some(value))
        }
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_path_finds_what_it_names() {
        let tree = json!({"env": [{"name": "a", "value": 1}, {"name": "b", "value": 2}]});
        assert_eq!(get_path(&tree, "env.[name:b].value"), Some(&json!(2)));
        assert_eq!(get_path(&tree, "env[0].value"), Some(&json!(1)));
        assert_eq!(get_path(&tree, "env[9]"), None);
        assert_eq!(get_path(&tree, "env.[0][1]"), None);
        assert_eq!(get_path(&tree, "name"), None);
    }
}
