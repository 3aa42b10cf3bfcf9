//! Two dumps of one scenario, leaf by leaf.
//!
//! In: what istiod gave and what we gave, and the differences that are allowed. Out: how many leaves each has, and those in
//! which they differ. A leaf is a value that has no more values in it; a map or a list without any is one, too.

mod allowed;
mod leaves;
mod normal;
mod path;

use std::collections::BTreeMap;

use serde_json::Value;

pub use self::{
    allowed::{Allowance, Allowed},
    normal::normal,
    path::{Path, Step},
};
use crate::dump::Dump;

/// What a comparison found.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// Leaves of each side.
    pub theirs: usize,
    pub ours: usize,
    /// Leaves that each allowed difference has excused, by its place in the list.
    pub excused: BTreeMap<usize, usize>,
    pub different: Vec<Difference>,
}

/// A leaf that is not the same on both sides; `None` is one that is not there.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    pub proxy: String,
    pub path: Path,
    pub theirs: Option<Value>,
    pub ours: Option<Value>,
}

impl Report {
    pub fn equal(&self) -> bool {
        self.different.is_empty()
    }
}

pub fn compare(theirs: &Dump, ours: &Dump, allowed: &Allowed) -> Report {
    let (theirs, ours) = (leaves::leaves(&normal(theirs)), leaves::leaves(&normal(ours)));
    let mut report = Report { theirs: theirs.len(), ours: ours.len(), ..Report::default() };
    let missing = theirs.iter().map(|(key, value)| (key, Some(value), ours.get(key)));
    let added =
        ours.iter().filter(|(key, _)| !theirs.contains_key(key)).map(|(key, value)| (key, None, Some(value)));
    for (key, theirs, ours) in missing.chain(added).filter(|(_, theirs, ours)| theirs != ours) {
        match allowed.excuse(&key.1, theirs, ours) {
            Some(place) => *report.excused.entry(place).or_default() += 1,
            None => report.different.push(Difference {
                proxy: key.0.clone(),
                path: key.1.clone(),
                theirs: theirs.cloned(),
                ours: ours.cloned(),
            }),
        }
    }
    report.different.sort_by(|a, b| (&a.proxy, &a.path).cmp(&(&b.proxy, &b.path)));
    report
}
