//! Any value as a number, by the rules of `spf13/cast`: what cannot be one is zero, and nobody is told.

use crate::{Value, sprig::TableEntry};

pub(super) const TABLE: &[TableEntry] = &[
    ("int", |call| {
        call.exactly(1)?;
        Ok(Value::Int(int(&call.any(0))))
    }),
    ("int64", |call| {
        call.exactly(1)?;
        Ok(Value::Int64(int(&call.any(0))))
    }),
    ("float64", |call| {
        call.exactly(1)?;
        Ok(Value::Float(float(&call.any(0))))
    }),
    ("atoi", |call| {
        call.exactly(1)?;
        Ok(Value::Int(atoi(&call.text(0)?)))
    }),
    ("toDecimal", |call| {
        call.exactly(1)?;
        let text = super::print::text_of(&call.any(0), call.host)?;
        Ok(Value::Int64(parse_digits(&text, 8).unwrap_or_default()))
    }),
];

pub(crate) fn int(value: &Value) -> i64 {
    match value {
        Value::Int(int) | Value::Int64(int) => *int,
        Value::Float(float) => truncated(*float),
        Value::Bool(bool) => i64::from(*bool),
        Value::Text(text) => parse_int(without_fraction(text)).unwrap_or_default(),
        Value::Nil | Value::List(_) | Value::Map(_) | Value::Object(_) => 0,
    }
}

pub(crate) fn float(value: &Value) -> f64 {
    match value {
        #[expect(clippy::cast_precision_loss, reason = "as Go converts")]
        Value::Int(int) | Value::Int64(int) => *int as f64,
        Value::Float(float) => *float,
        Value::Bool(bool) => f64::from(u8::from(*bool)),
        Value::Text(text) => parse_float(text).unwrap_or_default(),
        Value::Nil | Value::List(_) | Value::Map(_) | Value::Object(_) => 0.0,
    }
}

/// What has no 64 bits is the smallest number on the machines that Go's charts were tried on.
#[expect(clippy::cast_possible_truncation, reason = "that is what it is for")]
fn truncated(float: f64) -> i64 {
    if (-9_223_372_036_854_775_808.0..9_223_372_036_854_775_808.0).contains(&float) {
        float as i64
    } else {
        i64::MIN
    }
}

/// `12.75` → `12`; `-.5` → `-0`. What is no plain decimal stays.
fn without_fraction(text: &str) -> &str {
    let Some((whole, fraction)) = text.split_once('.') else { return text };
    let digits = whole.strip_prefix(['-', '+']).unwrap_or(whole);
    let all_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    match (all_digits(digits) && all_digits(fraction), digits.is_empty()) {
        (true, true) => "0",
        (true, false) => whole,
        (false, _) => text,
    }
}

/// Go's integers with their prefixes (`0x`, `0o`, `0b`, `0`) and underscores between digits.
fn parse_int(text: &str) -> Option<i64> {
    let (negative, digits) = signed(text);
    let (base, digits, prefixed) = match digits.as_bytes() {
        [b'0', b'x' | b'X', ..] => (16, &digits[2..], true),
        [b'0', b'o' | b'O', ..] => (8, &digits[2..], true),
        [b'0', b'b' | b'B', ..] => (2, &digits[2..], true),
        [b'0', _, ..] => (8, &digits[1..], true),
        _ => (10, digits, false),
    };
    if !underscores_separate(digits, prefixed) {
        return None;
    }
    let digits = digits.replace('_', "");
    parse_signed(negative, &digits, base)
}

/// `strconv.ParseInt` of a given base: no prefixes, no underscores.
fn parse_digits(text: &str, base: u32) -> Option<i64> {
    let (negative, digits) = signed(text);
    parse_signed(negative, digits, base)
}

fn parse_signed(negative: bool, digits: &str, base: u32) -> Option<i64> {
    if digits.is_empty() || !digits.chars().all(|digit| digit.is_digit(base)) {
        return None;
    }
    i64::from_str_radix(&format!("{}{digits}", if negative { "-" } else { "" }), base).ok()
}

fn signed(text: &str) -> (bool, &str) {
    match text.as_bytes().first() {
        Some(b'-') => (true, &text[1..]),
        Some(b'+') => (false, &text[1..]),
        _ => (false, text),
    }
}

/// An underscore stands between digits, or between the prefix and a digit.
fn underscores_separate(digits: &str, prefixed: bool) -> bool {
    !digits.contains("__") && !digits.ends_with('_') && (prefixed || !digits.starts_with('_'))
}

/// `strconv.Atoi` with its error ignored: too large a number is the largest.
fn atoi(text: &str) -> i64 {
    let (negative, digits) = signed(text);
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return 0;
    }
    parse_signed(negative, digits, 10).unwrap_or(if negative { i64::MIN } else { i64::MAX })
}

/// Numbers as Go reads them: decimal or hexadecimal, with underscores between digits.
pub(crate) fn parse_float(text: &str) -> Option<f64> {
    let (negative, unsigned) = signed(text);
    if unsigned.starts_with("0x") || unsigned.starts_with("0X") {
        return hexadecimal(&unsigned[2..]).map(|float| if negative { -float } else { float });
    }
    if unsigned.contains('_') {
        let between = |at: usize| {
            let digit = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_digit);
            at > 0 && digit(unsigned.as_bytes().get(at - 1)) && digit(unsigned.as_bytes().get(at + 1))
        };
        let good = unsigned.match_indices('_').all(|(at, _)| between(at));
        return if good { parse_float(&text.replace('_', "")) } else { None };
    }
    if unsigned.eq_ignore_ascii_case("nan") && unsigned.len() != text.len() {
        return None;
    }
    let float: f64 = text.parse().ok()?;
    // A number that is too large is an error, unless it says that it is infinite.
    let named = unsigned.starts_with(['i', 'I']);
    (named || !float.is_infinite()).then_some(float)
}

/// Behind `0x`: digits, perhaps a point among them, and the power of two, which has to be there.
fn hexadecimal(text: &str) -> Option<f64> {
    let (digits, power) = text.split_once(['p', 'P'])?;
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    if !underscores_separate(whole, true) || fraction.contains('_') {
        return None;
    }
    let power: i32 = power.parse().ok()?;
    let mut value = 0f64;
    let mut count = 0;
    for digit in whole.bytes().chain(fraction.bytes()).filter(|byte| *byte != b'_') {
        value = value.mul_add(16.0, f64::from(char::from(digit).to_digit(16)?));
        count += 1;
    }
    let shift = i32::try_from(fraction.len()).ok()?.checked_mul(4)?;
    let float = value * 2f64.powi(power.checked_sub(shift)?);
    (count > 0 && float.is_finite()).then_some(float)
}
