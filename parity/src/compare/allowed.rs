//! Differences that are meant: `differences.yaml`. Each names an exact path, both values, and why.

use std::{fs, path::Path as File};

use anyhow::{Context as _, Result, bail};
use serde::Deserialize;
use serde_json::Value;

use super::path::Path;
use crate::library;

/// More of them would be a second opinion on what is equal.
pub(super) const MOST: usize = 25;

#[derive(Clone, Debug, Default)]
pub struct Allowed(pub Vec<Allowance>);

#[derive(Clone, Debug)]
pub struct Allowance {
    pub path: Path,
    /// `None` where the side has nothing there.
    pub istiod: Option<Value>,
    pub ours: Option<Value>,
    pub reason: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    path: String,
    #[serde(default)]
    istiod: Option<Value>,
    #[serde(default)]
    ours: Option<Value>,
    reason: String,
}

impl Allowed {
    /// Those of this repository.
    pub fn read() -> Result<Self> {
        Self::read_file(&library::folder().join("differences.yaml"))
    }

    pub fn read_file(file: &File) -> Result<Self> {
        let text = fs::read_to_string(file).with_context(|| format!("read {}", file.display()))?;
        Self::parse(&text)
    }

    pub fn parse(text: &str) -> Result<Self> {
        let documents = library::documents("differences.yaml", text)?;
        let [list] = documents.as_slice() else { return Ok(Self::default()) };
        let written: Vec<Written> = serde_json::from_value(list.clone()).context("allowed differences")?;
        if written.len() > MOST {
            bail!("{} differences are allowed, and at most {MOST} may be", written.len());
        }
        written.into_iter().map(Allowance::try_from).collect::<Result<_>>().map(Self)
    }

    /// Which one allows this difference.
    pub(super) fn excuse(&self, path: &Path, theirs: Option<&Value>, ours: Option<&Value>) -> Option<usize> {
        self.0.iter().position(|allowance| {
            allowance.istiod.as_ref() == theirs
                && allowance.ours.as_ref() == ours
                && allowance.path.covers(path)
        })
    }
}

impl TryFrom<Written> for Allowance {
    type Error = anyhow::Error;

    fn try_from(written: Written) -> Result<Self> {
        let Written { path, istiod, ours, reason } = written;
        if reason.trim().is_empty() {
            bail!("{path}: a difference without a reason");
        }
        if istiod == ours {
            bail!("{path}: both values are the same");
        }
        Ok(Self { path: Path::parse(&path)?, istiod, ours, reason })
    }
}

#[cfg(test)]
mod tests {
    use super::Allowed;

    #[test]
    fn an_allowed_difference_has_a_path_both_values_and_a_reason() {
        let good = "- path: clusters[*].name\n  istiod: a\n  ours: b\n  reason: because\n";
        assert_eq!(Allowed::parse(good).unwrap().0.len(), 1);
        for (bad, why) in [
            ("- path: clusters[*].name\n  istiod: a\n  ours: b\n", "no reason"),
            ("- path: clusters[*].name\n  istiod: a\n  ours: b\n  reason: ' '\n", "an empty reason"),
            ("- path: clusters[*].name\n  istiod: a\n  ours: a\n  reason: because\n", "no difference"),
            ("- path: clusters[*\n  istiod: a\n  reason: because\n", "no path"),
            ("- path: clusters[*].name\n  istoid: a\n  reason: because\n", "a word that is not known"),
        ] {
            assert!(Allowed::parse(bad).is_err(), "{why}");
        }
    }

    #[test]
    fn there_is_a_limit_to_allowed_differences() {
        let many: String =
            (0..26).map(|n| format!("- path: a[{n}]\n  ours: b\n  reason: because\n")).collect();
        assert!(Allowed::parse(&many).unwrap_err().to_string().contains("at most 25"));
    }

    #[test]
    fn a_file_without_any_is_fine() {
        assert!(Allowed::parse("# none\n").unwrap().0.is_empty());
    }
}
