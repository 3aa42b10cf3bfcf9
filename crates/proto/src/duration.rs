//! A length of time as Istio writes and reads it in JSON: read like Go's `time.ParseDuration` (`1m`, `1h30m`, `500ms`),
//! where the JSON of protos knows only seconds; written as seconds with 0, 3, 6 or 9 decimals.

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};
use std::{fmt, str::FromStr};

/// `google.protobuf.Duration` with Go's text. Ordered by length.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, prost::Message)]
pub struct Duration {
    #[prost(int64, tag = "1")]
    pub seconds: i64,
    #[prost(int32, tag = "2")]
    pub nanos: i32,
}

const NANOS: i128 = 1_000_000_000;

impl Duration {
    pub const fn from_seconds(seconds: i64) -> Self {
        Self { seconds, nanos: 0 }
    }

    pub const fn from_millis(millis: i64) -> Self {
        Self { seconds: millis / 1_000, nanos: (millis % 1_000) as i32 * 1_000_000 }
    }

    /// The whole length, in nanoseconds.
    pub const fn as_nanos(&self) -> i128 {
        self.seconds as i128 * NANOS + self.nanos as i128
    }

    fn from_nanos(nanos: i128) -> Option<Self> {
        // Go counts nanoseconds in 64 bits, which is 292 years.
        i64::try_from(nanos).ok()?;
        Some(Self { seconds: i64::try_from(nanos / NANOS).ok()?, nanos: i32::try_from(nanos % NANOS).ok()? })
    }
}

/// Text that is no duration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadDuration(String);

impl fmt::Display for BadDuration {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "bad duration {:?}: write a number with a unit, such as 500ms, 10s, 1m30s", self.0)
    }
}

impl std::error::Error for BadDuration {}

impl FromStr for Duration {
    type Err = BadDuration;

    fn from_str(text: &str) -> Result<Self, BadDuration> {
        parse(text).ok_or_else(|| BadDuration(text.chars().take(64).collect()))
    }
}

fn parse(text: &str) -> Option<Duration> {
    let (negative, mut rest) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    if rest == "0" {
        return Some(Duration::default());
    }
    if rest.is_empty() {
        return None;
    }
    let mut total: u64 = 0;
    while !rest.is_empty() {
        let (part, after) = term(rest)?;
        total = total.checked_add(part).filter(|total| *total <= LARGEST)?;
        rest = after;
    }
    let total = i128::from(total);
    Duration::from_nanos(if negative { -total } else { total })
}

/// Nanoseconds, of either sign; the positive ones end one earlier.
const LARGEST: u64 = 1 << 63;

/// A number with its unit, in nanoseconds, and what follows it.
fn term(text: &str) -> Option<(u64, &str)> {
    let (whole, rest) = digits(text);
    let (fraction, rest) = rest.strip_prefix('.').map_or(("", rest), digits);
    if whole.is_empty() && fraction.is_empty() {
        return None;
    }
    let end = rest.find(|c: char| c == '.' || c.is_ascii_digit()).unwrap_or(rest.len());
    let (unit, rest) = rest.split_at(end);
    let unit: u64 = match unit {
        "ns" => 1,
        // Two letters look alike: the sign for micro and the Greek one.
        "us" | "\u{b5}s" | "\u{3bc}s" => 1_000,
        "ms" => 1_000_000,
        "s" => 1_000_000_000,
        "m" => 60_000_000_000,
        "h" => 3_600_000_000_000,
        _ => return None,
    };
    let whole: u64 = if whole.is_empty() { 0 } else { whole.parse().ok()? };
    let whole = whole.checked_mul(unit).filter(|whole| *whole <= LARGEST)?;
    Some((whole.checked_add(part(fraction, unit))?, rest))
}

fn digits(text: &str) -> (&str, &str) {
    text.split_at(text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len()))
}

/// A fraction of a unit, by way of a float as Go does it: `0.9999999999999999999ms` is a millisecond.
fn part(fraction: &str, unit: u64) -> u64 {
    let (mut digits, mut scale) = (0_u64, 1.0_f64);
    for digit in fraction.bytes() {
        if digits > (LARGEST - 1) / 10 {
            break;
        }
        let next = digits * 10 + u64::from(digit - b'0');
        if next > LARGEST {
            break;
        }
        (digits, scale) = (next, scale * 10.0);
    }
    (digits as f64 * (unit as f64 / scale)) as u64
}

impl fmt::Display for Duration {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let nanos = self.as_nanos();
        let sign = if nanos < 0 { "-" } else { "" };
        let (seconds, nanos) = (nanos.abs() / NANOS, nanos.abs() % NANOS);
        if nanos == 0 {
            write!(out, "{sign}{seconds}s")
        } else if nanos % 1_000_000 == 0 {
            write!(out, "{sign}{seconds}.{:03}s", nanos / 1_000_000)
        } else if nanos % 1_000 == 0 {
            write!(out, "{sign}{seconds}.{:06}s", nanos / 1_000)
        } else {
            write!(out, "{sign}{seconds}.{nanos:09}s")
        }
    }
}

impl Serialize for Duration {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Duration {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
        text.parse().map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::Duration;

    #[test]
    fn durations_are_read_as_go_reads_them() {
        for (text, printed) in [
            ("0", "0s"),
            ("0s", "0s"),
            ("5s", "5s"),
            ("1m", "60s"),
            ("1h30m", "5400s"),
            ("500ms", "0.500s"),
            ("1.5h", "5400s"),
            (".5s", "0.500s"),
            ("1.s", "1s"),
            ("-2m", "-120s"),
            ("+2us", "0.000002s"),
            ("3µs", "0.000003s"),
            ("1ns", "0.000000001s"),
            ("1h1m1s1ms1us1ns", "3661.001001001s"),
            ("9223372036854775807ns", "9223372036.854775807s"),
            ("0.3333333333333333333h", "1200s"),
            ("0.9999999999999999999999999ms", "0.001s"),
            ("0.999999999ms", "0.000999999s"),
            ("-9223372036854775808ns", "-9223372036.854775808s"),
        ] {
            assert_eq!(text.parse::<Duration>().unwrap().to_string(), printed, "{text}");
        }
    }

    #[test]
    fn what_go_refuses_is_refused() {
        for text in [
            "",
            "-",
            "5",
            "s",
            ".s",
            "1x",
            "1 s",
            " 1s",
            "1s ",
            "1d",
            "9223372036854775808ns",
            "1e3s",
            "--1s",
            "3000000h",
        ] {
            assert!(text.parse::<Duration>().is_err(), "{text}");
        }
        let long = "9000000000000000000ns".repeat(100);
        assert!(long.parse::<Duration>().is_err());
    }

    #[test]
    fn only_text_is_a_duration_in_json() {
        assert!(serde_json::from_str::<Duration>("5").is_err());
        assert_eq!(serde_json::to_string(&Duration::from_millis(1_500)).unwrap(), "\"1.500s\"");
    }
}
