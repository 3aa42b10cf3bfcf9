//! What versions are allowed: `>=1.2, <2 || ~3.1 || 4.x`.
//!
//! Groups of which one has to hold, each with conditions that all have to. A pre-release is allowed only where the group
//! itself names one.

use std::sync::LazyLock;

use regex::Regex;

use super::version::{Version, compare_pre};
use crate::Failure;

#[derive(Clone, Debug)]
pub(crate) struct Constraint {
    groups: Vec<Vec<Condition>>,
}

#[derive(Clone, Debug)]
struct Condition {
    operator: &'static str,
    version: Version,
    /// How many numbers are given; `*` and what is left out are none.
    given: usize,
}

/// The grammar, from which whole constraints and their parts are read.
struct Grammar {
    group: Regex,
    condition: Regex,
    range: Regex,
}

static GRAMMAR: LazyLock<Option<Grammar>> = LazyLock::new(|| {
    let number = r"[0-9|xX*]+";
    let label = r"[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*";
    let version = format!(r"v?(?:{number})(?:\.{number})?(?:\.{number})?(?:-{label})?(?:\+{label})?");
    // The order matters: without an operator comes before the longer ones, as it is the shortest.
    let operator = r"=||!=|>|<|>=|=>|<=|=<|~|~>|\^";
    let condition = format!(r"({operator})\s*({version})");
    let single = format!(r"(?:{operator})\s*(?:{version})\s*");
    Some(Grammar {
        group: ascii(&format!(r"^\s*{single}(?:(?:\s+|,\s*){single})*$"))?,
        condition: ascii(&condition)?,
        range: ascii(&format!(r"\s*({version})\s+-\s+({version})\s*"))?,
    })
});

fn ascii(pattern: &str) -> Option<Regex> {
    Regex::new(&pattern.replace(r"\s", r"[\t\n\x0C\r ]")).ok()
}

impl Constraint {
    pub(crate) fn parse(text: &str) -> Result<Self, Failure> {
        let improper = |part: &str| Failure::new(format!("improper constraint: {part:?}"));
        if text.len() > 512 {
            return Err(Failure::new("constraint string is too long (max 512 bytes)"));
        }
        let grammar = GRAMMAR.as_ref().ok_or_else(|| improper(text))?;
        let text = grammar.range.replace_all(text, ">= $1, <= $2 ");
        let parts: Vec<&str> = text.split("||").collect();
        if parts.len() > 32 {
            return Err(Failure::new("too many constraint groups (max 32)"));
        }
        let groups = parts.into_iter().map(|part| {
            if !grammar.group.is_match(part) {
                return Err(improper(part));
            }
            let conditions = grammar.condition.captures_iter(part).map(|found| {
                let text = |index: usize| found.get(index).map_or("", |found| found.as_str());
                Condition::parse(text(1), text(2)).ok_or_else(|| improper(part))
            });
            conditions.collect()
        });
        Ok(Self { groups: groups.collect::<Result<_, _>>()? })
    }

    pub(crate) fn allows(&self, version: &Version) -> bool {
        self.groups.iter().any(|group| {
            let pre_releases = group.iter().any(|condition| !condition.version.pre.is_empty());
            (version.pre.is_empty() || pre_releases)
                && group.iter().all(|condition| condition.allows(version))
        })
    }
}

impl Condition {
    fn parse(operator: &str, text: &str) -> Option<Self> {
        const OPERATORS: &[&str] = &["", "=", "!=", ">", "<", ">=", "=>", "<=", "=<", "~", "~>", "^"];
        let operator = OPERATORS.iter().find(|known| **known == operator)?;
        let plain = text.strip_prefix('v').unwrap_or(text);
        let end = plain.find(['-', '+']).unwrap_or(plain.len());
        let (numbers, labels) = plain.split_at(end);
        let pre = labels.split('+').next().unwrap_or_default();
        let numbers: Vec<&str> = numbers.split('.').collect();
        let given =
            numbers.iter().position(|number| matches!(*number, "x" | "X" | "*")).unwrap_or(numbers.len());
        let mut version = numbers[..given].to_vec();
        version.resize(3, "0");
        let version = if given == 3 { text.to_owned() } else { format!("{}{pre}", version.join(".")) };
        Some(Self { operator, version: Version::parse(&version).ok()?, given })
    }

    fn allows(&self, version: &Version) -> bool {
        let order = version.compare(&self.version);
        let same = |count: usize| self.same(version, count);
        match self.operator {
            "!=" if self.given == 3 => order.is_ne(),
            "!=" => self.differs(version),
            ">" if self.given == 3 => order.is_gt(),
            ">" => match version.major.cmp(&self.version.major) {
                std::cmp::Ordering::Equal if self.given == 2 => version.minor > self.version.minor,
                // `>*` compares with 0.0.0.
                std::cmp::Ordering::Equal if self.given == 0 => order.is_gt(),
                order => order.is_gt(),
            },
            "<" => order.is_lt(),
            ">=" | "=>" => order.is_ge(),
            "<=" | "=<" if self.given == 3 => order.is_le(),
            "<=" | "=<" => {
                version.major < self.version.major
                    || (version.major == self.version.major
                        && (self.given == 1 || version.minor <= self.version.minor))
            }
            "^" => order.is_ge() && self.same_by_caret(version),
            "" | "=" if self.given == 3 => order.is_eq(),
            _ => {
                let zero = (self.version.major, self.version.minor, self.version.patch) == (0, 0, 0);
                let any = zero && matches!(self.given, 0 | 3);
                order.is_ge() && (any || same(if self.given == 1 { 1 } else { 2 }))
            }
        }
    }

    /// Whether the first numbers are the same.
    fn same(&self, version: &Version, count: usize) -> bool {
        let numbers = |version: &Version| [version.major, version.minor, version.patch];
        numbers(version)[..count] == numbers(&self.version)[..count]
    }

    /// For `!=` of a version with numbers left out.
    fn differs(&self, version: &Version) -> bool {
        match self.given {
            1 => !self.same(version, 1),
            2 if self.same(version, 2) => {
                let either = !version.pre.is_empty() || !self.version.pre.is_empty();
                either && compare_pre(&version.pre, &self.version.pre).is_ne()
            }
            2 => true,
            _ => version.compare(&self.version).is_ne(),
        }
    }

    /// The first number that is not zero has to stay.
    fn same_by_caret(&self, version: &Version) -> bool {
        if self.version.major > 0 || self.given == 1 {
            return self.same(version, 1);
        }
        if version.major > 0 {
            return false;
        }
        if self.version.minor > 0 || self.given == 2 {
            return self.same(version, 2);
        }
        self.same(version, 3)
    }
}
