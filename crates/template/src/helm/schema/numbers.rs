//! Numbers, and when two values are the same: JSON knows no difference between 1 and 1.0.

use mizzen_text::At;
use serde_json::{Number, Value};

use super::{Findings, Schema, place};

pub(super) fn check(keywords: Schema<'_>, number: &Number, at: &At<'_>, findings: &mut Findings) {
    let value = float(number);
    let bound = |name: &str| keywords.get(name).and_then(Value::as_f64);
    // A boolean in draft 4: whether the other bound itself is outside.
    let excludes = |name: &str| keywords.get(name).and_then(Value::as_bool).unwrap_or(false);
    if let Some(least) = bound("minimum")
        && (value < least || excludes("exclusiveMinimum") && value <= least)
    {
        findings.push(format!("{} must be at least {least}, but is {number}", place(at)));
    }
    if let Some(most) = bound("maximum")
        && (value > most || excludes("exclusiveMaximum") && value >= most)
    {
        findings.push(format!("{} must be at most {most}, but is {number}", place(at)));
    }
    if let Some(least) = bound("exclusiveMinimum")
        && value <= least
    {
        findings.push(format!("{} must be more than {least}, but is {number}", place(at)));
    }
    if let Some(most) = bound("exclusiveMaximum")
        && value >= most
    {
        findings.push(format!("{} must be less than {most}, but is {number}", place(at)));
    }
    if let Some(Value::Number(factor)) = keywords.get("multipleOf")
        && !is_multiple(number, factor)
    {
        findings.push(format!("{} must be a multiple of {factor}, but is {number}", place(at)));
    }
}

fn is_multiple(number: &Number, factor: &Number) -> bool {
    if let (Some(number), Some(factor)) = (number.as_i64(), factor.as_i64()) {
        return factor != 0 && number.checked_rem(factor).unwrap_or(0) == 0;
    }
    let times = float(number) / float(factor);
    // 0.3 / 0.1 is not quite 3.
    times.is_finite() && (times - times.round()).abs() <= 1e-9 * times.abs().max(1.0)
}

pub(super) fn whole(number: &Number) -> bool {
    number.is_i64() || number.is_u64() || float(number).fract() == 0.0
}

fn float(number: &Number) -> f64 {
    number.as_f64().unwrap_or_default()
}

pub(super) fn equal(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => match (one.as_i64(), other.as_i64()) {
            (Some(one), Some(other)) => one == other,
            _ => one == other || float(one) == float(other),
        },
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| equal(one, other))
        }
        (Value::Object(one), Value::Object(other)) => {
            let same =
                |(key, value): (&String, &Value)| other.get(key).is_some_and(|other| equal(value, other));
            one.len() == other.len() && one.iter().all(same)
        }
        (one, other) => one == other,
    }
}

/// A text that is the same for equal values.
pub(super) fn canonical(value: &Value) -> String {
    match value {
        Value::Number(number) if !number.is_i64() && whole(number) => format!("{:.0}", float(number)),
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(canonical).collect();
            format!("[{}]", items.join(","))
        }
        Value::Object(map) => {
            let entries: Vec<String> =
                map.iter().map(|(key, value)| format!("{key:?}:{}", canonical(value))).collect();
            format!("{{{}}}", entries.join(","))
        }
        other => other.to_string(),
    }
}
