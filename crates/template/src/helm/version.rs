//! Versions and ranges of versions as charts have them, for whoever chooses among charts.

use std::{cmp::Ordering, fmt};

use crate::sprig::semver;

/// `1.2.3-rc.1`, also shortened (`1.2`) and with a `v` in front. What was built of a version does not order it.
#[derive(Clone, Debug)]
pub struct Version(semver::Version);

impl Version {
    pub fn parse(text: &str) -> Option<Self> {
        semver::Version::parse(text).ok().map(Self)
    }

    pub fn is_release(&self) -> bool {
        self.0.pre.is_empty()
    }

    pub(super) fn numbers(&self) -> (u64, u64, u64) {
        (self.0.major, self.0.minor, self.0.patch)
    }
}

impl Ord for Version {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.compare(&other.0)
    }
}

impl PartialOrd for Version {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Version {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Version {}

/// As it was written.
impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.original)
    }
}

/// `>= 1.23.0-0`, `^1.2`, `~1.2.3 || 2.x`, `1.0 - 2.0`
#[derive(Clone, Debug)]
pub struct Range(semver::Constraint);

impl Range {
    pub fn parse(text: &str) -> Option<Self> {
        semver::Constraint::parse(text).ok().map(Self)
    }

    /// A version before a release is allowed only where the range itself names one.
    pub fn allows(&self, version: &Version) -> bool {
        self.0.allows(&version.0)
    }
}

/// Whether the version lies in the range; not, where either cannot be read.
pub(super) fn fits(range: &str, version: &str) -> bool {
    match (Range::parse(range), Version::parse(version)) {
        (Some(range), Some(version)) => range.allows(&version),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_holds_what_helm_says_that_it_holds() {
        for (range, inside, outside) in [
            ("1.2.3", &["1.2.3", "v1.2.3", "1.2.3+b"][..], &["1.2.4", "1.2.3-a"][..]),
            ("1.2", &["1.2.0", "1.2.9"], &["1.3.0", "1.1.9"]),
            ("1", &["1.0.0", "1.9.9"], &["2.0.0"]),
            ("*", &["0.0.1", "9.9.9"], &["1.0.0-a"]),
            (">= 1.23.0-0", &["1.23.0-0", "1.32.0", "1.24.0-gke.1"], &["1.22.9"]),
            (">1", &["2.0.0"], &["1.0.1", "1.9.9"]),
            (">1.2", &["1.3.0", "2.0.0"], &["1.2.9"]),
            ("<=1.2", &["1.2.9", "0.9.0"], &["1.3.0"]),
            ("<=1", &["1.9.9"], &["2.0.0"]),
            ("!=1.2", &["1.3.0"], &["1.2.7"]),
            ("~1.2.3", &["1.2.3", "1.2.9"], &["1.3.0", "1.2.2"]),
            ("~1", &["1.9.0"], &["2.0.0"]),
            ("^1.2.3", &["1.2.3", "1.9.0"], &["2.0.0", "1.2.2"]),
            ("^0.2.3", &["0.2.9"], &["0.3.0"]),
            ("^0.0.3", &["0.0.3"], &["0.0.4"]),
            ("^0.0", &["0.0.9"], &["0.1.0"]),
            (">=1.0, <2.0", &["1.5.0"], &["2.0.0"]),
            (">=1.0 <2.0", &["1.5.0"], &["2.0.0"]),
            ("1.0 - 2.0", &["1.0.0", "2.0.5"], &["2.1.0", "0.9.0"]),
            ("<1.0 || >=3.x", &["0.5.0", "3.0.0"], &["2.0.0"]),
        ] {
            for version in inside {
                assert!(fits(range, version), "{range} holds {version}");
            }
            for version in outside {
                assert!(!fits(range, version), "{range} does not hold {version}");
            }
        }
    }

    #[test]
    fn what_is_no_range_holds_nothing() {
        for range in ["", "||", ">=", "1.2.3.4", "latest", "1.0,", ">=1<2", "1..2"] {
            assert!(Range::parse(range).is_none(), "{range:?}");
        }
    }

    #[test]
    fn versions_are_ordered_as_semver_orders_them() {
        let ordered = [
            "0.9",
            "v1",
            "1.0.1-alpha",
            "1.0.1-alpha.1",
            "1.0.1-alpha.b",
            "1.0.1-rc.2",
            "1.0.1-rc.10",
            "1.0.1",
        ];
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
