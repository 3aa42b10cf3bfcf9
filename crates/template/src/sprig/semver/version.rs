//! A version, read as loosely as Masterminds' library does: `v1`, `1.2` and `1.02.3` are ones.

use std::{cmp::Ordering, fmt};

use crate::Failure;

#[derive(Clone, Debug, Default)]
pub(crate) struct Version {
    pub(crate) major: u64,
    pub(crate) minor: u64,
    pub(crate) patch: u64,
    pub(crate) pre: String,
    pub(crate) metadata: String,
    pub(crate) original: String,
    /// Not behind a pointer, as the following versions are in Go: it has fewer methods then.
    pub(super) by_value: bool,
}

impl Version {
    pub(crate) fn parse(text: &str) -> Result<Self, Failure> {
        if text.len() > 256 {
            return Err(Failure::new("version string is too long (max 256 bytes)"));
        }
        let invalid = || Failure::new(format!("invalid semantic version {text:?}"));
        let rest = text.strip_prefix('v').unwrap_or(text);
        let (rest, metadata) = optional(rest, '+');
        let (numbers, pre) = optional(rest, '-');
        let numbers: Vec<&str> = numbers.split('.').collect();
        if numbers.len() > 3 {
            return Err(invalid());
        }
        let number = |index: usize| match numbers.get(index) {
            None => Ok(0),
            Some(digits) if digits.is_empty() || !is_number(digits) => Err(invalid()),
            Some(digits) => digits.parse().map_err(|_| invalid()),
        };
        let parts_are_good = |part: Option<&str>, good: fn(&str) -> bool| {
            part.is_none_or(|part| part.split('.').all(|one| is_identifier(one) && good(one)))
        };
        let no_leading_zero = |one: &str| !(is_number(one) && one.len() > 1 && one.starts_with('0'));
        if !parts_are_good(pre, no_leading_zero) || !parts_are_good(metadata, |_| true) {
            return Err(invalid());
        }
        Ok(Self {
            major: number(0)?,
            minor: number(1)?,
            patch: number(2)?,
            pre: pre.unwrap_or_default().to_owned(),
            metadata: metadata.unwrap_or_default().to_owned(),
            original: text.to_owned(),
            by_value: false,
        })
    }

    /// The order of versions; metadata does not count.
    pub(crate) fn compare(&self, other: &Self) -> Ordering {
        let numbers = |version: &Self| (version.major, version.minor, version.patch);
        numbers(self).cmp(&numbers(other)).then_with(|| match (self.pre.is_empty(), other.pre.is_empty()) {
            (true, true) => Ordering::Equal,
            (true, false) => Ordering::Greater,
            (false, true) => Ordering::Less,
            (false, false) => compare_pre(&self.pre, &other.pre),
        })
    }

    pub(super) fn next(&self, major: u64, minor: u64, patch: u64) -> Self {
        let mut next = Self { major, minor, patch, by_value: true, ..Self::default() };
        let prefix = if self.original.starts_with('v') { "v" } else { "" };
        next.original = format!("{prefix}{next}");
        next
    }

    /// A pre-release becomes the release.
    pub(super) fn next_patch(&self) -> Self {
        let patch = if self.pre.is_empty() { self.patch.saturating_add(1) } else { self.patch };
        self.next(self.major, self.minor, patch)
    }
}

/// What stands behind a mark, if it is there.
fn optional(text: &str, mark: char) -> (&str, Option<&str>) {
    text.split_once(mark).map_or((text, None), |(before, after)| (before, Some(after)))
}

fn is_number(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit())
}

fn is_identifier(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
}

pub(super) fn compare_pre(one: &str, other: &str) -> Ordering {
    let (mut ones, mut others) = (one.split('.'), other.split('.'));
    loop {
        let order = match (ones.next(), others.next()) {
            (None, None) => return Ordering::Equal,
            (None, Some(_)) => Ordering::Less,
            (Some(_), None) => Ordering::Greater,
            (Some(one), Some(other)) if one == other => Ordering::Equal,
            (Some(one), Some(other)) => match (one.parse::<u64>(), other.parse::<u64>()) {
                (Ok(one), Ok(other)) => one.cmp(&other),
                // Numbers come before words.
                (Ok(_), Err(_)) => Ordering::Less,
                (Err(_), Ok(_)) => Ordering::Greater,
                (Err(_), Err(_)) => one.cmp(other),
            },
        };
        if order.is_ne() {
            return order;
        }
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.major, self.minor, self.patch)?;
        if !self.pre.is_empty() {
            write!(f, "-{}", self.pre)?;
        }
        if !self.metadata.is_empty() {
            write!(f, "+{}", self.metadata)?;
        }
        Ok(())
    }
}
