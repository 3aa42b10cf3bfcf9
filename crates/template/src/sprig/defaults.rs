//! What stands in for a value that is not there.

use super::{TableEntry, args::Arguments};
use crate::{List, Value};

pub(super) const TABLE: &[TableEntry] = &[
    ("default", |call| {
        call.at_least(1)?;
        Ok(if is_empty(&call.any(1)) { call.any(0) } else { call.any(1) })
    }),
    ("empty", |call| {
        call.exactly(1)?;
        Ok(is_empty(&call.any(0)).into())
    }),
    ("coalesce", |call| Ok(call.args.iter().find(|value| !is_empty(value)).cloned().unwrap_or_default())),
    ("all", |call| Ok(call.args.iter().all(|value| !is_empty(value)).into())),
    ("any", |call| Ok(call.args.iter().any(|value| !is_empty(value)).into())),
    ("ternary", |call| {
        call.exactly(3)?;
        Ok(call.any(if call.bool(2)? { 0 } else { 1 }))
    }),
    ("compact", compact),
    ("mustCompact", compact),
];

/// Zero, false, nothing, or without elements.
pub(super) fn is_empty(value: &Value) -> bool {
    match value {
        Value::Object(object) => match super::args::kind(value) {
            "slice" | "map" => !object.plain().is_true(),
            _ => false,
        },
        other => !other.is_true(),
    }
}

fn compact(call: &mut crate::Call<'_>) -> Result<Value, crate::Failure> {
    call.exactly(1)?;
    let list = call.items(0, "compact")?;
    call.host.spend(16 * list.len())?;
    Ok(List::new(list.iter().filter(|item| !is_empty(item)).cloned().collect()).into())
}
