//! The type of what stands right of `=`: a whole number, else a number, else true or false, else text.

use serde_json::{Number, Value};

/// These are text whatever they look like: `1.30` is a version and no number.
const ALWAYS_TEXT: [&str; 7] = [
    "spec.values.compatibilityVersion",
    "spec.compatibilityVersion",
    "spec.tag",
    "spec.values.global.tag",
    "spec.meshConfig.defaultConfig.proxyMetadata.",
    "spec.values.meshConfig.defaultConfig.proxyMetadata.",
    // Istioctl makes a number of it and refuses that.
    "spec.revision",
];

/// A value as its path has it. The path begins with `spec`.
pub fn typed(path: &str, text: &str) -> Value {
    if ALWAYS_TEXT.iter().any(|prefix| path.starts_with(prefix)) {
        return Value::from(text);
    }
    if let Ok(whole) = text.parse::<i64>() {
        return Value::from(whole);
    }
    if let Some(number) = float(text) {
        return Value::Number(number);
    }
    match text {
        "t" | "T" | "TRUE" | "true" | "True" => Value::Bool(true),
        "f" | "F" | "FALSE" | "false" | "False" => Value::Bool(false),
        text => Value::from(text.replace("\\,", ",")),
    }
}

/// Go's syntax of a float. What is no finite number has no place in a tree and stays text.
fn float(text: &str) -> Option<Number> {
    let digits = text.trim_start_matches(['+', '-']);
    if text.len() - digits.len() > 1 || !digits.starts_with(|c: char| c.is_ascii_digit() || c == '.') {
        return None;
    }
    let plain = without_underscores(digits)?;
    let value = match plain.strip_prefix("0x").or_else(|| plain.strip_prefix("0X")) {
        Some(hex) => hexadecimal(hex)?,
        None => plain.parse().ok()?,
    };
    Number::from_f64(if text.starts_with('-') { -value } else { value })
}

/// Underscores may stand between digits, and behind `0x`.
fn without_underscores(text: &str) -> Option<String> {
    let hex = text.starts_with("0x") || text.starts_with("0X");
    let digit = |at: Option<usize>| {
        let byte = at.and_then(|at| text.as_bytes().get(at)).copied().unwrap_or_default();
        byte.is_ascii_digit() || hex && (byte.is_ascii_hexdigit() || matches!(byte, b'x' | b'X'))
    };
    let right = |(at, _)| digit(usize::checked_sub(at, 1)) && digit(Some(at + 1));
    text.match_indices('_').all(right).then(|| text.replace('_', ""))
}

/// `1.8p-2`, as in `0x1.8p-2`: digits with the exponent that Go insists on.
fn hexadecimal(text: &str) -> Option<f64> {
    let (mantissa, exponent) = text.split_once(['p', 'P'])?;
    let exponent: i32 = exponent.parse().ok()?;
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = format!("{whole}{fraction}");
    if digits.is_empty() || digits.len() > 13 || !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    let whole = u64::from_str_radix(&digits, 16).ok()?;
    let scale = exponent.checked_sub(i32::try_from(fraction.len()).ok()?.checked_mul(4)?)?;
    #[expect(clippy::cast_precision_loss, reason = "13 digits are 52 bits")]
    Some(whole as f64 * 2f64.powi(scale))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_value_gets_its_type_from_its_text() {
        for (text, value) in [
            ("", json!("")),
            ("1", json!(1)),
            ("+07", json!(7)),
            ("-12345678", json!(-12_345_678)),
            ("1.5", json!(1.5)),
            (".5", json!(0.5)),
            ("1e3", json!(1000.0)),
            ("0x1p4", json!(16.0)),
            ("1_000", json!(1000.0)),
            ("_1", json!("_1")),
            ("1__0", json!("1__0")),
            ("9223372036854775808", json!(9_223_372_036_854_775_808.0)),
            ("true", json!(true)),
            ("F", json!(false)),
            ("yes", json!("yes")),
            ("0x10", json!("0x10")),
            ("1e400", json!("1e400")),
            ("inf", json!("inf")),
            ("NaN", json!("NaN")),
            ("1Gi", json!("1Gi")),
            ("--1", json!("--1")),
            ("a\\,b", json!("a,b")),
        ] {
            assert_eq!(typed("spec.values.x", text), value, "{text}");
        }
    }

    #[test]
    fn versions_and_proxy_metadata_are_text() {
        for path in ["spec.tag", "spec.compatibilityVersion", "spec.meshConfig.defaultConfig.proxyMetadata.A"]
        {
            assert_eq!(typed(path, "1.30"), json!("1.30"), "{path}");
        }
    }
}
