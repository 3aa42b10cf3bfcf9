//! Versions as charts have them: `1.2.3-rc.1+build`, also shortened (`1.2`) and with a `v` in front. What was built of a
//! version does not order it.

use std::cmp::Ordering;

#[derive(Clone, Debug)]
pub struct Version {
    pub major: u64,
    pub minor: u64,
    pub patch: u64,
    pub pre: String,
    pub build: String,
}

impl Version {
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.strip_prefix('v').unwrap_or(text);
        if text.len() > 256 {
            return None;
        }
        let (text, build) = text.split_once('+').map_or((text, None), |(text, build)| (text, Some(build)));
        let (text, pre) = text.split_once('-').map_or((text, None), |(text, pre)| (text, Some(pre)));
        let mut numbers = text.split('.').map(number);
        let version = Self {
            major: numbers.next()??,
            minor: numbers.next().unwrap_or(Some(0))?,
            patch: numbers.next().unwrap_or(Some(0))?,
            pre: pre.unwrap_or_default().to_owned(),
            build: build.unwrap_or_default().to_owned(),
        };
        let pre_is_right = pre.is_none_or(|pre| pre.split('.').all(|part| identifier(part) && !padded(part)));
        let build_is_right = build.is_none_or(|build| build.split('.').all(identifier));
        (numbers.next().is_none() && pre_is_right && build_is_right).then_some(version)
    }
}

fn number(text: &str) -> Option<u64> {
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if digits { text.parse().ok() } else { None }
}

fn identifier(part: &str) -> bool {
    !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
}

fn padded(part: &str) -> bool {
    part.len() > 1 && part.starts_with('0') && part.bytes().all(|byte| byte.is_ascii_digit())
}

impl Ord for Version {
    fn cmp(&self, other: &Self) -> Ordering {
        let key = |version: &Self| (version.major, version.minor, version.patch);
        key(self).cmp(&key(other)).then_with(|| match (self.pre.as_str(), other.pre.as_str()) {
            (one, other) if one == other => Ordering::Equal,
            ("", _) => Ordering::Greater,
            (_, "") => Ordering::Less,
            (one, other) => one.split('.').map(Part::of).cmp(other.split('.').map(Part::of)),
        })
    }
}

impl PartialEq for Version {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Version {}

impl PartialOrd for Version {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Numbers come before words.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Part<'v> {
    Number(u64),
    Word(&'v str),
}

impl<'v> Part<'v> {
    fn of(text: &'v str) -> Self {
        number(text).map_or(Self::Word(text), Self::Number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_ordered_as_semver_orders_them() {
        let ordered = ["0.9", "v1", "1.0.1-alpha", "1.0.1-alpha.1", "1.0.1-alpha.b", "1.0.1-rc.2", "1.0.1-rc.10", "1.0.1"];
        for pair in ordered.windows(2) {
            assert!(Version::parse(pair[0]).unwrap() < Version::parse(pair[1]).unwrap(), "{pair:?}");
        }
    }

    #[test]
    fn what_is_no_version_is_refused() {
        for text in ["", "x", "1.", "1.2.3.4", "1.0.0-", "1.0.0-01", "1.0.0+", "-1.0.0", "1.0.0-ü"] {
            assert_eq!(Version::parse(text), None, "{text:?}");
        }
    }
}
