//! Rules about a single text. Most are the object's own and are asked when it is rendered; here is what must hold
//! before, or what no rule of the object says.

use mizzen_check::schema::names;

pub(crate) type Verdict = Result<(), String>;

#[expect(clippy::unnecessary_wraps, reason = "it is one of several rules")]
pub(crate) fn any(_: &str) -> Verdict {
    Ok(())
}

pub(crate) fn not_empty(text: &str) -> Verdict {
    if text.is_empty() { Err("must not be empty".to_owned()) } else { Ok(()) }
}

/// The name of a namespace, a subset and the like.
pub fn label(text: &str) -> Verdict {
    names::dns_label(text)
}

/// The name of a Service, which is also one of DNS' older days.
pub(crate) fn service(text: &str) -> Verdict {
    names::dns_label(text)?;
    let letter = text.starts_with(|c: char| c.is_ascii_lowercase());
    if letter { Ok(()) } else { Err("must begin with a letter".to_owned()) }
}

pub(crate) fn label_key(text: &str) -> Verdict {
    names::qualified(text)
}

pub(crate) fn annotation_key(text: &str) -> Verdict {
    names::qualified(&text.to_lowercase())
}

pub(crate) fn label_value(text: &str) -> Verdict {
    names::label_value(text)
}

/// The key of a block: with the application's name in front it becomes the name of an object.
pub(crate) fn key(text: &str) -> Verdict {
    names::label_value(text)?;
    not_empty(text)
}

/// As long as the name of an application or of a stack may be: both are part of the name of whoever has a field, which is limited.
const LONGEST: usize = 50;

/// The name of an application or of a stack, in a file or on the command line.
pub fn name(text: &str) -> Verdict {
    key(text)?;
    if text.len() > LONGEST { Err(format!("must have at most {LONGEST} characters")) } else { Ok(()) }
}

/// A port as the key of a map.
pub(crate) fn port(text: &str) -> Verdict {
    match text.parse::<u16>() {
        Ok(1..) => Ok(()),
        _ => Err("must be a port, 1 to 65535".to_owned()),
    }
}

/// The name of an environment variable.
pub(crate) fn variable(text: &str) -> Verdict {
    let good = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'.' || byte == b'-';
    let starts_well = text.bytes().next().is_some_and(|first| !first.is_ascii_digit());
    if starts_well && text.bytes().all(good) {
        Ok(())
    } else {
        Err("must be letters, digits, '_', '.' and '-', and not begin with a digit".to_owned())
    }
}

/// How long, in Go's words: at least a millisecond, and no part of one.
pub(crate) fn duration(text: &str) -> Verdict {
    let wrong = || Err("must be a time such as 1h, 1m, 1s, 1ms or 1h30m".to_owned());
    let mut rest = text;
    let mut microseconds: f64 = 0.0;
    while !rest.is_empty() {
        let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
        let Ok(number) = rest[..end].parse::<f64>() else { return wrong() };
        rest = &rest[end..];
        let end = rest.find(|c: char| c.is_ascii_digit() || c == '.').unwrap_or(rest.len());
        microseconds += number
            * match &rest[..end] {
                "h" => 3_600_000_000.0,
                "m" => 60_000_000.0,
                "s" => 1_000_000.0,
                "ms" => 1_000.0,
                _ => return wrong(),
            };
        rest = &rest[end..];
    }
    if text.is_empty() {
        wrong()
    } else if microseconds < 1_000.0 {
        Err("must be at least 1ms".to_owned())
    } else if (microseconds / 1_000.0).fract() != 0.0 {
        Err("must be whole milliseconds".to_owned())
    } else {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_duration_is_whole_milliseconds_in_hours_minutes_and_seconds() {
        for good in ["1h", "1m", "1s", "1ms", "1h30m", "1.5s", "0.001s", "100ms"] {
            assert_eq!(duration(good), Ok(()), "{good}");
        }
        for bad in ["", "5", "s", "1d", "0s", "0.5ms", "1.5ms", "1us", "-1s", "1 s", "1s ", "1..s"] {
            assert!(duration(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_key_and_a_variable_are_words() {
        for (check, good, bad) in [
            (key as fn(&str) -> Verdict, "destination_rule", ""),
            (key, "a", "a b"),
            (variable, "PATH_1", "1A"),
            (variable, "_", ""),
            (port, "80", "0"),
            (port, "65535", "65536"),
        ] {
            assert_eq!(check(good), Ok(()), "{good}");
            assert!(check(bad).is_err(), "{bad}");
        }
    }
}
