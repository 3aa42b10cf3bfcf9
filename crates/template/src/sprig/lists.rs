//! Lists. None is changed where it is: every function gives a new one.

use super::{TableEntry, args::Arguments, cast, equal::deep_equal};
use crate::{Call, Elements, Failure, List, Value};

pub(super) const TABLE: &[TableEntry] = &[
    ("list", list),
    ("tuple", list),
    ("first", first),
    ("mustFirst", first),
    ("last", last),
    ("mustLast", last),
    ("rest", rest),
    ("mustRest", rest),
    ("initial", initial),
    ("mustInitial", initial),
    ("append", append),
    ("mustAppend", append),
    ("push", append),
    ("mustPush", append),
    ("prepend", prepend),
    ("mustPrepend", prepend),
    ("concat", concat),
    ("reverse", reverse),
    ("mustReverse", reverse),
    ("uniq", uniq),
    ("mustUniq", uniq),
    ("without", without),
    ("mustWithout", without),
    ("has", has),
    ("mustHas", has),
    ("slice", slice),
    ("mustSlice", slice),
    ("chunk", chunk),
    ("mustChunk", chunk),
];

/// The one list of a function's arguments, paid for as if it were copied.
fn only(call: &mut Call<'_>, action: &str) -> Result<List, Failure> {
    call.exactly(1)?;
    copied(call, 0, action)
}

fn copied(call: &mut Call<'_>, index: usize, action: &str) -> Result<List, Failure> {
    let list = call.items(index, action)?;
    call.host.spend(16 * list.len())?;
    Ok(list)
}

fn list(call: &mut Call<'_>) -> Result<Value, Failure> {
    call.host.spend(64 + 32 * call.args.len())?;
    Ok(List::new(call.args.to_vec()).into())
}

fn first(call: &mut Call<'_>) -> Result<Value, Failure> {
    call.exactly(1)?;
    Ok(call.items(0, "find first on")?.first().cloned().unwrap_or_default())
}

fn last(call: &mut Call<'_>) -> Result<Value, Failure> {
    call.exactly(1)?;
    Ok(call.items(0, "find last on")?.last().cloned().unwrap_or_default())
}

fn rest(call: &mut Call<'_>) -> Result<Value, Failure> {
    let list = only(call, "find rest on")?;
    Ok(list
        .split_first()
        .map_or_else(|| List::nil(Elements::Any), |(_, rest)| List::new(rest.to_vec()))
        .into())
}

fn initial(call: &mut Call<'_>) -> Result<Value, Failure> {
    let list = only(call, "find initial on")?;
    Ok(list
        .split_last()
        .map_or_else(|| List::nil(Elements::Any), |(_, init)| List::new(init.to_vec()))
        .into())
}

fn append(call: &mut Call<'_>) -> Result<Value, Failure> {
    call.exactly(2)?;
    let list = copied(call, 0, "push on")?;
    Ok(List::new(list.iter().cloned().chain([call.any(1)]).collect()).into())
}

fn prepend(call: &mut Call<'_>) -> Result<Value, Failure> {
    call.exactly(2)?;
    let list = copied(call, 0, "prepend on")?;
    Ok(List::new(std::iter::once(call.any(1)).chain(list.iter().cloned()).collect()).into())
}

fn concat(call: &mut Call<'_>) -> Result<Value, Failure> {
    let mut all = Vec::new();
    for index in 0..call.args.len() {
        all.extend(copied(call, index, "concat")?.iter().cloned());
    }
    Ok(if all.is_empty() { List::nil(Elements::Any) } else { List::new(all) }.into())
}

fn reverse(call: &mut Call<'_>) -> Result<Value, Failure> {
    let list = only(call, "find reverse on")?;
    Ok(List::new(list.iter().rev().cloned().collect()).into())
}

fn uniq(call: &mut Call<'_>) -> Result<Value, Failure> {
    let list = only(call, "find uniq on")?;
    let mut unique: Vec<Value> = Vec::new();
    for item in list.iter() {
        if !contains(&unique, item, call)? {
            unique.push(item.clone());
        }
    }
    Ok(List::new(unique).into())
}

fn without(call: &mut Call<'_>) -> Result<Value, Failure> {
    call.at_least(1)?;
    let list = copied(call, 0, "find without on")?;
    let mut kept = Vec::new();
    for item in list.iter() {
        if !contains(&call.args[1..], item, call)? {
            kept.push(item.clone());
        }
    }
    Ok(List::new(kept).into())
}

fn has(call: &mut Call<'_>) -> Result<Value, Failure> {
    call.exactly(2)?;
    if matches!(call.any(1), Value::Nil) {
        return Ok(false.into());
    }
    let list = call.items(1, "find has on")?;
    Ok(contains(&list, &call.any(0), call)?.into())
}

fn contains(items: &[Value], item: &Value, call: &mut Call<'_>) -> Result<bool, Failure> {
    for other in items {
        if deep_equal(item, other, call.host)? {
            return Ok(true);
        }
    }
    Ok(false)
}

fn slice(call: &mut Call<'_>) -> Result<Value, Failure> {
    call.at_least(1)?;
    let list = copied(call, 0, "slice")?;
    if list.is_empty() {
        return Ok(Value::Nil);
    }
    let at = |index: usize, without: usize| match call.args.get(index) {
        Some(value) => usize::try_from(cast::int(value)).unwrap_or(usize::MAX),
        None => without,
    };
    let (start, end) = (at(1, 0), at(2, list.len()));
    let part = list.get(start..end).ok_or_else(|| Failure::new("the indices are out of range"))?;
    Ok(List::of(list.elements(), part.to_vec()).into())
}

fn chunk(call: &mut Call<'_>) -> Result<Value, Failure> {
    call.exactly(2)?;
    let size = call.int(0)?;
    let list = copied(call, 1, "chunk")?;
    let size = match usize::try_from(size) {
        Ok(size) if size > 0 => size,
        // How the original's arithmetic comes out.
        Err(_) if list.len() > 1 && (list.len() as u64) <= size.unsigned_abs().saturating_add(1) => {
            return Ok(List::of(Elements::Lists, Vec::new()).into());
        }
        Err(_) if list.len() == 1 && size < -1 => 1,
        _ => return Err(Failure::new("the size has to be at least 1")),
    };
    let chunks = list.chunks(size).map(|chunk| List::new(chunk.to_vec()).into()).collect();
    Ok(List::of(Elements::Lists, chunks).into())
}
