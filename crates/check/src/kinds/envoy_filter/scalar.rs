//! Values without fields: numbers, texts, bytes, enums, times. As Istio's old JSON library reads them.

use super::{json::Json, newer::is_enum_name};
use crate::value::Verdict;
use mizzen_api::proto::Duration;
use prost_reflect::{EnumDescriptor, Kind};

pub(super) fn value(kind: &Kind, json: Json<'_>) -> Verdict {
    match kind {
        Kind::Bool => match json {
            Json::Bool => Ok(()),
            _ => wrong("true or false", json),
        },
        Kind::String => match json {
            Json::Text(_) => Ok(()),
            _ => wrong("a text", json),
        },
        Kind::Int32 | Kind::Sint32 | Kind::Sfixed32 => integer::<i32>(json),
        Kind::Int64 | Kind::Sint64 | Kind::Sfixed64 => integer::<i64>(json),
        Kind::Uint32 | Kind::Fixed32 => integer::<u32>(json),
        Kind::Uint64 | Kind::Fixed64 => integer::<u64>(json),
        Kind::Float => float(json, |number| (number as f32).is_finite()),
        Kind::Double => float(json, f64::is_finite),
        Kind::Bytes => bytes(json),
        Kind::Enum(names) => enumeration(names, json),
        Kind::Message(_) => Ok(()),
    }
}

/// A map's key, which in JSON is always a text.
pub(super) fn key(kind: &Kind, text: &str) -> Verdict {
    match kind {
        Kind::String => Ok(()),
        Kind::Bool if matches!(text, "true" | "false") => Ok(()),
        Kind::Bool => Err(format!("Envoy filter: a key must be true or false here, not {text:?}")),
        other => value(other, Json::Text(text)),
    }
}

fn wrong(wanted: &str, json: Json<'_>) -> Verdict {
    Err(format!("Envoy filter: {wanted} belongs here, not {}", json.noun()))
}

/// In quotes or not, and no fraction.
fn integer<T: std::str::FromStr>(json: Json<'_>) -> Verdict {
    let name = std::any::type_name::<T>();
    let (text, quoted) = match json {
        // As Go prints it when it hands a number on.
        Json::Number(number) => (number.to_string(), false),
        Json::Text(text) => (unquoted(text).to_owned(), true),
        _ => return wrong("a number", json),
    };
    let good = if quoted {
        text == "null" || (is_json_integer(&text) && text.parse::<T>().is_ok())
    } else {
        text.parse::<T>().is_ok()
    };
    if good {
        Ok(())
    } else {
        Err(format!("Envoy filter: {text} is not a whole number in the range of {name}"))
    }
}

fn float(json: Json<'_>, in_range: fn(f64) -> bool) -> Verdict {
    let (text, number) = match json {
        Json::Number(number) => (number.to_string(), Some(number)),
        Json::Text("NaN" | "Infinity" | "-Infinity") => return Ok(()),
        Json::Text(text) => {
            let text = unquoted(text);
            if text == "null" {
                return Ok(());
            }
            let number = if is_json_number(text) { text.parse().ok() } else { None };
            (text.to_owned(), number)
        }
        _ => return wrong("a number", json),
    };
    if number.is_some_and(in_range) {
        Ok(())
    } else {
        Err(format!("Envoy filter: {text:?} is not a number in the range of this field"))
    }
}

/// What stands in quotes is read as JSON again, where spaces do not count.
fn unquoted(text: &str) -> &str {
    text.trim_matches(' ')
}

fn is_json_integer(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);
    digits == "0" || (!digits.starts_with('0') && is_digits(digits))
}

