//! `exportTo`: which namespaces see an object.

use crate::{Findings, value::label::is_dns_label};
use mizzen_text::At;
use std::collections::BTreeSet;

/// What kind of object it is on, where that matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exported {
    /// May be exported to nobody (`~`).
    ServiceEntry,
    /// Holds for workloads of its own namespace only.
    RuleWithSelector,
    Other,
}

pub(crate) fn check(
    what: Exported,
    namespace: &str,
    export_to: &[String],
    at: &At<'_>,
    found: &mut Findings,
) {
    let mut seen = BTreeSet::new();
    for (index, entry) in export_to.iter().enumerate() {
        let at = at.index(index);
        // `.` is the object's own namespace, so both together are twice the same.
        let key = if entry == "." { namespace } else { entry };
        if seen.contains(key) {
            if key == entry {
                found.error(&at, format!("duplicate entries in exportTo for entry {entry}"));
            } else {
                found.error(
                    &at,
                    format!("duplicate entries in exportTo: . and current namespace {namespace}"),
                );
            }
        } else if is_visibility(key) || (what == Exported::ServiceEntry && entry == "~") {
            seen.insert(key);
        } else {
            found.error(
                &at,
                format!("only ., *, or a valid DNS label is allowed as exportTo entry, not {entry:?}"),
            );
        }
    }
    if what == Exported::RuleWithSelector && !seen.is_empty() {
        if !seen.contains(namespace) {
            found.error(
                at,
                "destination rule with workload selector cannot have exportTo beyond current namespace",
            );
        } else if seen.len() > 1 {
            found.error(
                at,
                "destination rule with workload selector cannot have multiple entries in exportTo",
            );
        }
    }
    if seen.contains("*") && export_to.len() > 1 {
        found.error(at, "cannot have both public (*) and non-public exportTo values for a resource");
    }
    if seen.contains("~") && export_to.len() > 1 {
        found.error(at, "cannot export service entry to no one (~) and someone");
    }
}

fn is_visibility(text: &str) -> bool {
    text == "." || text == "*" || is_dns_label(text)
}
