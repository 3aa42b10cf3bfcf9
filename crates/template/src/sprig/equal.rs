//! Go's `reflect.DeepEqual`: types count, so that an `int` is no `int64`, and `NaN` is not itself.

use super::{TableEntry, budget};
use crate::{Failure, Host, Value};

pub(super) const TABLE: &[TableEntry] = &[("deepEqual", |call| {
    call.exactly(2)?;
    Ok(deep_equal(&call.any(0), &call.any(1), call.host)?.into())
})];

pub(super) fn deep_equal(one: &Value, other: &Value, host: &mut dyn Host) -> Result<bool, Failure> {
    let depth = host.depth();
    equal(one, other, depth, host)
}

fn equal(one: &Value, other: &Value, depth: usize, host: &mut dyn Host) -> Result<bool, Failure> {
    let below = budget::below(depth)?;
    if matches!(one, Value::List(_) | Value::Map(_) | Value::Object(_)) {
        host.spend(budget::VALUE)?;
    }
    Ok(match (one, other) {
        (Value::Nil, Value::Nil) => true,
        (Value::Bool(one), Value::Bool(other)) => one == other,
        (Value::Int(one), Value::Int(other)) | (Value::Int64(one), Value::Int64(other)) => one == other,
        #[expect(clippy::float_cmp, reason = "Go compares them so")]
        (Value::Float(one), Value::Float(other)) => one == other,
        (Value::Text(one), Value::Text(other)) => one == other,
        (Value::List(one), Value::List(other)) => {
            if one.elements() != other.elements()
                || one.len() != other.len()
                || one.is_nil() != other.is_nil()
            {
                return Ok(false);
            }
            for (one, other) in one.iter().zip(other.iter()) {
                if !equal(one, other, below, host)? {
                    return Ok(false);
                }
            }
            true
        }
        (Value::Map(one), Value::Map(other)) => {
            if one.is(other) {
                return Ok(true);
            }
            if one.elements() != other.elements()
                || one.len() != other.len()
                || one.is_nil() != other.is_nil()
            {
                return Ok(false);
            }
            for (key, one) in one.entries() {
                let Some(other) = other.get(&key) else { return Ok(false) };
                if !equal(&one, &other, below, host)? {
                    return Ok(false);
                }
            }
            true
        }
        (Value::Object(one), Value::Object(other)) => {
            one.type_name() == other.type_name() && equal(&one.plain(), &other.plain(), below, host)?
        }
        _ => false,
    })
}
