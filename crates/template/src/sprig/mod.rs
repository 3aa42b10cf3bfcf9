//! Sprig's functions for text templates, by the names and rules of version 3.3: every name of it is known.
//!
//! Rendering must be repeatable, so what depends on the clock, on chance or on the network is refused by name
//! ([`refused`]). Strings are text: where Go would cut a character into bytes, we refuse.

pub(crate) mod args;
pub(crate) mod budget;
mod cast;
mod defaults;
mod dicts;
mod equal;
pub(crate) mod json;
mod lists;
mod merge;
mod numbers;
pub(crate) mod print;
mod strings;

use crate::{Call, Failure, Function, Value};

pub(crate) type TableEntry = (&'static str, Function);

const PARTS: &[&[TableEntry]] = &[
    cast::TABLE,
    defaults::TABLE,
    dicts::TABLE,
    equal::TABLE,
    json::TABLE,
    lists::TABLE,
    merge::TABLE,
    numbers::TABLE,
    strings::TABLE,
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

/// A name that is known and not supported, and why.
pub(crate) fn refused(call: &Call<'_>, why: &str) -> Result<Value, Failure> {
    Err(Failure::new(format!("`{}` is not supported: {why}", call.name)))
}
