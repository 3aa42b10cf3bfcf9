//! Labels that a part of an object chooses workloads by: a subset's, or those of a route's source.

use crate::{
    Findings,
    value::label::{key, value},
};
use mizzen_text::At;
use std::collections::BTreeMap;

pub(crate) fn check(labels: &BTreeMap<String, String>, at: &At<'_>, found: &mut Findings) {
    for (name, text) in labels {
        let at = at.field(name);
        found.verdict(&at, key(name));
        found.verdict(&at, value(text));
    }
}
