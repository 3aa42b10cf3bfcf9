//! Numbers as Go writes them: into JSON on the way in (where `1.0` becomes `1`), and into YAML on the way out.

use serde_json::Number;

/// A float that Go's JSON has as a plain integer, hence everybody after it, too.
pub(super) fn as_integer(float: f64) -> Option<i64> {
    // Above, Go's digits do not fit either.
    if float.fract() != 0.0 || float.abs() >= 1e19 {
        return None;
    }
    // Both print the shortest digits that tell the float and fill up with zeros, so 2^62 becomes …388000.
    // Negative zero is zero.
    format!("{float}").parse().ok()
}

/// `strconv.FormatFloat(float, 'g', -1, 64)`.
fn shortest(float: f64) -> String {
    // Of two equally near decimals Go takes the even one; so does serde_json, and Rust does not.
    Number::from_f64(float).map_or_else(|| not_finite(float), |number| general(&number.to_string()))
}

/// The same with 32 bits, which is what keys get.
pub(super) fn shortest_32(float: f32) -> String {
    if float.is_finite() { general(&format!("{float:e}")) } else { not_finite(float.into()) }
}

fn not_finite(float: f64) -> String {
    let name = if float.is_nan() { ".nan" } else { ".inf" };
    if float < 0.0 { format!("-{name}") } else { name.to_owned() }
}

/// Shortest digits laid out as Go's `%g`: with an exponent below 1e-4 and from 1e6 on.
fn general(text: &str) -> String {
    let (sign, text) = text.strip_prefix('-').map_or(("", text), |text| ("-", text));
    let (mantissa, exponent) = text.split_once('e').unwrap_or((text, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let all = format!("{whole}{fraction}");
    let digits = all.trim_start_matches('0');
    let length = |text: &str| i32::try_from(text.len()).unwrap_or_default();
    // Of the first digit.
    let exponent = exponent.parse().unwrap_or(0) + length(whole) - 1 - (length(&all) - length(digits));
    let digits = digits.trim_end_matches('0');
    if digits.is_empty() {
        return format!("{sign}0");
    }
    let (first, rest) = digits.split_at(1);
    match exponent {
        ..-4 | 6.. => {
            let point = if rest.is_empty() { "" } else { "." };
            let exponent_sign = if exponent < 0 { '-' } else { '+' };
            format!("{sign}{first}{point}{rest}e{exponent_sign}{:02}", exponent.unsigned_abs())
        }
        -4..0 => format!("{sign}0.{}{digits}", "0".repeat(exponent.unsigned_abs() as usize - 1)),
        0..6 => {
            let whole = exponent.unsigned_abs() as usize + 1;
            if digits.len() <= whole {
                format!("{sign}{digits:0<whole$}")
            } else {
                format!("{sign}{}.{}", &digits[..whole], &digits[whole..])
            }
        }
    }
}

/// A float in YAML, on the way out. Before it is YAML it is Go's JSON, which may make an integer of it.
pub(super) fn printed(float: f64) -> String {
    if float.fract() == 0.0 && float.abs() < 1e20 {
        let digits = format!("{float}");
        if digits == "-0" {
            return "0".to_owned();
        }
        if digits.parse::<i64>().is_ok() || digits.parse::<u64>().is_ok() {
            return digits;
        }
    }
    shortest(float)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_print_as_go_prints_them() {
        for (float, text) in [
            (0.1, "0.1"),
            (1.0, "1"),
            (-0.0, "0"),
            (123_456.5, "123456.5"),
            (1_234_567.5, "1.2345675e+06"),
            (0.0001, "0.0001"),
            (-0.00001, "-1e-05"),
            (1.5e-7, "1.5e-07"),
            (1e6, "1000000"),
            (2_213_282_627_934_807.2, "2.2132826279348072e+15"),
            (100_000.25, "100000.25"),
            (0.012, "0.012"),
            (5e-324, "5e-324"),
            (1e20, "1e+20"),
            (1e21, "1e+21"),
            (1.5e300, "1.5e+300"),
            (9.3e18, "9300000000000000000"),
        ] {
            assert_eq!(printed(float), text);
        }
    }

    #[test]
    fn a_whole_float_is_an_integer_with_the_digits_that_go_gives_it() {
        assert_eq!(as_integer(-3.0), Some(-3));
        assert_eq!(as_integer(-0.0), Some(0));
        assert_eq!(as_integer(2f64.powi(62)), Some(4_611_686_018_427_388_000));
        assert_eq!(as_integer(1e19), None);
        assert_eq!(as_integer(0.5), None);
        assert_eq!(as_integer(f64::INFINITY), None);
    }

    #[test]
    fn keys_have_half_of_the_bits() {
        for (float, text) in
            [(0.1, "0.1"), (1.5, "1.5"), (123_456_789.0, "1.2345679e+08"), (1e10, "1e+10"), (0.0, "0")]
        {
            assert_eq!(shortest_32(float), text);
        }
        assert_eq!(shortest_32(f32::NEG_INFINITY), "-.inf");
        assert_eq!(shortest_32(f32::NAN), ".nan");
    }
}
