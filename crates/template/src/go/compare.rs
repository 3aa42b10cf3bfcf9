//! `eq`, `lt` and the others. Strict: a float is not comparable with an integer, nor a text with a bool.

use std::rc::Rc;

use super::printf;
use crate::{Failure, Host, Value, exec::Slot};

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Bool,
    Int,
    Float,
    Text,
    /// Nothing that has an order.
    Other,
}

fn kind(value: Option<&Value>) -> Kind {
    match value {
        Some(Value::Bool(_)) => Kind::Bool,
        Some(Value::Int(_) | Value::Int64(_)) => Kind::Int,
        Some(Value::Float(_)) => Kind::Float,
        Some(Value::Text(_)) => Kind::Text,
        Some(Value::Nil | Value::List(_) | Value::Map(_) | Value::Object(_)) | None => Kind::Other,
    }
}

/// Whether the first equals any of the others.
pub(super) fn equal_any(first: &Slot, others: &[Slot], host: &mut dyn Host) -> Result<bool, Failure> {
    if others.is_empty() {
        return Err(Failure::new("missing argument for comparison"));
    }
    for other in others {
        if equal(first.value(), other.value(), host)? {
            return Ok(true);
        }
    }
    Ok(false)
}

fn equal(first: Option<&Value>, other: Option<&Value>, host: &mut dyn Host) -> Result<bool, Failure> {
    let (Some(first), Some(other)) = (first, other) else {
        return Ok(first.is_none() && other.is_none());
    };
    Ok(match (first, other) {
        (Value::Bool(first), Value::Bool(other)) => first == other,
        (Value::Int(first) | Value::Int64(first), Value::Int(other) | Value::Int64(other)) => first == other,
        #[expect(clippy::float_cmp, reason = "as Go does")]
        (Value::Float(first), Value::Float(other)) => first == other,
        (Value::Text(first), Value::Text(other)) => first == other,
        (Value::Object(first), Value::Object(other)) => Rc::ptr_eq(first, other),
        (Value::List(_), Value::List(_)) | (Value::Map(_), Value::Map(_)) => {
            let text = printf("%s", std::slice::from_ref(other), host)?;
            return Err(Failure::new(format!("non-comparable type {text}: {}", other.type_name())));
        }
        _ if kind(Some(first)) == Kind::Other && kind(Some(other)) == Kind::Other => {
            let text = printf("%s", std::slice::from_ref(first), host)?;
            let other_text = printf("%v", std::slice::from_ref(other), host)?;
            let (first, other) = (first.type_name(), other.type_name());
            let message = format!("non-comparable types {text}: {first}, {other}: {other_text}");
            return Err(Failure::new(message));
        }
        _ => return Err(incompatible(first, other)),
    })
}

pub(super) fn less(first: &Slot, other: &Slot) -> Result<bool, Failure> {
    let bad = || Failure::new("invalid type for comparison");
    let (Some(first), Some(other)) = (first.value(), other.value()) else {
        return Err(bad());
    };
    if kind(Some(first)) == Kind::Other || kind(Some(other)) == Kind::Other {
        return Err(bad());
    }
    Ok(match (first, other) {
        (Value::Int(first) | Value::Int64(first), Value::Int(other) | Value::Int64(other)) => first < other,
        (Value::Float(first), Value::Float(other)) => first < other,
        (Value::Text(first), Value::Text(other)) => first < other,
        (Value::Bool(_), Value::Bool(_)) => return Err(bad()),
        _ => return Err(incompatible(first, other)),
    })
}

/// Not `!greater`: of two that are no numbers neither is less.
pub(super) fn less_or_equal(first: &Slot, other: &Slot) -> Result<bool, Failure> {
    if less(first, other)? {
        return Ok(true);
    }
    Ok(match (first.value(), other.value()) {
        #[expect(clippy::float_cmp, reason = "as Go does")]
        (Some(Value::Float(first)), Some(Value::Float(other))) => first == other,
        (Some(Value::Text(first)), Some(Value::Text(other))) => first == other,
        (Some(Value::Int(first) | Value::Int64(first)), Some(Value::Int(other) | Value::Int64(other))) => {
            first == other
        }
        _ => false,
    })
}

fn incompatible(first: &Value, other: &Value) -> Failure {
    let (first, other) = (first.type_name(), other.type_name());
    Failure::new(format!("incompatible types for comparison: {first} and {other}"))
}
