//! Single values as Go reads them: numbers, quantities, times, durations, base64.

use mizzen_api::proto::Duration;
use serde_json::{Number, Value};

/// What sort of value it is, in a message.
pub(super) fn named(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(number) if whole(number).is_some() => "a whole number",
        Value::Number(_) => "a fraction",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "a map",
    }
}

/// The number if it is whole. Istioctl has only floats, and writes them out before they are decoded: beyond 10^21 with an
/// exponent, which is no whole number any more.
pub(super) fn whole(number: &Number) -> Option<i128> {
    if let Some(small) = number.as_i64().filter(|number| number.unsigned_abs() < 1 << 53) {
        return Some(i128::from(small));
    }
    let float = number.as_f64()?;
    (float.fract() == 0.0 && float.abs() < 1e21).then_some(float as i128)
}

/// The same of a number that was a text, which nobody rewrites.
pub(super) fn whole_as_written(number: &Number, text: &str) -> Option<i128> {
    let plain = !text.contains(['.', 'e', 'E']);
    let exact = number.as_i64().map(i128::from).or_else(|| number.as_u64().map(i128::from));
    exact.filter(|_| plain)
}

/// Whether it is a whole number of so many bits.
pub(super) fn fits(whole: Option<i128>, signed: bool, bits: u8) -> bool {
    let (lowest, highest) = if signed {
        (-(1_i128 << (bits - 1)), (1_i128 << (bits - 1)) - 1)
    } else {
        (0, (1_i128 << bits) - 1)
    };
    whole.is_some_and(|whole| (lowest..=highest).contains(&whole))
}

/// A number as Go's JSON writes it.
pub(super) fn printed(number: &Number) -> String {
    whole(number).map_or_else(|| number.to_string(), |whole| whole.to_string())
}

/// Kubernetes' quantities: a number with a unit, of tens or of twos, or with an exponent.
pub(super) fn is_quantity(text: &str) -> bool {
    let rest = text.strip_prefix(['-', '+']).unwrap_or(text);
    let digits =
        |text: &str| text.len() - text.trim_start_matches(|letter: char| letter.is_ascii_digit()).len();
    let whole = digits(rest);
    let (number, mut unit) = rest.split_at(whole);
    let mut any = !number.is_empty();
    if let Some(after) = unit.strip_prefix('.') {
        let fraction = digits(after);
        any |= fraction > 0;
        unit = &after[fraction..];
    }
    any && match unit {
        "" | "n" | "u" | "m" | "k" | "M" | "G" | "T" | "P" | "E" => true,
        "Ki" | "Mi" | "Gi" | "Ti" | "Pi" | "Ei" => true,
        _ => unit.strip_prefix(['e', 'E']).is_some_and(|exponent| {
            let digits = exponent.strip_prefix(['-', '+']).unwrap_or(exponent);
            !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_digit())
        }),
    }
}

pub(super) fn is_duration(text: &str) -> bool {
    text.parse::<Duration>().is_ok()
}

/// RFC 3339, as far as its form goes, with days that the month has.
pub(super) fn is_time(text: &str) -> bool {
    is_time_inner(text).unwrap_or(false)
}

fn is_time_inner(text: &str) -> Option<bool> {
    let bytes = text.as_bytes();
    let (date, rest) = (bytes.get(..19)?, bytes.get(19..)?);
    let shape = b"0000-00-00T00:00:00";
    let fits = date.iter().zip(shape).all(|(byte, like)| match like {
        b'0' => byte.is_ascii_digit(),
        like => byte == like,
    });
    if !fits {
        return Some(false);
    }
    let number = |from: usize, to: usize| {
        date[from..to].iter().fold(0_u32, |number, digit| number * 10 + u32::from(digit - b'0'))
    };
    let (year, month, day) = (number(0, 4), number(5, 7), number(8, 10));
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let days = match month {
        2 if leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => 0,
    };
    let clock = number(11, 13) < 24 && number(14, 16) < 60 && number(17, 19) < 60;
    let rest = match rest.strip_prefix(b".").or_else(|| rest.strip_prefix(b",")) {
        Some(after) => {
            let digits = after.iter().take_while(|byte| byte.is_ascii_digit()).count();
            if digits == 0 {
                return Some(false);
            }
            &after[digits..]
        }
        None => rest,
    };
    let zone = match rest {
        b"Z" => true,
        [b'+' | b'-', hours @ .., b':', m1, m2] => {
            hours.len() == 2
                && hours.iter().chain([m1, m2]).all(u8::is_ascii_digit)
                && (hours[0] - b'0') * 10 + (hours[1] - b'0') <= 24
                && (m1 - b'0') * 10 + (m2 - b'0') < 60
        }
        _ => false,
    };
    Some((1..=days).contains(&day) && clock && zone)
}

/// With its padding; line ends do not count.
pub(super) fn is_base64(text: &str) -> bool {
    let letters: Vec<u8> = text.bytes().filter(|byte| !matches!(byte, b'\r' | b'\n')).collect();
    let body = letters.strip_suffix(b"==").or_else(|| letters.strip_suffix(b"=")).unwrap_or(&letters);
    letters.len().is_multiple_of(4)
        && body.iter().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_are_those_of_kubernetes() {
        for good in ["1", "0.5", "100m", "1Gi", "-1k", "1e3", "1E-3", ".5", "1.", "+2M", "12E"] {
            assert!(is_quantity(good), "{good}");
        }
        for bad in ["", "m", "1.5.5", "1GiB", "1 Gi", "ten", "1e", "--1", "true"] {
            assert!(!is_quantity(bad), "{bad}");
        }
    }

    #[test]
    fn times_have_real_days() {
        assert!(is_time("2024-02-29T23:59:59Z") && is_time("2024-01-01T00:00:00.5+02:00"));
        for bad in ["2023-02-29T00:00:00Z", "2024-01-01", "2024-01-01 00:00:00Z", "2024-01-01T24:00:00Z", ""]
        {
            assert!(!is_time(bad), "{bad}");
        }
    }

    #[test]
    fn whole_numbers_have_their_bits() {
        assert!(fits(Some(i128::from(i32::MAX)), true, 32) && !fits(Some(1 << 31), true, 32));
        assert!(fits(Some(0), false, 32) && !fits(Some(-1), false, 32) && !fits(None, true, 64));
    }
}
