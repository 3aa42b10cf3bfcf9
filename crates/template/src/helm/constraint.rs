//! Version ranges as charts write them: `>= 1.23.0-0`, `^1.2`, `~1.2.3 || 2.x`, `1.0 - 2.0`.

use super::version::Version;

/// Any of the groups, all of a group's bounds.
#[derive(Clone, Debug)]
pub struct Constraint(Vec<Vec<Bound>>);

#[derive(Clone, Debug)]
struct Bound {
    operator: Operator,
    version: Version,
    /// How many of the three numbers are written: `1.x` has one.
    given: u8,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operator {
    Equal,
    NotEqual,
    Greater,
    Less,
    AtLeast,
    AtMost,
    Tilde,
    Caret,
}

/// Longer ones first.
const OPERATORS: &[(&str, Operator)] = &[
    ("!=", Operator::NotEqual),
    (">=", Operator::AtLeast),
    ("=>", Operator::AtLeast),
    ("<=", Operator::AtMost),
    ("=<", Operator::AtMost),
    ("~>", Operator::Tilde),
    ("=", Operator::Equal),
    (">", Operator::Greater),
    ("<", Operator::Less),
    ("~", Operator::Tilde),
    ("^", Operator::Caret),
];

/// As much as a range may have.
const LENGTH: usize = 512;
const GROUPS: usize = 32;

impl Constraint {
    pub fn parse(text: &str) -> Option<Self> {
        if text.len() > LENGTH {
            return None;
        }
        let groups: Vec<_> = text.split("||").map(group).collect::<Option<_>>()?;
        (groups.len() <= GROUPS).then_some(Self(groups))
    }

    /// A version before a release fits only where the range itself names one.
    pub fn allows(&self, version: &Version) -> bool {
        self.0.iter().any(|group| {
            let early = group.iter().any(|bound| !bound.version.pre.is_empty());
            (version.pre.is_empty() || early) && group.iter().all(|bound| bound.allows(version))
        })
    }
}

/// Whether the version lies in the range; not, where either cannot be read.
pub(super) fn fits(range: &str, version: &str) -> bool {
    match (Constraint::parse(range), Version::parse(version)) {
        (Some(range), Some(version)) => range.allows(&version),
        _ => false,
    }
}

fn group(text: &str) -> Option<Vec<Bound>> {
    let mut bounds = Vec::new();
    let mut rest = text.trim();
    while !rest.is_empty() {
        let (bound, after) = next(rest)?;
        // `a - b`: blanks on both sides, or the dash belongs to the version.
        let between = after.trim_start().strip_prefix('-').filter(|end| end.starts_with(char::is_whitespace));
        if let Some(end) = between.filter(|_| after.starts_with(char::is_whitespace)) {
            let (end, after) = next(end.trim_start())?;
            if bound.operator != Operator::Equal || end.operator != Operator::Equal {
                return None;
            }
            bounds.push(Bound { operator: Operator::AtLeast, ..bound });
            bounds.push(Bound { operator: Operator::AtMost, ..end });
            rest = separated(after)?;
        } else {
            bounds.push(bound);
            rest = separated(after)?;
        }
    }
    (!bounds.is_empty()).then_some(bounds)
}

/// Bounds stand apart by blanks or one comma, behind which there is another one.
fn separated(rest: &str) -> Option<&str> {
    let trimmed = rest.trim_start();
    match trimmed.strip_prefix(',') {
        Some(more) => Some(more.trim_start()).filter(|more| !more.is_empty()),
        None if trimmed.is_empty() || trimmed.len() < rest.len() => Some(trimmed),
        None => None,
    }
}

fn next(text: &str) -> Option<(Bound, &str)> {
    let found = OPERATORS.iter().find_map(|(sign, operator)| Some((*operator, text.strip_prefix(sign)?)));
    let (operator, rest) = found.unwrap_or((Operator::Equal, text));
    let rest = rest.trim_start();
    let part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '*' | '-' | '+');
    let end = rest.find(|c| !part(c)).unwrap_or(rest.len());
    let (version, given) = partial(&rest[..end])?;
    Some((Bound { operator, version, given }, &rest[end..]))
}

/// `1.2.x-rc.1`: what is not given is zero.
fn partial(text: &str) -> Option<(Version, u8)> {
    let text = text.strip_prefix('v').unwrap_or(text);
    let numbers = text.find(['-', '+']).map_or(text, |end| &text[..end]);
    let suffix = &text[numbers.len()..];
    let parts: Vec<&str> = numbers.split('.').collect();
    let open = |part: &&str| matches!(*part, "x" | "X" | "*");
    let known = parts.iter().position(open).unwrap_or(parts.len());
    if parts.len() > 3 || parts[known..].iter().any(|part| part.is_empty()) {
        return None;
    }
    if known == 3 {
        return Some((Version::parse(text)?, 3));
    }
    let suffix = suffix.find('+').map_or(suffix, |build| &suffix[..build]);
    let filled: Vec<&str> = parts[..known].iter().copied().chain(["0"; 3]).take(3).collect();
    Some((Version::parse(&format!("{}{suffix}", filled.join(".")))?, u8::try_from(known).ok()?))
}

impl Bound {
    fn allows(&self, version: &Version) -> bool {
        let bound = &self.version;
        let same_major = version.major == bound.major;
        let same_minor = same_major && version.minor == bound.minor;
        let minor = |version: &Version| (version.major, version.minor);
        match (self.operator, self.given) {
            (Operator::Less, _) => version < bound,
            (Operator::AtLeast, _) => version >= bound,
            (Operator::Greater, 1) => version.major > bound.major,
            (Operator::Greater, 2) => minor(version) > minor(bound),
            (Operator::Greater, _) => version > bound,
            (Operator::AtMost, 1) => version.major <= bound.major,
            (Operator::AtMost, 0 | 2) => minor(version) <= minor(bound),
            (Operator::AtMost, _) => version <= bound,
            (Operator::NotEqual, 1) => !same_major,
            (Operator::NotEqual, 2) => !same_minor || version.pre != bound.pre,
            (Operator::NotEqual, _) => version != bound,
            (Operator::Equal, 3) => version == bound,
            (Operator::Equal | Operator::Tilde, given) => {
                let anything = !matches!(given, 1 | 2) && (bound.major, bound.minor, bound.patch) == (0, 0, 0);
                version >= bound && (anything || if given == 1 { same_major } else { same_minor })
            }
            (Operator::Caret, given) => {
                let kept = if bound.major > 0 || given == 1 {
                    same_major
                } else if bound.minor > 0 || given == 2 {
                    same_minor
                } else {
                    same_minor && version.patch == bound.patch
                };
                version >= bound && kept
            }
        }
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
            assert!(Constraint::parse(range).is_none(), "{range:?}");
        }
    }
}
