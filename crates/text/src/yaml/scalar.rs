//! What a word means: null, a boolean, a number or itself, by the rules of go-yaml v2, which is what kubectl reads
//! with. They are YAML 1.1's with exceptions of its own, so no YAML library has exactly these.

use std::borrow::Cow;

use super::timestamp;

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Scalar {
    Null,
    Bool(bool),
    Int(i64),
    /// Only what is too big for `Int`.
    Unsigned(u64),
    Float(f64),
    /// A string, too, but one that looks like a date.
    Timestamp,
    String,
}

/// The meaning of an unquoted, untagged word.
pub(super) fn resolve(word: &str) -> Scalar {
    let Some(first) = word.bytes().next() else { return Scalar::Null };
    match first {
        b'y' | b'Y' | b'n' | b'N' | b't' | b'T' | b'f' | b'F' | b'o' | b'O' | b'~' => named(word),
        b'.' => {
            let float = named_float(word).or_else(|| float(&without_separators(word)?));
            float.map_or(Scalar::String, Scalar::Float)
        }
        b'0'..=b'9' | b'+' | b'-' => {
            if let Some(float) = named_float(word) {
                return Scalar::Float(float);
            }
            if timestamp::is_timestamp(word) {
                return Scalar::Timestamp;
            }
            if word.contains('_') { number(&word.replace('_', "")) } else { number(word) }
        }
        _ => Scalar::String,
    }
}

fn named(word: &str) -> Scalar {
    match word {
        "y" | "Y" | "yes" | "Yes" | "YES" | "true" | "True" | "TRUE" | "on" | "On" | "ON" => {
            Scalar::Bool(true)
        }
        "n" | "N" | "no" | "No" | "NO" | "false" | "False" | "FALSE" | "off" | "Off" | "OFF" => {
            Scalar::Bool(false)
        }
        "~" | "null" | "Null" | "NULL" => Scalar::Null,
        _ => Scalar::String,
    }
}

fn named_float(word: &str) -> Option<f64> {
    match word {
        ".nan" | ".NaN" | ".NAN" => Some(f64::NAN),
        ".inf" | ".Inf" | ".INF" | "+.inf" | "+.Inf" | "+.INF" => Some(f64::INFINITY),
        "-.inf" | "-.Inf" | "-.INF" => Some(f64::NEG_INFINITY),
        _ => None,
    }
}

/// A word that starts with a digit or a sign, its underscores gone.
fn number(word: &str) -> Scalar {
    let (negative, digits) = match word.as_bytes().first() {
        Some(b'-') => (true, &word[1..]),
        Some(b'+') => (false, &word[1..]),
        _ => (false, word),
    };
    if let Some(magnitude) = integer(digits) {
        if negative && magnitude <= 1 << 63 {
            return Scalar::Int(0i64.wrapping_sub_unsigned(magnitude));
        }
        if let (false, Ok(int)) = (negative, i64::try_from(magnitude)) {
            return Scalar::Int(int);
        }
        if word == digits {
            return Scalar::Unsigned(magnitude);
        }
    }
    if let Some(float) = float(word) {
        return Scalar::Float(float);
    }
    // A sign after the prefix: an accident of go-yaml's, which reads `0b-11` as -3.
    if let Some(bits) = word.strip_prefix("0b")
        && let Ok(int) = i64::from_str_radix(bits, 2)
    {
        return Scalar::Int(int);
    }
    Scalar::String
}

/// Digits with Go's prefixes; a leading zero means octal.
fn integer(digits: &str) -> Option<u64> {
    let (radix, digits) = match digits.as_bytes() {
        [b'0', b'x' | b'X', ..] => (16, &digits[2..]),
        [b'0', b'o' | b'O', ..] => (8, &digits[2..]),
        [b'0', b'b' | b'B', ..] => (2, &digits[2..]),
        [b'0', _, ..] => (8, &digits[1..]),
        _ => (10, digits),
    };
    // Rust would take a second sign for part of the number.
    digits.bytes().next().filter(u8::is_ascii_hexdigit)?;
    u64::from_str_radix(digits, radix).ok()
}

/// The word without its underscores, all of which must stand between digits. (Behind a point Go is that strict.)
fn without_separators(word: &str) -> Option<Cow<'_, str>> {
    let bytes = word.as_bytes();
    let digit = |at: Option<usize>| at.and_then(|at| bytes.get(at)).is_some_and(u8::is_ascii_digit);
    let mut underscores = word.match_indices('_').peekable();
    if underscores.peek().is_none() {
        return Some(Cow::Borrowed(word));
    }
    underscores
        .all(|(at, _)| digit(at.checked_sub(1)) && digit(at.checked_add(1)))
        .then(|| Cow::Owned(word.replace('_', "")))
}

/// A decimal fraction. One that is too big for a float stays a string.
fn float(word: &str) -> Option<f64> {
    let unsigned = word.strip_prefix(['+', '-']).unwrap_or(word);
    let (mantissa, exponent) = match unsigned.find(['e', 'E']) {
        Some(at) => (&unsigned[..at], Some(&unsigned[at + 1..])),
        None => (unsigned, None),
    };
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let valid = digits(whole)
        && digits(fraction)
        && !(whole.is_empty() && fraction.is_empty())
        && exponent.is_none_or(|exponent| {
            let exponent = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
            !exponent.is_empty() && digits(exponent)
        });
    word.parse().ok().filter(|float: &f64| valid && float.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_mean_what_kubectl_takes_them_for() {
        use Scalar::{Bool, Float, Int, Null, String, Timestamp, Unsigned};
        for (word, meaning) in [
            ("", Null),
            ("~", Null),
            ("NULL", Null),
            ("nUll", String),
            ("y", Bool(true)),
            ("oFF", String),
            ("OFF", Bool(false)),
            ("0", Int(0)),
            ("-0", Int(0)),
            ("0644", Int(420)),
            ("08", Float(8.0)),
            ("0o17", Int(15)),
            ("0o8", String),
            ("0b11", Int(3)),
            ("-0b11", Int(-3)),
            ("0b-11", Int(-3)),
            ("0x1F", Int(31)),
            ("0x", String),
            ("0x-1", String),
            ("+0x_1_F", Int(31)),
            ("1_000", Int(1000)),
            ("_1", String),
            ("1__0_", Int(10)),
            ("-9223372036854775808", Int(i64::MIN)),
            ("9223372036854775808", Unsigned(1 << 63)),
            ("+9223372036854775808", Float(9_223_372_036_854_775_808.0)),
            ("18446744073709551616", Float(18_446_744_073_709_551_616.0)),
            ("1e3", Float(1000.0)),
            ("1.", Float(1.0)),
            (".5", Float(0.5)),
            ("+.5", Float(0.5)),
            (".", String),
            (".e3", String),
            ("._5", String),
            (".5_0", Float(0.5)),
            (".5__0", String),
            (".5_", String),
            ("1_0.5_0", Float(10.5)),
            ("1e999", String),
            ("1e", String),
            ("-", String),
            ("--1", String),
            ("+-1", String),
            ("-.INF", Float(f64::NEG_INFINITY)),
            ("inf", String),
            ("12:30", String),
            ("1.2.3", String),
            ("2026-01-02", Timestamp),
            ("2026-01-02x", String),
            ("5s", String),
        ] {
            assert_eq!(resolve(word), meaning, "{word:?}");
        }
        assert!(matches!(resolve(".NaN"), Float(float) if float.is_nan()));
    }
}
