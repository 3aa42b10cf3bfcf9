//! Maps with string keys. They are shared: `set` and `unset` change them for everybody.

use super::{TableEntry, args::Arguments, budget, print::text_of};
use crate::{Call, Elements, Failure, List, Map, Value};

/// About what one more entry of a map takes, in bytes.
const ENTRY: usize = 96;

pub(super) const TABLE: &[TableEntry] = &[
    ("dict", dict),
    ("get", |call| {
        call.exactly(2)?;
        Ok(call.dict(0)?.get(&call.text(1)?).unwrap_or_else(|| "".into()))
    }),
    ("set", |call| {
        call.exactly(3)?;
        let (map, key) = (call.dict(0)?, call.text(1)?);
        writable(&map)?;
        call.host.spend(ENTRY + key.len())?;
        map.insert(key, call.any(2));
        Ok(map.into())
    }),
    ("unset", |call| {
        call.exactly(2)?;
        let map = call.dict(0)?;
        map.remove(&call.text(1)?);
        Ok(map.into())
    }),
    ("hasKey", |call| {
        call.exactly(2)?;
        Ok(call.dict(0)?.contains_key(&call.text(1)?).into())
    }),
    ("pluck", |call| {
        call.at_least(1)?;
        let key = call.text(0)?;
        Ok(List::new(call.dicts_from(1)?.iter().filter_map(|map| map.get(&key)).collect()).into())
    }),
    // Go's order is by chance; ours is sorted.
    ("keys", |call| {
        let maps = call.dicts_from(0)?;
        call.host.spend(maps.iter().map(|map| 16 * map.len()).sum())?;
        Ok(List::texts(maps.iter().flat_map(Map::keys)).into())
    }),
    ("values", |call| {
        call.exactly(1)?;
        let map = call.dict(0)?;
        call.host.spend(16 * map.len())?;
        Ok(List::new(map.entries().into_iter().map(|(_, value)| value).collect()).into())
    }),
    ("pick", |call| {
        call.at_least(1)?;
        let (map, keys) = (call.dict(0)?, call.texts_from(1)?);
        Ok(keys.into_iter().filter_map(|key| map.get(&key).map(|value| (key, value))).collect::<Map>().into())
    }),
    ("omit", |call| {
        call.at_least(1)?;
        let (map, keys) = (call.dict(0)?, call.texts_from(1)?);
        call.host.spend(32 * map.len())?;
        Ok(map.entries().into_iter().filter(|(key, _)| !keys.contains(key)).collect::<Map>().into())
    }),
    ("dig", dig),
    ("deepCopy", deep_copy),
    ("mustDeepCopy", deep_copy),
];

fn dict(call: &mut Call<'_>) -> Result<Value, Failure> {
    call.host.spend(64 + ENTRY * call.args.len() / 2)?;
    let map = Map::new();
    for pair in call.args.chunks(2) {
        let key = text_of(&pair[0], call.host)?;
        map.insert(key, pair.get(1).cloned().unwrap_or_else(|| "".into()));
    }
    Ok(map.into())
}

pub(super) fn writable(map: &Map) -> Result<(), Failure> {
    if map.is_nil() { Err(Failure::new("assignment to entry in nil map")) } else { Ok(()) }
}

/// `dig "a" "b" default map`
fn dig(call: &mut Call<'_>) -> Result<Value, Failure> {
    let [keys @ .., default, map] = call.args else { return Err(too_few()) };
    let mut at = map.clone();
    if keys.is_empty() {
        return Err(too_few());
    }
    for index in 0..keys.len() {
        call.text(index)?;
    }
    for key in keys {
        let (Value::Map(map), Value::Text(key)) = (&at, key) else { return Err(no_map(&at)) };
        if map.elements() != Elements::Any {
            return Err(no_map(&at));
        }
        match map.get(key) {
            Some(value) => at = value,
            None => return Ok(default.clone()),
        }
    }
    Ok(at)
}

fn too_few() -> Failure {
    Failure::new("dig needs at least three arguments")
}

fn no_map(value: &Value) -> Failure {
    let got = if matches!(value, Value::Nil) { "nil".into() } else { value.type_name() };
    Failure::new(format!("dig goes through maps; {got} is not map[string]interface {{}}"))
}

fn deep_copy(call: &mut Call<'_>) -> Result<Value, Failure> {
    call.exactly(1)?;
    let value = call.any(0);
    if matches!(value, Value::Nil) {
        return Err(Failure::new("there is nothing to copy"));
    }
    budget::pay_for(&value, call.host)?;
    copy(&value, call.host.depth())
}

/// All maps and lists anew; objects do not change and are shared.
pub(crate) fn copy(value: &Value, depth: usize) -> Result<Value, Failure> {
    let below = budget::below(depth)?;
    Ok(match value {
        Value::List(list) if list.is_nil() => value.clone(),
        Value::Map(map) if map.is_nil() => value.clone(),
        Value::List(list) => {
            let items = list.iter().map(|item| copy(item, below)).collect::<Result<_, _>>()?;
            List::of(list.elements(), items).into()
        }
        Value::Map(map) => {
            let copied = if map.elements() == Elements::Text { Map::texts() } else { Map::new() };
            for (key, value) in map.entries() {
                copied.insert(key, copy(&value, below)?);
            }
            copied.into()
        }
        other => other.clone(),
    })
}