fn is_json_number(text: &str) -> bool {
    let (number, exponent) = match text.split_once(['e', 'E']) {
        Some((number, exponent)) => (number, Some(exponent)),
        None => (text, None),
    };
    let (whole, fraction) = match number.split_once('.') {
        Some((whole, fraction)) => (whole, Some(fraction)),
        None => (number, None),
    };
    is_json_integer(whole)
        && fraction.is_none_or(is_digits)
        && exponent.is_none_or(|exponent| is_digits(exponent.strip_prefix(['+', '-']).unwrap_or(exponent)))
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Base64 with its padding, or a list of numbers.
fn bytes(json: Json<'_>) -> Verdict {
    match json {
        Json::Text(text) if is_base64(text) => Ok(()),
        Json::Text(_) => Err("Envoy filter: bytes are written in base64 (with padding)".to_owned()),
        Json::List(items) => items.iter().try_for_each(|item| match Json::from(item) {
            Json::Null => Ok(()),
            Json::Number(number) if number.to_string().parse::<u8>().is_ok() => Ok(()),
            other => wrong("a byte", other),
        }),
        _ => wrong("base64", json),
    }
}

fn is_base64(text: &str) -> bool {
    let mut length: usize = 0;
    let mut padding = 0;
    for byte in text.bytes().filter(|byte| !matches!(byte, b'\r' | b'\n')) {
        length += 1;
        match byte {
            b'=' => padding += 1,
            _ if padding > 0 => return false,
            b'+' | b'/' => {}
            _ if byte.is_ascii_alphanumeric() => {}
            _ => return false,
        }
    }
    length.is_multiple_of(4) && padding <= 2
}

/// By name, or by number, which need not have a name.
fn enumeration(names: &EnumDescriptor, json: Json<'_>) -> Verdict {
    match json {
        Json::Text(name)
            if names.get_value_by_name(name).is_some() || is_enum_name(names.full_name(), name) =>
        {
            Ok(())
        }
        Json::Text(name) => {
            let known: Vec<_> = names.values().take(20).map(|value| value.name().to_owned()).collect();
            Err(format!(
                "Envoy filter: unknown value {name:?} for enum {}: use one of {}",
                names.full_name(),
                known.join(", ")
            ))
        }
        Json::Number(_) => integer::<i32>(json),
        _ => wrong("one of an enum's names", json),
    }
}

pub(super) fn duration(json: Json<'_>) -> Verdict {
    match json {
        Json::Text(text) => {
            text.parse::<Duration>().map(|_| ()).map_err(|error| format!("Envoy filter: {error}"))
        }
        _ => wrong("a duration such as 10s", json),
    }
}

pub(super) fn timestamp(json: Json<'_>) -> Verdict {
    match json {
        Json::Text(text) if is_timestamp(text) => Ok(()),
        Json::Text(text) => Err(format!(
            "Envoy filter: bad Timestamp {text:?}: write it as 2006-01-02T15:04:05Z, or with an offset"
        )),
        _ => wrong("a timestamp such as 2006-01-02T15:04:05Z", json),
    }
}

/// RFC 3339.
fn is_timestamp(text: &str) -> bool {
    let Some((date, time)) = text.split_once('T') else { return false };
    let Some(zone) = time.find(['Z', '+', '-']) else { return false };
    let (time, zone) = time.split_at(zone);
    is_date(date) && is_time(time) && (zone == "Z" || is_offset(zone.get(1..).unwrap_or_default()))
}

fn is_date(text: &str) -> bool {
    let [year, month, day] = *text.split('-').collect::<Vec<_>>() else { return false };
    let (Some(year), Some(month), Some(day)) = (number(year, 4), number(month, 2), number(day, 2)) else {
        return false;
    };
    let leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    let days = match month {
        1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
        4 | 6 | 9 | 11 => 30,
        2 if leap => 29,
        2 => 28,
        _ => return false,
    };
    (1..=days).contains(&day)
}

fn is_time(text: &str) -> bool {
    let (clock, fraction) = match text.split_once(['.', ',']) {
        Some((clock, fraction)) => (clock, Some(fraction)),
        None => (text, None),
    };
    let [hour, minute, second] = *clock.split(':').collect::<Vec<_>>() else { return false };
    below(hour, 24) && below(minute, 60) && below(second, 60) && fraction.is_none_or(is_digits)
}

fn is_offset(text: &str) -> bool {
    text.split_once(':').is_some_and(|(hour, minute)| below(hour, 25) && below(minute, 60))
}

fn below(text: &str, limit: u32) -> bool {
    number(text, 2).is_some_and(|number| number < limit)
}

fn number(text: &str, digits: usize) -> Option<u32> {
    if text.len() == digits && is_digits(text) { text.parse().ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_may_stand_in_quotes() {
        for good in ["0", "-1", " 7 ", "null", "2147483647"] {
            assert!(value(&Kind::Int32, Json::Text(good)).is_ok(), "{good}");
        }
        for bad in ["", "1.0", "1e2", "+1", "01", "2147483648", "a", "\t1"] {
            assert!(value(&Kind::Int32, Json::Text(bad)).is_err(), "{bad}");
        }
        for (number, good) in
            [(1.0, true), (-1.0, false), (1.5, false), (-0.0, false), (4_294_967_296.0, false)]
        {
            assert_eq!(value(&Kind::Uint32, Json::Number(number)).is_ok(), good, "{number}");
        }
        for good in ["1.5", "-1e-3", "NaN", "-Infinity", "1E+2"] {
            assert!(value(&Kind::Float, Json::Text(good)).is_ok(), "{good}");
        }
        for bad in ["1.", ".5", "1e", "inf", "1e39", "nan"] {
            assert!(value(&Kind::Float, Json::Text(bad)).is_err(), "{bad}");
        }
        assert!(value(&Kind::Float, Json::Number(1e39)).is_err());
        assert!(value(&Kind::Double, Json::Number(1e39)).is_ok());
    }

    #[test]
    fn bytes_are_base64() {
        for good in ["", "YQ==", "YWI=", "YWJj", "YW\nJj"] {
            assert!(value(&Kind::Bytes, Json::Text(good)).is_ok(), "{good}");
        }
        for bad in ["YQ", "Y===", "YQ=a", "Y_-a", "a b c d "] {
            assert!(value(&Kind::Bytes, Json::Text(bad)).is_err(), "{bad}");
        }
    }

    #[test]
    fn times() {
        for good in ["2024-02-29T00:00:00Z", "2006-01-02T15:04:05.123456789+02:00"] {
            assert!(timestamp(Json::Text(good)).is_ok(), "{good}");
        }
        for bad in [
            "2023-02-29T00:00:00Z",
            "2006-01-02 15:04:05Z",
            "2006-01-02T24:00:00Z",
            "2006-01-02T15:04:05",
            "",
        ] {
            assert!(timestamp(Json::Text(bad)).is_err(), "{bad}");
        }
        assert!(duration(Json::Text("1m30s")).is_ok());
        assert!(duration(Json::Text("5")).is_err());
        assert!(duration(Json::Number(5.0)).is_err());
    }
}
