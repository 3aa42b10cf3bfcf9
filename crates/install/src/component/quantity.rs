//! An amount of processors in the form that Kubernetes prints: `0.5` is `500m`, `1000m` is `1`.

use serde_json::Value;

const SUFFIXES: [(&str, i32); 9] =
    [("n", -9), ("u", -6), ("m", -3), ("", 0), ("k", 3), ("M", 6), ("G", 9), ("T", 12), ("P", 15)];

/// The canonical text; none for nothing, zero and what is no quantity. Powers of two, which nobody counts processors
/// in, and numbers of more than 18 digits stay as they are.
pub(super) fn canonical(value: &Value) -> Option<String> {
    let text = match value {
        Value::String(text) => text.trim().to_owned(),
        Value::Number(number) => number.to_string(),
        _ => return None,
    };
    let digits = text.trim_start_matches(['+', '-']);
    let end = digits.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(digits.len());
    let (number, suffix) = digits.split_at(end);
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let whole = whole.trim_start_matches('0');
    if whole.bytes().chain(fraction.bytes()).all(|digit| digit == b'0') {
        return None;
    }
    let exponent_form = suffix.len() > 1 && suffix.starts_with(['e', 'E']);
    let exponent: i32 = match SUFFIXES.iter().find(|(name, _)| *name == suffix) {
        Some((_, exponent)) => *exponent,
        None if exponent_form => suffix[1..].parse().ok().filter(|exponent: &i32| exponent.abs() < 19)?,
        None if suffix == "E" => 18,
        None => return Some(text),
    };
    let shifted = format!("{}{fraction}", if whole.is_empty() { "0" } else { whole });
    let mut scale = exponent - i32::try_from(fraction.len()).ok()?;
    // Kubernetes does not look closer at what seems canonical, so `1.500` stays.
    if scale % 3 == 0 && !shifted.ends_with("000") && !shifted.starts_with('0') || shifted.len() > 18 {
        return Some(text);
    }
    let mut mantissa: i64 = shifted.parse().ok()?;
    while mantissa % 10 == 0 {
        mantissa /= 10;
        scale += 1;
    }
    while scale % 3 != 0 {
        mantissa = mantissa.checked_mul(10)?;
        scale -= 1;
    }
    let sign = if text.starts_with('-') { "-" } else { "" };
    match SUFFIXES.iter().find(|(_, exponent)| *exponent == scale) {
        Some((suffix, _)) if !exponent_form => Some(format!("{sign}{mantissa}{suffix}")),
        _ if scale == 0 => Some(format!("{sign}{mantissa}")),
        _ => Some(format!("{sign}{mantissa}e{scale}")),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn processors_are_written_as_kubernetes_writes_them() {
        for (value, text) in [
            (json!("500m"), "500m"),
            (json!("0.5"), "500m"),
            (json!(0.25), "250m"),
            (json!("1000m"), "1"),
            (json!("1500m"), "1500m"),
            (json!(2), "2"),
            (json!("2000"), "2k"),
            (json!(" 0.100 "), "100m"),
            (json!("1.500"), "1.500"),
            (json!("1e3"), "1e3"),
            (json!("10e2"), "1e3"),
            (json!("1Ki"), "1Ki"),
        ] {
            assert_eq!(canonical(&value).as_deref(), Some(text), "{value}");
        }
    }

    #[test]
    fn zero_and_no_amount_at_all_are_none() {
        for value in [json!("0"), json!(0), json!("0.00m"), json!(""), json!(null), json!({}), json!("e")] {
            assert_eq!(canonical(&value), None, "{value}");
        }
    }
}
