//! Numbers as Go writes them: into JSON on the way in (where `1.0` becomes `1`), and into YAML on the way out.

use std::fmt::{LowerExp, Write};

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

/// `strconv.FormatFloat(float, 'g', -1, …)`: the shortest digits; an exponent below 1e-4 and from 1e6 on (sic).
pub(super) fn shortest<F: LowerExp>(float: F) -> String {
    let text = format!("{float:e}");
    let Some((mantissa, exponent)) = text.split_once('e') else {
        return match text.as_str() {
            "inf" => ".inf".to_owned(),
            "-inf" => "-.inf".to_owned(),
            _ => ".nan".to_owned(),
        };
    };
    let exponent: i32 = exponent.parse().unwrap_or_default();
    let (sign, mantissa) = mantissa.strip_prefix('-').map_or(("", mantissa), |mantissa| ("-", mantissa));
    if !(-4..6).contains(&exponent) {
        let (exponent_sign, magnitude) = if exponent < 0 { ('-', -exponent) } else { ('+', exponent) };
        return format!("{sign}{mantissa}e{exponent_sign}{magnitude:02}");
    }
    let digits: String = mantissa.chars().filter(|digit| *digit != '.').collect();
    let mut out = sign.to_owned();
    match usize::try_from(exponent) {
        Ok(exponent) if exponent + 1 >= digits.len() => {
            let _ = write!(out, "{digits:0<width$}", width = exponent + 1);
        }
        Ok(exponent) => {
            let _ = write!(out, "{}.{}", &digits[..=exponent], &digits[exponent + 1..]);
        }
        Err(_) => {
            let zeros = usize::try_from(-exponent - 1).unwrap_or_default();
            let _ = write!(out, "0.{}{digits}", "0".repeat(zeros));
        }
    }
    out
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
}
