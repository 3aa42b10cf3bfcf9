//! A path walked down a tree, making what is missing, and a value written at its end.

use mizzen_text::{Path, Step, nearest};
use serde_json::Value;

use super::path::{Segment, split};

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SetError {
    #[error("the path is empty")]
    Empty,
    #[error("the path has more than {0} segments")]
    TooLong(usize),
    #[error(
        "`{segment}` selects nothing: write `[0]` for an item by its place or `[name:x]` for one by its field"
    )]
    Segment { segment: String },
    #[error("`{list}` is a list in a list, which no path reaches")]
    ListInList { list: Path },
    #[error("`{at}` is {is}, not a list: `{segment}` selects nothing in it")]
    NoList { at: Path, is: &'static str, segment: String },
    #[error("`{at}` is {is}, so it has no field `{field}`")]
    NoMap { at: Path, is: &'static str, field: String },
    #[error("`{at}` has no item whose `{key}` is `{value}`{}", meant(.nearest.as_deref()))]
    NoItem { at: Path, key: String, value: String, nearest: Option<String> },
    #[error("`{at}` has {length} items: there is nothing to remove at this place")]
    NoIndex { at: Path, length: usize },
}

fn meant(nearest: Option<&str>) -> String {
    nearest.map_or_else(String::new, |name| format!("; did you mean `{name}`?"))
}

/// Deeper trees are not read either.
const SEGMENTS: usize = 200;

/// Writes `value` at `path`, for instance `spec.components.ingressGateways[name:a].k8s.replicaCount`, and tells the
/// concrete path. Missing maps and lists are made. On an error the tree may have got empty maps.
pub fn set_path(tree: &mut Value, path: &str, value: Value) -> Result<Path, SetError> {
    let segments = split(path)?;
    if segments.is_empty() {
        return Err(SetError::Empty);
    }
    if segments.len() > SEGMENTS {
        return Err(SetError::TooLong(SEGMENTS));
    }
    let mut here = tree;
    let mut way = Path::default();
    for (at, segment) in segments.iter().enumerate() {
        here = match segment {
            Segment::Field(name) => field(here, &mut way, name)?,
            selector => {
                if matches!(way.0.last(), Some(Step::Index(_)) | None) {
                    return Err(SetError::ListInList { list: way });
                }
                let last = at + 1 == segments.len();
                item(here, &mut way, selector, last && value.is_null())?
            }
        };
    }
    *here = value;
    Ok(way)
}

fn field<'t>(here: &'t mut Value, way: &mut Path, name: &str) -> Result<&'t mut Value, SetError> {
    if !here.is_object() && !here.is_null() {
        return Err(SetError::NoMap { at: way.clone(), is: kind(here), field: name.to_owned() });
    }
    way.0.push(Step::Field(name.to_owned()));
    Ok(crate::tree::map_at(here).entry(name).or_insert(Value::Null))
}

fn item<'t>(
    here: &'t mut Value,
    way: &mut Path,
    selector: &Segment,
    removes: bool,
) -> Result<&'t mut Value, SetError> {
    if here.is_null() {
        *here = Value::Array(Vec::new());
    }
    let is = kind(here);
    let Value::Array(items) = here else {
        let segment = match selector {
            Segment::Item { key, value } => format!("[{key}:{value}]"),
            Segment::Index(index) => format!("[{index}]"),
            Segment::Field(name) => name.clone(),
        };
        return Err(SetError::NoList { at: way.clone(), is, segment });
    };
    let index = match selector {
        Segment::Item { key, value } => {
            let named = |item: &Value| item.get(key).and_then(Value::as_str).map(str::to_owned);
            let found = items.iter().position(|item| named(item).as_deref() == Some(value));
            found.ok_or_else(|| {
                let names: Vec<String> = items.iter().filter_map(named).collect();
                let nearest = nearest(value, names.iter().map(String::as_str)).map(str::to_owned);
                SetError::NoItem { at: way.clone(), key: key.clone(), value: value.clone(), nearest }
            })?
        }
        Segment::Index(index) => usize::try_from(*index).map_or(items.len(), |index| index.min(items.len())),
        Segment::Field(_) => items.len(),
    };
    if index == items.len() {
        if removes {
            return Err(SetError::NoIndex { at: way.clone(), length: items.len() });
        }
        items.push(Value::Null);
    }
    way.0.push(Step::Index(index));
    Ok(&mut items[index])
}

/// What a value is, for a sentence.
pub(crate) fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "nothing",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "a map",
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn set(mut tree: Value, path: &str, value: Value) -> Result<Value, SetError> {
        set_path(&mut tree, path, value).map(|_| tree)
    }

    #[test]
    fn what_is_missing_is_made_and_what_is_there_is_kept() {
        for (tree, path, result) in [
            (json!({}), "spec", json!({"spec": 1})),
            (json!({"spec": {"foo": 2}}), "spec.bar", json!({"spec": {"foo": 2, "bar": 1}})),
            (json!({}), "top[0].bar", json!({"top": [{"bar": 1}]})),
            (json!({"top": [{"a": 2}]}), "top.[0].bar", json!({"top": [{"a": 2, "bar": 1}]})),
            (json!({"top": [{"a": 2}]}), "top[7].bar", json!({"top": [{"a": 2}, {"bar": 1}]})),
            (json!({"top": [{"a": 2}]}), "top[-1]", json!({"top": [{"a": 2}, 1]})),
            (json!({"top": [2, 3]}), "top[0]", json!({"top": [1, 3]})),
            (json!({"a": null}), "a.b", json!({"a": {"b": 1}})),
            (
                json!({"env": [{"name": "a"}, {"name": "b.c"}]}),
                r"env.[name:b\.c].value",
                json!({"env": [{"name": "a"}, {"name": "b.c", "value": 1}]}),
            ),
        ] {
            assert_eq!(set(tree, path, json!(1)), Ok(result), "{path}");
        }
    }

    #[test]
    fn a_path_that_leads_nowhere_is_told_with_the_nearest_name() {
        for (tree, path, message) in [
            (json!({}), "", "the path is empty"),
            (json!({"a": 1}), "a.b", "`a` is a number, so it has no field `b`"),
            (json!({"a": {}}), "a[0]", "`a` is a map, not a list: `[0]` selects nothing in it"),
            (json!({}), "a[0].[1]", "`a[0]` is a list in a list, which no path reaches"),
            (
                json!({"gw": [{"name": "ingress"}]}),
                "gw[name:ingres].x",
                "`gw` has no item whose `name` is `ingres`; did you mean `ingress`?",
            ),
            (json!({}), "gw[name:a].x", "`gw` has no item whose `name` is `a`"),
        ] {
            let error = set(tree, path, json!(1)).map_err(|error| error.to_string());
            assert_eq!(error, Err(message.to_owned()), "{path}");
        }
    }

    #[test]
    fn nothing_is_removed_where_nothing_is() {
        let error = set(json!({"a": [1]}), "a[3]", Value::Null);
        assert_eq!(error, Err(SetError::NoIndex { at: Path(vec![Step::Field("a".to_owned())]), length: 1 }));
    }
}
