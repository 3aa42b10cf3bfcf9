//! Host names, and when one covers another.

use std::fmt;

/// A host name as users write it: whole (`a.b.svc.cluster.local`), or with a wildcard in front (`*.com`, `*`).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Host<'a>(pub &'a str);

impl<'a> Host<'a> {
    pub fn is_wildcard(self) -> bool {
        self.0.starts_with('*')
    }

    /// What stands after the star.
    pub fn suffix(self) -> Option<&'a str> {
        self.0.strip_prefix('*')
    }

    /// Whether some name is covered by both: equal names, or a wildcard over the other (in either direction).
    pub fn matches(self, other: Self) -> bool {
        match (self.suffix(), other.suffix()) {
            (None, None) => self.0 == other.0,
            (Some(suffix), None) => other.0.ends_with(suffix),
            (None, Some(suffix)) => self.0.ends_with(suffix),
            (Some(mine), Some(theirs)) => mine.ends_with(theirs) || theirs.ends_with(mine),
        }
    }

    /// Whether every name that `other` covers is covered by this one.
    pub fn covers(self, other: Self) -> bool {
        match (self.suffix(), other.suffix()) {
            (None, None) => self.0 == other.0,
            (Some(suffix), None) => other.0.ends_with(suffix),
            (None, Some(_)) => false,
            (Some(mine), Some(theirs)) => theirs.ends_with(mine),
        }
    }
}

impl fmt::Display for Host<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.0)
    }
}

impl fmt::Debug for Host<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.0)
    }
}
