//! What a strategic merge patch can say besides values: `$patch`, `$retainKeys`, `$setElementOrder/…`,
//! `$deleteFromPrimitiveList/…`.

use mizzen_text::At;
use serde_json::{Map, Value};

use super::{
    PatchError, list,
    strategic::{Rules, Sort, sort},
};

/// `replace` or `delete`, of the map it stands in.
pub(super) const PATCH: &str = "$patch";
const RETAIN_KEYS: &str = "$retainKeys";
const SET_ELEMENT_ORDER: &str = "$setElementOrder";
const DELETE_FROM_LIST: &str = "$deleteFromPrimitiveList";

/// What is left where a map's patch says what to do with all of it.
pub(super) fn whole_map(
    said: &Value,
    patch: Map<String, Value>,
    at: &At<'_>,
) -> Result<Map<String, Value>, PatchError> {
    match said.as_str() {
        Some("replace") => Ok(patch),
        Some("delete") => Ok(Map::new()),
        _ => Err(PatchError::at(at, format!("{PATCH} can be `replace` or `delete` here, not {said}"))),
    }
}

/// Removes what the patch does not name as to be kept. It must name at least all that it sets.
pub(super) fn retain_keys(
    original: &mut Map<String, Value>,
    patch: &mut Map<String, Value>,
    at: &At<'_>,
) -> Result<(), PatchError> {
    let Some(kept) = patch.remove(RETAIN_KEYS) else { return Ok(()) };
    let Value::Array(kept) = kept else {
        return Err(PatchError::at(at, format!("{RETAIN_KEYS} must be a list of keys")));
    };
    let is_kept = |key: &str| kept.iter().any(|name| name == key);
    let unnamed = patch.iter().find(|(key, value)| {
        !value.is_null()
            && !key.starts_with(DELETE_FROM_LIST)
            && !key.starts_with(SET_ELEMENT_ORDER)
            && !is_kept(key)
    });
    if let Some((key, _)) = unnamed {
        return Err(PatchError::at(
            at,
            format!("{RETAIN_KEYS} does not name `{key}`, which is set beside it"),
        ));
    }
    original.retain(|key, _| is_kept(key));
    Ok(())
}

/// The list that `$deleteFromPrimitiveList/list` is about.
pub(super) fn deleted_from(key: &str, at: &At<'_>) -> Result<Option<String>, PatchError> {
    if !key.starts_with(DELETE_FROM_LIST) {
        return Ok(None);
    }
    parallel(key, DELETE_FROM_LIST, at).map(Some)
}

fn parallel(key: &str, prefix: &str, at: &At<'_>) -> Result<String, PatchError> {
    match key.split_once('/') {
        Some((before, list)) if before == prefix => Ok(list.to_owned()),
        _ => Err(PatchError::at(at, format!("`{key}` must be `{prefix}/` and the name of a list"))),
    }
}

/// Merges every list for which an order is given, and puts it into this order.
pub(super) fn set_element_order(
    original: &mut Map<String, Value>,
    patch: &mut Map<String, Value>,
    rules: Rules,
    at: &At<'_>,
) -> Result<(), PatchError> {
    let orders: Vec<String> =
        patch.keys().filter(|key| key.starts_with(SET_ELEMENT_ORDER)).cloned().collect();
    for key in orders {
        let name = parallel(&key, SET_ELEMENT_ORDER, at)?;
        let at = at.field(&name);
        let no_list = |value: &Value| PatchError::at(&at, format!("{} is no list", excerpt(value)));
        let order = match patch.remove(&key) {
            Some(Value::Array(order)) => order,
            other => return Err(no_list(&other.unwrap_or_default())),
        };
        let below = match original.get(&name) {
            None => None,
            Some(Value::Array(below)) => Some(below.clone()),
            Some(other) => return Err(no_list(other)),
        };
        let above = match patch.get(&name) {
            None => None,
            Some(Value::Array(above)) => Some(above.clone()),
            Some(other) => return Err(no_list(other)),
        };
        let (field, items) = rules.list(&name, &at)?;
        let merge_key = field.key.as_deref();
        in_order(above.as_deref().unwrap_or_default(), &order, merge_key, &at)?;
        let sort = list::item_sort(below.iter().chain(&above).flatten(), &at);
        let before = below.clone().unwrap_or_default();
        let merged = match (below, above) {
            (None, None) => continue,
            (Some(below), None) => below,
            (None, Some(above)) => above.into_iter().filter_map(without).collect(),
            (Some(below), Some(above)) if field.merge => {
                list::merge(below, above, items, merge_key, false, &at)?
            }
            (Some(_), Some(above)) => above,
        };
        let merged = list::ordered(merged, &order, &before, merge_key, sort?, &at)?;
        original.insert(name.clone(), Value::Array(merged));
        patch.remove(&name);
    }
    Ok(())
}

/// The items of a patch must come in the order that is given for them, and be in it.
fn in_order(
    items: &[Value],
    order: &[Value],
    merge_key: Option<&str>,
    at: &At<'_>,
) -> Result<(), PatchError> {
    if items.is_empty() || order.is_empty() {
        return Ok(());
    }
    if merge_key.is_some()
        && let Some(other) = items.iter().find(|item| !item.is_object())
    {
        return Err(PatchError::at(at, format!("{} is no map", excerpt(other))));
    }
    // What is deleted needs no place.
    let deleted = |item: &&Value| merge_key.is_some() && item.get(PATCH).is_some_and(|said| said == "delete");
    let mut left = items.iter().filter(|item| !deleted(item)).peekable();
    for next in order {
        while left.next_if(|item| item.get(PATCH).is_some()).is_some() {}
        let Some(item) = left.peek() else { return Ok(()) };
        if list::known_by(item, merge_key, at)? == list::known_by(next, merge_key, at)? {
            left.next();
        }
    }
    match left.next() {
        None => Ok(()),
        Some(_) => {
            Err(PatchError::at(at, format!("the order of the patch is not that of {SET_ELEMENT_ORDER}")))
        }
    }
}

/// The value without the maps that carry a `$patch`: there is nothing that they could be about.
pub(super) fn without(value: Value) -> Option<Value> {
    match value {
        Value::Object(fields) if fields.contains_key(PATCH) => None,
        Value::Object(fields) => Some(
            fields
                .into_iter()
                .filter_map(|(name, value)| Some((name, without(value)?)))
                .collect::<Map<_, _>>()
                .into(),
        ),
        Value::Array(items) => Some(items.into_iter().filter_map(without).collect()),
        other => Some(other),
    }
}

/// A null that has nothing to remove says nothing.
pub(super) fn drop_nulls(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.retain(|_, value| !value.is_null());
            fields.values_mut().for_each(drop_nulls);
        }
        Value::Array(items) => items.iter_mut().for_each(drop_nulls),
        _ => {}
    }
}

/// A value in a message, in short.
pub(super) fn excerpt(value: &Value) -> String {
    match sort(value) {
        Sort::Map => "a map".to_owned(),
        Sort::List => "a list".to_owned(),
        _ => value.to_string().chars().take(60).collect(),
    }
}
