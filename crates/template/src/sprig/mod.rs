//! Sprig's functions for text templates, by the names and rules of version 3.3: every name of it is known.
//!
//! Rendering must be repeatable, so what depends on the clock, on chance or on the network is refused by name
//! (`refusals`). Strings are text: where Go would cut a character into bytes, we refuse.

pub(crate) mod args;
pub(crate) mod budget;
mod casing;
mod cast;
mod dates;
mod defaults;
mod dicts;
mod encoding;
mod equal;
mod floats;
mod flow;
mod hashes;
pub(crate) mod json;
pub(crate) mod letters;
mod lists;
mod merge;
mod numbers;
mod paths;
pub(crate) mod print;
mod refusals;
mod regex;
pub(crate) mod semver;
mod strings;
mod types;
mod urls;
mod words;

use crate::{Failure, Function};

pub(crate) type TableEntry = (&'static str, Function);

const PARTS: &[&[TableEntry]] = &[
    cast::TABLE,
    dates::TABLE,
    defaults::TABLE,
    dicts::TABLE,
    encoding::TABLE,
    equal::TABLE,
    floats::TABLE,
    flow::TABLE,
    hashes::TABLE,
    json::TABLE,
    lists::TABLE,
    merge::TABLE,
    numbers::TABLE,
    paths::TABLE,
    refusals::TABLE,
    regex::TABLE,
    semver::TABLE,
    strings::TABLE,
    types::TABLE,
    urls::TABLE,
    words::TABLE,
];

/// All of them.
pub const TABLE: &[TableEntry] = &join::<{ count(PARTS) }>(PARTS);

pub(crate) const fn count(parts: &[&[TableEntry]]) -> usize {
    let mut count = 0;
    let mut part = 0;
    while part < parts.len() {
        count += parts[part].len();
        part += 1;
    }
    count
}

pub(crate) const fn join<const N: usize>(parts: &[&[TableEntry]]) -> [TableEntry; N] {
    let mut all = [parts[0][0]; N];
    let (mut part, mut at) = (0, 0);
    while part < parts.len() {
        let mut entry = 0;
        while entry < parts[part].len() {
            all[at] = parts[part][entry];
            at += 1;
            entry += 1;
        }
        part += 1;
    }
    all
}

/// Any value as a whole number.
pub(crate) use cast::int as cast_int;

/// A duration's text, written as Go prints it.
pub(crate) fn print_duration(text: &str) -> Result<String, Failure> {
    dates::printed_duration(text)
}
