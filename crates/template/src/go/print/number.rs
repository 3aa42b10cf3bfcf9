//! Numbers by verb: bases, exponents, precision.

use std::fmt::Write as _;

use super::{
    padding::Flags,
    quoted::{is_printable, quoted},
};

/// None for a verb that integers do not have.
pub(super) fn integer(value: i64, verb: char, flags: &Flags) -> Option<String> {
    let (radix, prefix) = match verb {
        'v' | 'd' => (10, ""),
        'b' => (2, "0b"),
        'o' => (8, "0"),
        'O' => (8, ""),
        'x' => (16, "0x"),
        'X' => (16, "0X"),
        'c' => return Some(flags.pad(character(value).to_string())),
        'q' => {
            let text = character(value).to_string();
            return Some(flags.pad(quoted(&text, '\'', flags.plus)));
        }
        'U' => return Some(unicode(value, flags)),
        _ => return None,
    };
    if value == 0 && flags.precision == Some(0) {
        return Some(flags.pad_with_spaces(String::new()));
    }
    let size = value.unsigned_abs();
    let mut digits = match radix {
        2 => format!("{size:b}"),
        8 => format!("{size:o}"),
        16 if verb == 'X' => format!("{size:X}"),
        16 => format!("{size:x}"),
        _ => size.to_string(),
    };
    let signed = value < 0 || flags.plus || flags.space;
    let least = match flags.precision {
        Some(precision) => precision,
        None if flags.zero && !flags.minus => {
            flags.width.unwrap_or_default().saturating_sub(usize::from(signed))
        }
        None => 0,
    };
    if digits.len() < least {
        digits = "0".repeat(least - digits.len()) + &digits;
    }
    let mut out = String::with_capacity(digits.len() + 4);
    if signed {
        out.push(if value < 0 {
            '-'
        } else if flags.plus {
            '+'
        } else {
            ' '
        });
    }
    if verb == 'O' {
        out.push_str("0o");
    }
    if flags.sharp && !(radix == 8 && digits.starts_with('0')) {
        out.push_str(prefix);
    }
    out.push_str(&digits);
    Some(flags.pad_with_spaces(out))
}

/// What is no character is the replacement character.
fn character(value: i64) -> char {
    u32::try_from(value).ok().and_then(char::from_u32).unwrap_or('\u{FFFD}')
}

/// `U+0041`, and with `#` also `'A'`.
fn unicode(value: i64, flags: &Flags) -> String {
    let least = flags.precision.unwrap_or_default().max(4);
    #[expect(clippy::cast_sign_loss, reason = "as Go does")]
    let mut out = format!("U+{:0least$X}", value as u64);
    let c = u32::try_from(value).ok().and_then(char::from_u32);
    if let Some(c) = c.filter(|c| flags.sharp && is_printable(*c)) {
        let _ = write!(out, " '{c}'");
    }
    flags.pad_with_spaces(out)
}

/// None for a verb that floats do not have.
pub(super) fn float(value: f64, verb: char, flags: &Flags) -> Option<String> {
    let precision = flags.precision;
    let text = match verb {
        'v' | 'g' | 'G' => general(value, precision),
        'e' | 'E' => exponent(value, precision.unwrap_or(6)),
        'f' | 'F' => format!("{value:.*}", precision.unwrap_or(6)),
        'x' | 'X' => hexadecimal(value, precision),
        'b' => binary(value),
        _ => return None,
    };
    let text = match value {
        _ if value.is_nan() => "NaN".into(),
        _ if value.is_infinite() => if value > 0.0 { "Inf" } else { "-Inf" }.into(),
        _ if matches!(verb, 'E' | 'G' | 'X') => text.to_uppercase(),
        _ => text,
    };
    let (negative, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, &*text),
    };
    let sign = match () {
        () if negative => "-",
        () if flags.plus => "+",
        () if flags.space => " ",
        // Infinity has its sign always.
        () if value.is_infinite() => "+",
        () => "",
    };
    if !value.is_finite() {
        return Some(flags.pad_with_spaces(format!("{sign}{digits}")));
    }
    let digits = if flags.sharp && verb != 'b' { with_point(digits, verb, precision) } else { digits.into() };
    // Zeros stand behind the sign.
    if flags.zero && !flags.minus {
        let width = flags.width.unwrap_or_default().saturating_sub(sign.len());
        let zeros = "0".repeat(width.saturating_sub(digits.len()));
        return Some(format!("{sign}{zeros}{digits}"));
    }
    Some(flags.pad(format!("{sign}{digits}")))
}

