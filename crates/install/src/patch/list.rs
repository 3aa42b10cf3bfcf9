//! Lists that are merged: by a key if their items are maps, as sets if they are not, and in which order.

use mizzen_text::At;
use serde_json::Value;

use super::{
    PatchError,
    directive::{PATCH, excerpt},
    strategic::{Rules, Sort, map, sort},
};

type Items = Vec<Value>;

/// Merges a patch's list into the original's. `deletes`: the patch has what shall go.
pub(super) fn merge(
    original: Items,
    patch: Items,
    items: Rules,
    key: Option<&str>,
    deletes: bool,
    at: &At<'_>,
) -> Result<Items, PatchError> {
    if original.is_empty() && patch.is_empty() {
        return Ok(original);
    }
    let sort = item_sort(original.iter().chain(&patch), at)?;
    if sort != Sort::Map {
        if deletes {
            return Ok(original.into_iter().filter(|item| !patch.contains(item)).collect());
        }
        let merged = distinct(original.iter().chain(&patch).cloned().collect());
        return ordered(merged, &patch, &original, key, sort, at);
    }
    let Some(key) = key else {
        return Err(PatchError::at(at, "this list of maps has no key by which it could be merged"));
    };
    let (original, patch) = apply_directives(original, patch, key, at)?;
    let mut merged = original.clone();
    for (index, item) in patch.iter().enumerate() {
        let at = at.index(index);
        let known = known_by(item, Some(key), &at)?;
        match find(&merged, key, known, &at)? {
            Some(there) => {
                let (Value::Object(below), Value::Object(above)) = (merged[there].take(), item.clone())
                else {
                    return Err(PatchError::at(&at, "only maps can be merged"));
                };
                merged[there] = Value::Object(map(below, above, items, &at)?);
            }
            None => merged.push(item.clone()),
        }
    }
    ordered(merged, &patch, &original, Some(key), sort, at)
}

/// Takes out of the original what the patch deletes or replaces, and out of the patch what says so.
fn apply_directives(
    mut original: Items,
    patch: Items,
    key: &str,
    at: &At<'_>,
) -> Result<(Items, Items), PatchError> {
    let mut plain = Vec::new();
    let mut replaces = false;
    for (index, item) in patch.into_iter().enumerate() {
        let at = at.index(index);
        match item.get(PATCH).map(Value::as_str) {
            None => plain.push(item),
            Some(Some("delete")) => {
                let known = known_by(&item, Some(key), &at)?;
                if let Some(other) = original.iter().find(|item| !item.is_object()) {
                    return Err(PatchError::at(&at, format!("{} is no map", excerpt(other))));
                }
                original.retain(|item| item.get(key) != Some(known));
            }
            Some(Some("replace")) => replaces = true,
            Some(_) => {
                let message = format!("{PATCH} can be `delete` or `replace` in a list");
                return Err(PatchError::at(&at, message));
            }
        }
    }
    Ok(if replaces { (plain, Vec::new()) } else { (original, plain) })
}

fn find(items: &[Value], key: &str, known: &Value, at: &At<'_>) -> Result<Option<usize>, PatchError> {
    for (index, item) in items.iter().enumerate() {
        if !item.is_object() {
            return Err(PatchError::at(at, format!("{} is no map", excerpt(item))));
        }
        if item.get(key) == Some(known) {
            return Ok(Some(index));
        }
    }
    Ok(None)
}

/// The sort that all items have.
pub(super) fn item_sort<'a>(items: impl Iterator<Item = &'a Value>, at: &At<'_>) -> Result<Sort, PatchError> {
    let mut found = None;
    for item in items {
        let sort = sort(item);
        if matches!(sort, Sort::List | Sort::Null) {
            return Err(PatchError::at(at, format!("a list with {} in it cannot be merged", excerpt(item))));
        }
        if found.is_some_and(|found| found != sort) {
            return Err(PatchError::at(at, "only items of one sort can be merged"));
        }
        found = Some(sort);
    }
    found.ok_or_else(|| PatchError::at(at, "there is no item to put into order"))
}

/// By what an item is known: the field that is the key, or the item itself.
pub(super) fn known_by<'a>(item: &'a Value, key: Option<&str>, at: &At<'_>) -> Result<&'a Value, PatchError> {
    let Some(key) = key else { return Ok(item) };
    if !item.is_object() {
        return Err(PatchError::at(at, format!("{} is no map", excerpt(item))));
    }
    item.get(key).ok_or_else(|| PatchError::at(at, format!("an item needs `{key}`, by which it is known")))
}

/// Drops what is there twice. The last item takes the place of a dropped one, as in Kubernetes: it shows where the items
/// of the patch are.
fn distinct(mut items: Items) -> Items {
    let mut first = 0;
    while first < items.len() {
        let mut other = first + 1;
        while other < items.len() {
            if items[first] == items[other] {
                items.swap_remove(other);
            } else {
                other += 1;
            }
        }
        first += 1;
    }
    items
}

/// Those of `wanted` in its order, the others in that of `before`; both put together so that what stood in front of an item
/// of `wanted` still does, as far as possible.
pub(super) fn ordered(
    merged: Items,
    wanted: &[Value],
    before: &[Value],
    key: Option<&str>,
    sort: Sort,
    at: &At<'_>,
) -> Result<Items, PatchError> {
    // Where items are not maps, they are their own key; but a list with a key has none such.
    if key.is_some() || sort == Sort::Map {
        for item in merged.iter().chain(wanted).chain(before) {
            known_by(item, Some(key.unwrap_or_default()), at)?;
        }
    }
    let place = |list: &[Value], item: &Value| {
        let known = known_by(item, key, at).ok();
        list.iter().position(|other| known_by(other, key, at).ok() == known)
    };
    let (mut from_patch, mut others): (Items, Items) =
        merged.into_iter().partition(|item| place(wanted, item).is_some());
    from_patch.sort_by_cached_key(|item| place(wanted, item));
    others.sort_by_cached_key(|item| place(before, item));
    let mut result = Vec::with_capacity(from_patch.len() + others.len());
    let mut others = others.into_iter().peekable();
    for item in from_patch {
        let here = place(before, &item);
        while let Some(other) = others.next_if(|other| match (place(before, other), here) {
            (Some(other), Some(here)) => other < here,
            _ => false,
        }) {
            result.push(other);
        }
        result.push(item);
    }
    result.extend(others);
    Ok(result)
}
