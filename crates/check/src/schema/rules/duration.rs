//! Durations as Go writes them: `1h30m`, `500ms`, `-1.5s`.

/// How long, if it is a duration and fits into 64 bits of nanoseconds.
pub(super) fn nanoseconds(text: &str) -> Option<i64> {
    let (negative, mut rest) = match text.as_bytes().first()? {
        b'-' => (true, &text[1..]),
        b'+' => (false, &text[1..]),
        _ => (false, text),
    };
    if rest == "0" {
        return Some(0);
    }
    if rest.is_empty() {
        return None;
    }
    let mut total: u64 = 0;
    while !rest.is_empty() {
        let (part, after) = one(rest)?;
        total = total.checked_add(part).filter(|total| *total <= LARGEST)?;
        rest = after;
    }
    match (negative, total) {
        (true, LARGEST) => Some(i64::MIN),
        (true, total) => i64::try_from(total).ok().map(|total| -total),
        (false, total) => i64::try_from(total).ok(),
    }
}

/// One more than the largest positive one: the most negative.
const LARGEST: u64 = 1 << 63;

/// A number with its unit, in nanoseconds, and what follows it.
fn one(text: &str) -> Option<(u64, &str)> {
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
    Some((whole.checked_add(part_of(fraction, unit)).filter(|sum| *sum <= LARGEST)?, rest))
}

/// A fraction of a unit, by way of a float as Go does it: `0.9999999999999999999ms` is a millisecond.
fn part_of(fraction: &str, unit: u64) -> u64 {
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

fn digits(text: &str) -> (&str, &str) {
    text.split_at(text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_read_as_go_reads_them() {
        let cases = [
            ("0", Some(0)),
            ("1ms", Some(1_000_000)),
            ("1h30m", Some(5_400_000_000_000)),
            ("-1.5s", Some(-1_500_000_000)),
            ("+.5s", Some(500_000_000)),
            ("1.s", Some(1_000_000_000)),
            ("1\u{b5}s", Some(1_000)),
            ("1\u{3bc}s", Some(1_000)),
            ("0.9999999999999999999999999ms", Some(1_000_000)),
            ("0.999999999ms", Some(999_999)),
            ("9223372036854775807ns", Some(i64::MAX)),
            ("-9223372036854775808ns", Some(i64::MIN)),
            ("9223372036854775808ns", None),
            ("99999999999999999999h", None),
            ("2562048h", None),
            ("", None),
            ("-", None),
            ("1", None),
            ("s", None),
            (".s", None),
            ("1 s", None),
            ("1d", None),
            ("1S", None),
            ("é", None),
        ];
        for (text, expected) in cases {
            assert_eq!(nanoseconds(text), expected, "{text}");
        }
    }
}
