//! A value as text, where Sprig and Helm want one: as Go's `%v` prints it.

use std::rc::Rc;

use super::budget::pay_for;
pub(crate) use crate::go::quote as quoted;
use crate::{Failure, Host, Value, go};

/// A string as it is, all else by `%v`.
pub(crate) fn text_of(value: &Value, host: &mut dyn Host) -> Result<Rc<str>, Failure> {
    match value {
        Value::Text(text) => Ok(Rc::clone(text)),
        Value::List(_) | Value::Map(_) => {
            pay_for(value, host)?;
            Ok(go::print_value(value, host)?.into())
        }
        Value::Object(bytes) if bytes.type_name() == "[]uint8" => match bytes.field("String", &[])? {
            Some(Value::Text(text)) => Ok(text),
            _ => Ok(go::print_value(value, host)?.into()),
        },
        other => Ok(go::print_value(other, host)?.into()),
    }
}

/// A float by `%v`, which needs no host.
pub(crate) fn float_text(float: f64) -> String {
    if float.is_nan() {
        return "NaN".into();
    }
    if float.is_infinite() {
        return if float > 0.0 { "+Inf".into() } else { "-Inf".into() };
    }
    let scientific = format!("{float:e}");
    let Some((digits, exponent)) = scientific.split_once('e') else { return scientific };
    let exponent: i32 = exponent.parse().unwrap_or_default();
    if (-4..6).contains(&exponent) {
        return format!("{float}");
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{digits}e{sign}{:02}", exponent.abs())
}
