//! Number literals, as Go reads them: `10`, `0x1F`, `0b1`, `017`, `1_000`, `1.5e3`, `0x1p-2`.

use super::ExpressionKind as Is;

pub(super) fn read(text: &str) -> Result<Is, String> {
    if text.ends_with('i') && !text.contains(['x', 'X']) {
        return Err("complex numbers are not supported".into());
    }
    let is_hexadecimal = text.starts_with("0x") || text.starts_with("0X");
    let looks_like_float = text.contains(['p', 'P']) || (!is_hexadecimal && text.contains(['.', 'e', 'E']));
    if let Some(whole) = whole(text) {
        return Ok(i64::try_from(whole).map_or(Is::Overflow, Is::Int));
    }
    match float(text) {
        Some(float) if looks_like_float => Ok(Is::Float(float)),
        Some(_) if text.contains(['.', 'e', 'E']) => Err(format!("illegal number syntax: {text:?}")),
        Some(_) => Err(format!("integer overflow: {text:?}")),
        None => Err(format!("illegal number syntax: {text:?}")),
    }
}

/// A whole number that fits in 64 bits, with or without a sign.
fn whole(text: &str) -> Option<i128> {
    let (sign, digits) = match text.strip_prefix('-') {
        Some(rest) => (-1, rest),
        None => (1, text.strip_prefix('+').unwrap_or(text)),
    };
    let signed = digits.len() < text.len();
    let (radix, body) = match digits.get(..2).map(str::to_ascii_lowercase).as_deref() {
        Some("0x") => (16, &digits[2..]),
        Some("0o") => (8, &digits[2..]),
        Some("0b") => (2, &digits[2..]),
        _ if digits.len() > 1 && digits.starts_with('0') => (8, &digits[1..]),
        _ => (10, digits),
    };
    let body = without_underscores(body, body.len() < digits.len())?;
    if body.is_empty() || !body.chars().all(|c| c.is_digit(radix)) {
        return None;
    }
    let value = sign * i128::from(u64::from_str_radix(&body, radix).ok()?);
    let fits = if signed { i64::try_from(value).is_ok() } else { true };
    fits.then_some(value)
}

/// Underscores stand between digits, or behind the prefix.
fn without_underscores(body: &str, prefixed: bool) -> Option<String> {
    let misplaced = body.ends_with('_') || body.contains("__") || (body.starts_with('_') && !prefixed);
    (!misplaced).then(|| body.replace('_', ""))
}

fn float(text: &str) -> Option<f64> {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let value = match unsigned.get(..2).map(str::to_ascii_lowercase).as_deref() {
        Some("0x") => hexadecimal(&unsigned[2..])?,
        _ => decimal(unsigned)?,
    };
    let value = if text.starts_with('-') { -value } else { value };
    value.is_finite().then_some(value)
}

fn decimal(text: &str) -> Option<f64> {
    let digit = |c: char| c.is_ascii_digit();
    let (mantissa, _) = text.split_once(['e', 'E']).unwrap_or((text, ""));
    if !mantissa.contains(digit) || !text.split('_').skip(1).all(|part| part.starts_with(digit)) {
        return None;
    }
    if !text.rsplit('_').skip(1).all(|part| part.ends_with(digit)) {
        return None;
    }
    text.replace('_', "").parse().ok()
}

/// `1.8p3`: digits in sixteens, an exponent of two.
fn hexadecimal(text: &str) -> Option<f64> {
    let (mantissa, exponent) = text.split_once(['p', 'P'])?;
    let exponent: i32 = exponent.parse().ok()?;
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = without_underscores(&format!("{whole}{fraction}"), true)?;
    if digits.is_empty() {
        return None;
    }
    // More than a float holds is refused rather than rounded: nobody writes it.
    let mantissa = u64::from_str_radix(&digits, 16).ok().filter(|value| *value < 1 << 53)?;
    let shift = i32::try_from(fraction.replace('_', "").len() * 4).ok()?;
    #[expect(clippy::cast_precision_loss, reason = "below 53 bits")]
    Some(mantissa as f64 * 2f64.powi(exponent.checked_sub(shift)?))
}