/// The shortest, or so many digits; with an exponent if that is large or small.
fn general(value: f64, precision: Option<usize>) -> String {
    let digits = precision.map(|precision| precision.max(1));
    let scientific = match digits {
        None => format!("{value:e}"),
        Some(digits) => format!("{value:.*e}", digits - 1),
    };
    let Some((mantissa, power)) = scientific.split_once('e') else {
        return scientific;
    };
    let Ok(power) = power.parse::<i64>() else {
        return scientific;
    };
    let mantissa =
        if mantissa.contains('.') { mantissa.trim_end_matches('0').trim_end_matches('.') } else { mantissa };
    let count = mantissa.bytes().filter(u8::is_ascii_digit).count();
    let limit = match digits {
        // Six for the shortest, however many digits it has: 1234567.0 is 1.234567e+06.
        None => 6,
        Some(digits) if digits > count && i64::try_from(count).unwrap_or(0) > power => {
            i64::try_from(count).unwrap_or(i64::MAX)
        }
        Some(digits) => i64::try_from(digits).unwrap_or(i64::MAX),
    };
    if power < -4 || power >= limit {
        return with_exponent(mantissa, power);
    }
    let decimals = usize::try_from(i64::try_from(count).unwrap_or(0) - 1 - power).unwrap_or(0);
    format!("{value:.decimals$}")
}

/// At least two digits, always with a sign.
fn with_exponent(mantissa: &str, power: i64) -> String {
    let sign = if power < 0 { '-' } else { '+' };
    format!("{mantissa}e{sign}{:02}", power.unsigned_abs())
}

fn exponent(value: f64, precision: usize) -> String {
    let text = format!("{value:.precision$e}");
    match text.split_once('e') {
        Some((mantissa, power)) => match power.parse() {
            Ok(power) => with_exponent(mantissa, power),
            Err(_) => text,
        },
        None => text,
    }
}

/// `4503599627370496p-52`: the mantissa as it is stored.
fn binary(value: f64) -> String {
    let (mantissa, power) = parts(value);
    let sign = if value.is_sign_negative() { "-" } else { "" };
    format!("{sign}{mantissa}p{power:+}")
}

/// The mantissa as a whole number, and the power of two to multiply it with.
fn parts(value: f64) -> (u64, i64) {
    let bits = value.to_bits();
    let power = i64::try_from((bits >> 52) & 0x7ff).unwrap_or_default();
    let fraction = bits & ((1 << 52) - 1);
    if power == 0 { (fraction, -1074) } else { (fraction | 1 << 52, power - 1075) }
}

/// `0x1.8p+01`
fn hexadecimal(value: f64, precision: Option<usize>) -> String {
    let (mut mantissa, mut power) = parts(value);
    let sign = if value.is_sign_negative() { "-" } else { "" };
    if mantissa == 0 {
        power = 0;
    } else {
        // A leading one, and sixty fractional bits behind it.
        let shift = mantissa.leading_zeros() - 3;
        mantissa <<= shift;
        power += 60 - i64::from(shift);
    }
    if let Some(precision) = precision.filter(|precision| *precision < 15) {
        let drop = 60 - u32::try_from(precision).unwrap_or_default() * 4;
        let half = 1u64 << (drop - 1);
        let rest = mantissa & ((1 << drop) - 1);
        mantissa >>= drop;
        if rest > half || (rest == half && mantissa & 1 == 1) {
            mantissa += 1;
        }
        mantissa <<= drop;
        if mantissa >> 61 != 0 {
            mantissa >>= 1;
            power += 1;
        }
    }
    let digits = format!("{:015x}", mantissa & ((1 << 60) - 1));
    let digits = match precision {
        None => digits.trim_end_matches('0').to_owned(),
        Some(precision) => format!("{digits:0<precision$}")[..precision].to_owned(),
    };
    let point = if digits.is_empty() { "" } else { "." };
    let power_sign = if power < 0 { '-' } else { '+' };
    format!("{sign}0x{}{point}{digits}p{power_sign}{:02}", mantissa >> 60, power.unsigned_abs())
}

/// `#` asks for a point and for the zeros that `%g` leaves out.
fn with_point(digits: &str, verb: char, precision: Option<usize>) -> String {
    let mark = digits
        .find(|c: char| matches!(c, 'p' | 'P') || (!matches!(verb, 'x' | 'X') && matches!(c, 'e' | 'E')));
    let (mantissa, tail) = digits.split_at(mark.unwrap_or(digits.len()));
    let mut wanted = match verb {
        'v' | 'g' | 'G' | 'x' => precision.unwrap_or(6),
        _ => 0,
    };
    let mut out = mantissa.to_owned();
    let significant = mantissa.trim_start_matches(['0', '.']).bytes().filter(|byte| *byte != b'.').count();
    wanted = wanted.saturating_sub(significant);
    if !out.contains('.') {
        if out == "0" {
            wanted = wanted.saturating_sub(1);
        }
        out.push('.');
    }
    out.push_str(&"0".repeat(wanted));
    out + tail
}
