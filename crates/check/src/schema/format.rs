//! `format`, as far as an API server looks at it: it drops a format that it does not know, or that is none of the type.

use std::sync::LazyLock;

use regex::Regex;

use super::node::Kind;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
    Int32,
    Int64,
    Float,
    Double,
    Byte,
    DateTime,
}

impl Format {
    pub(super) fn named(name: &str, kind: Option<Kind>) -> Option<Self> {
        match (name, kind?) {
            ("int32", Kind::Integer) => Some(Self::Int32),
            ("int64", Kind::Integer) => Some(Self::Int64),
            ("float", Kind::Number) => Some(Self::Float),
            ("double", Kind::Number) => Some(Self::Double),
            ("byte", Kind::String) => Some(Self::Byte),
            ("date-time", Kind::String) => Some(Self::DateTime),
            _ => None,
        }
    }

    /// What a string of this format looks like, if that one does not.
    pub(super) fn refuses(self, text: &str) -> Option<&'static str> {
        let (good, wanted) = match self {
            Self::Byte => (is_base64(text), "base64 with its padding"),
            Self::DateTime => (is_date_time(text), "a time such as 2026-01-31T12:00:00Z"),
            Self::Int32 | Self::Int64 | Self::Float | Self::Double => (true, ""),
        };
        (!good).then_some(wanted)
    }

    /// Whether a number fits into this format.
    pub(super) fn holds(self, number: f64) -> bool {
        match self {
            Self::Int32 => (f64::from(i32::MIN)..=f64::from(i32::MAX)).contains(&number),
            Self::Float => number.abs() <= f64::from(f32::MAX),
            // Whatever JSON could be read into.
            Self::Int64 | Self::Double | Self::Byte | Self::DateTime => true,
        }
    }
}

/// The standard alphabet, and not nothing.
fn is_base64(text: &str) -> bool {
    let bytes = text.as_bytes();
    let body = bytes.strip_suffix(b"==").or_else(|| bytes.strip_suffix(b"=")).unwrap_or(bytes);
    !body.is_empty()
        && bytes.len().is_multiple_of(4)
        && body.iter().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/'))
}

/// A date, `T`, a time and a zone; what follows a second `T` is not looked at.
fn is_date_time(text: &str) -> bool {
    static TIME: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new("^(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](?:.[0-9]+)?(?:z|[+-][0-9]{2}:[0-9]{2})$").ok()
    });
    let lower = text.to_lowercase();
    let mut parts = lower.split('t');
    let (Some(date), Some(time)) = (parts.next(), parts.next()) else { return false };
    is_date(date) && TIME.as_ref().is_some_and(|pattern| pattern.is_match(time))
}

fn is_date(text: &str) -> bool {
    let digits = |part: Option<&str>, length: usize| {
        let part =
            part.filter(|part| part.len() == length && part.bytes().all(|byte| byte.is_ascii_digit()))?;
        part.parse::<u32>().ok()
    };
    let mut parts = text.split('-');
    let read = (digits(parts.next(), 4), digits(parts.next(), 2), digits(parts.next(), 2), parts.next());
    let (Some(year), Some(month), Some(day), None) = read else { return false };
    let leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    let days = match month {
        1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
        4 | 6 | 9 | 11 => 30,
        2 => 28 + u32::from(leap),
        _ => 0,
    };
    (1..=days).contains(&day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_as_the_server_reads_them() {
        let good = ["2026-01-31T12:00:00Z", "2024-02-29t23:59:59.123z", "2026-01-31T12:00:00+02:00"];
        let bad = [
            "",
            "2026-01-31",
            "2026-02-29T00:00:00Z",
            "2026-01-31T24:00:00Z",
            "2026-01-31T12:00:00",
            "yesterday",
        ];
        for text in good {
            assert_eq!(Format::DateTime.refuses(text), None, "{text}");
        }
        for text in bad {
            assert!(Format::DateTime.refuses(text).is_some(), "{text}");
        }
    }

    #[test]
    fn base64_is_padded_and_not_empty() {
        for text in ["YQ==", "YWI=", "YWJj", "+/+/"] {
            assert_eq!(Format::Byte.refuses(text), None, "{text}");
        }
        for text in ["", "YQ", "YQ=", "=", "====", "YQ==YQ==", "-_-_", "YWJj\n"] {
            assert!(Format::Byte.refuses(text).is_some(), "{text}");
        }
    }
}
