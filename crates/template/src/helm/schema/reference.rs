//! `$ref`: to another part of the same file, by pointer, anchor or id.

use serde_json::Value;

use super::Unusable;

/// How deep an id or anchor is searched for.
const DEPTH: usize = 128;

pub(super) fn find<'s>(root: &'s Value, reference: &Value) -> Result<&'s Value, Unusable> {
    let Some(text) = reference.as_str() else {
        return Err(Unusable(format!("values.schema.json: {reference} is no reference")));
    };
    let (resource, fragment) = text.split_once('#').unwrap_or((text, ""));
    let own = ["$id", "id"].iter().find_map(|key| root.get(key)?.as_str()).unwrap_or_default();
    let base = if resource.is_empty() || resource == own.trim_end_matches('#') {
        Some(root)
    } else {
        search(root, 0, &|map| {
            let id = map.get("$id").or_else(|| map.get("id")).and_then(Value::as_str);
            id.is_some_and(|id| id == resource || id.trim_end_matches('#') == resource)
        })
    };
    let unknown = || {
        let why = if resource.contains("://") { "other files are not fetched" } else { "it leads nowhere" };
        Unusable(format!(
            "values.schema.json refers to {text:?}, but {why}: put the definition into the file"
        ))
    };
    let base = base.ok_or_else(unknown)?;
    let fragment = decoded(fragment);
    if fragment.is_empty() {
        return Ok(base);
    }
    if fragment.starts_with('/') {
        return base.pointer(&fragment).ok_or_else(unknown);
    }
    let named = format!("#{fragment}");
    let found = search(base, 0, &|map| {
        let is = |key: &str, name: &str| map.get(key).and_then(Value::as_str) == Some(name);
        is("$anchor", &fragment) || is("$dynamicAnchor", &fragment) || is("$id", &named) || is("id", &named)
    });
    found.ok_or_else(unknown)
}

fn search<'s>(
    schema: &'s Value,
    depth: usize,
    wanted: &dyn Fn(&serde_json::Map<String, Value>) -> bool,
) -> Option<&'s Value> {
    if depth > DEPTH {
        return None;
    }
    match schema {
        Value::Object(map) if wanted(map) => Some(schema),
        Value::Object(map) => map.values().find_map(|inner| search(inner, depth + 1, wanted)),
        Value::Array(items) => items.iter().find_map(|inner| search(inner, depth + 1, wanted)),
        _ => None,
    }
}

/// Without percent signs.
fn decoded(fragment: &str) -> String {
    let mut bytes = Vec::with_capacity(fragment.len());
    let mut rest = fragment.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let code = after.get(..2).and_then(|code| u8::from_str_radix(str::from_utf8(code).ok()?, 16).ok());
        match code.filter(|_| *first == b'%') {
            Some(byte) => {
                bytes.push(byte);
                rest = &after[2..];
            }
            None => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
