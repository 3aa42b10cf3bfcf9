//! Versions of Istio as image tags have them: `1.31.0-distroless`, `release-1.3-latest-daily`.

use std::fmt;

/// A version with whatever follows it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version {
    pub major: u32,
    pub minor: u32,
    pub patch: u32,
    /// What stands behind the first dash.
    pub suffix: String,
}

impl Version {
    /// `1`, `1.2`, `v1.2.3-rc.1`; a word may follow without a dash, as in `1.4beta1`.
    pub fn read(text: &str) -> Option<Self> {
        let (numbers, rest) = split(text)?;
        let number = |at: usize| u32::try_from(numbers.get(at).copied().unwrap_or_default()).ok();
        let suffix = match rest.strip_prefix('-') {
            Some(rest) => rest,
            None if rest.is_empty() || rest.starts_with('+') => "",
            None if rest.starts_with(|c: char| c.is_ascii_alphabetic() || c == '~') => rest,
            None => return None,
        };
        let pre_release = suffix.split('+').next().unwrap_or_default();
        let empty = pre_release.is_empty() && (rest.starts_with('-') || rest == "+");
        if empty || !identifiers(pre_release) || !suffix.split('+').skip(1).all(identifiers) {
            return None;
        }
        let suffix = text.split_once('-').map_or("", |(_, suffix)| suffix).to_owned();
        Some(Self { major: number(0)?, minor: number(1)?, patch: number(2)?, suffix })
    }

    /// The version that an image tag stands for, without what follows it. Hashes and `latest` stand for none.
    pub fn of_tag(tag: &str) -> Option<Self> {
        let tag = tag.strip_prefix("release-").unwrap_or(tag);
        let (_, rest) = split(tag)?;
        let version = Self::read(tag)?;
        // Without a dash it may as well be a hash.
        let plain = rest.is_empty() || rest.starts_with(['-', '+']);
        plain.then(|| Self { suffix: String::new(), ..version })
    }
}

/// The numbers in front, and the rest.
fn split(text: &str) -> Option<(Vec<u64>, &str)> {
    let bare = text.strip_prefix('v').unwrap_or(text);
    let end = bare.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(bare.len());
    let (numbers, rest) = bare.split_at(end);
    let numbers = numbers.split('.').map(|number| number.parse().ok()).collect::<Option<Vec<u64>>>()?;
    Some((numbers, rest))
}

/// Words of letters, digits, `-` and `~`, parted by dots.
fn identifiers(text: &str) -> bool {
    let word = |word: &str| {
        !word.is_empty() && word.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '~'))
    };
    text.is_empty() || text.split('.').all(word)
}

impl fmt::Display for Version {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { major, minor, patch, suffix } = self;
        write!(out, "{major}.{minor}.{patch}")?;
        if suffix.is_empty() { Ok(()) } else { write!(out, "-{suffix}") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tag_stands_for_a_version_or_for_none() {
        for (tag, version) in [
            ("1.4.3-distroless", Some("1.4.3")),
            ("1.5-dev", Some("1.5.0")),
            ("release-1.3-20200108-10-15", Some("1.3.0")),
            ("1.31.0+build.7", Some("1.31.0")),
            ("latest", None),
            ("60023b76cf4745f3d56bf653ed751509be116351", None),
            ("1.2.", None),
            ("1.2-", None),
            ("99999999999.1", None),
        ] {
            assert_eq!(Version::of_tag(tag).map(|version| version.to_string()).as_deref(), version, "{tag}");
        }
    }
}
