//! Go's durations: nanoseconds in 64 bits, written `1h2m3.5s`.

use crate::{Failure, sprig::print::quoted};

const UNITS: &[(&str, i64)] = &[
    ("ns", 1),
    ("us", 1_000),
    ("µs", 1_000),
    ("μs", 1_000),
    ("ms", 1_000_000),
    ("s", SECOND),
    ("m", 60 * SECOND),
    ("h", 3600 * SECOND),
];
const SECOND: i64 = 1_000_000_000;

/// A whole number as `strconv.ParseInt` reads one, its error ignored: what is too large is the largest.
pub(super) fn whole(text: &str) -> i64 {
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return 0;
    }
    text.parse().unwrap_or(if text.starts_with('-') { i64::MIN } else { i64::MAX })
}

pub(super) fn parse(text: &str) -> Result<i64, Failure> {
    read(text).ok_or_else(|| Failure::new(format!("time: invalid duration {}", quoted(text))))
}

fn read(text: &str) -> Option<i64> {
    let negative = text.starts_with('-');
    let mut rest = text.strip_prefix(['-', '+']).unwrap_or(text);
    if rest == "0" {
        return Some(0);
    }
    if rest.is_empty() {
        return None;
    }
    let mut total: i128 = 0;
    while !rest.is_empty() {
        let whole_end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        let (whole, after) = rest.split_at(whole_end);
        let (fraction, after) = match after.strip_prefix('.') {
            Some(after) => after.split_at(after.find(|c: char| !c.is_ascii_digit()).unwrap_or(after.len())),
            None => ("", after),
        };
        if whole.is_empty() && fraction.is_empty() {
            return None;
        }
        let unit_end = after.find(|c: char| c == '.' || c.is_ascii_digit()).unwrap_or(after.len());
        let (unit, after) = after.split_at(unit_end);
        let (_, unit) = UNITS.iter().find(|(name, _)| *name == unit)?;
        let whole: i128 = if whole.is_empty() { 0 } else { whole.parse().ok()? };
        total = total.checked_add(whole.checked_mul(i128::from(*unit))?)?;
        total += part_of(fraction, *unit);
        if total > i128::from(i64::MAX) + 1 {
            return None;
        }
        rest = after;
    }
    i64::try_from(if negative { -total } else { total }).ok()
}

/// The part of a unit that the digits behind its point are.
#[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, reason = "as Go calculates it")]
fn part_of(fraction: &str, unit: i64) -> i128 {
    let (mut digits, mut scale) = (0i64, 1f64);
    for byte in fraction.bytes() {
        let next = digits.checked_mul(10).and_then(|digits| digits.checked_add(i64::from(byte - b'0')));
        let Some(next) = next else { break };
        digits = next;
        scale *= 10.0;
    }
    (digits as f64 * (unit as f64 / scale)) as i128
}

pub(super) fn print(nanoseconds: i64) -> String {
    let size = nanoseconds.unsigned_abs();
    let sign = if nanoseconds < 0 { "-" } else { "" };
    if size == 0 {
        return "0s".into();
    }
    let with_fraction = |size: u64, unit: u64, places: usize| {
        let fraction = format!("{:0places$}", size % unit);
        let fraction = fraction.trim_end_matches('0');
        let point = if fraction.is_empty() { "" } else { "." };
        format!("{}{point}{fraction}", size / unit)
    };
    if size < 1_000 {
        return format!("{sign}{size}ns");
    }
    if size < 1_000_000 {
        return format!("{sign}{}µs", with_fraction(size, 1_000, 3));
    }
    if size < SECOND.unsigned_abs() {
        return format!("{sign}{}ms", with_fraction(size, 1_000_000, 6));
    }
    let minute = 60 * SECOND.unsigned_abs();
    let seconds = with_fraction(size % minute, SECOND.unsigned_abs(), 9);
    let minutes = size / minute;
    match (minutes / 60, minutes % 60) {
        (0, 0) => format!("{sign}{seconds}s"),
        (0, minutes) => format!("{sign}{minutes}m{seconds}s"),
        (hours, minutes) => format!("{sign}{hours}h{minutes}m{seconds}s"),
    }
}

/// In the largest unit of which there is more than one.
pub(super) fn rounded(nanoseconds: i64) -> String {
    let second = SECOND.unsigned_abs();
    let units =
        [(365 * 24 * 3600, "y"), (30 * 24 * 3600, "mo"), (24 * 3600, "d"), (3600, "h"), (60, "m"), (1, "s")];
    let size = nanoseconds.unsigned_abs();
    let unit = units.iter().find(|(seconds, _)| size > seconds * second);
    unit.map_or_else(|| "0s".into(), |(seconds, name)| format!("{}{name}", size / (seconds * second)))
}
