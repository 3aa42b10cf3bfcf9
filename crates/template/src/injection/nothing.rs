//! `omitNil`: a tree without its nothings, and without what gets empty by that.

use crate::{
    Elements, Failure, List, Map, Value,
    sprig::{TableEntry, budget},
};

pub(super) const TABLE: &[TableEntry] = &[("omitNil", |call| {
    call.exactly(1)?;
    let value = call.any(0);
    budget::pay_for(&value, call.host)?;
    Ok(without_nothing(&value, call.host.depth())?.unwrap_or(value))
})];

/// The tree without nothings; `None` where there was none in it.
fn without_nothing(value: &Value, depth: usize) -> Result<Option<Value>, Failure> {
    let below = budget::below(depth)?;
    match value {
        Value::Nil => Ok(Some(Value::Nil)),
        Value::Map(map) if map.elements() == Elements::Any => {
            let kept = Map::new();
            let mut changed = false;
            for (key, value) in map.entries() {
                let new = without_nothing(&value, below)?;
                changed |= new.is_some();
                match new.unwrap_or(value) {
                    Value::Nil => {}
                    value => kept.insert(key, value),
                }
            }
            Ok(changed.then(|| if kept.is_empty() { Value::Nil } else { kept.into() }))
        }
        Value::List(list) if list.elements() == Elements::Any => {
            let mut kept = Vec::with_capacity(list.len());
            let mut changed = false;
            for value in list.iter() {
                let new = without_nothing(value, below)?;
                changed |= new.is_some();
                match new.unwrap_or_else(|| value.clone()) {
                    Value::Nil => {}
                    value => kept.push(value),
                }
            }
            Ok(changed.then(|| if kept.is_empty() { Value::Nil } else { List::new(kept).into() }))
        }
        _ => Ok(None),
    }
}
