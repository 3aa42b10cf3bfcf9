//! Headers that a route adds, sets and removes.

use crate::{
    Findings,
    value::{Verdict, header},
};
use mizzen_api::proto::istio::networking::v1alpha3::{Headers, HttpRewrite, headers::HeaderOperations};
use mizzen_text::At;

pub(super) fn check(headers: &Headers, at: &At<'_>, found: &mut Findings) {
    if let Some(operations) = &headers.request {
        changes(operations, header::request_name, &at.field("request"), found);
    }
    if let Some(operations) = &headers.response {
        changes(operations, header::operation_name, &at.field("response"), found);
    }
}

fn changes(operations: &HeaderOperations, name_rule: fn(&str) -> Verdict, at: &At<'_>, found: &mut Findings) {
    for (field, map) in [("add", &operations.add), ("set", &operations.set)] {
        let at = at.field(field);
        for (name, value) in map {
            let at = at.field(name);
            found.verdict(&at, name_rule(name));
            found.verdict(&at, header::value(value));
        }
    }
    let at = at.field("remove");
    for (index, name) in operations.remove.iter().enumerate() {
        found.verdict(&at.index(index), header::operation_name(name));
    }
}

/// The authority may be rewritten in one place only. `at` is the headers.
pub(super) fn one_authority(
    rewrite: Option<&HttpRewrite>,
    headers: Option<&Headers>,
    at: &At<'_>,
    found: &mut Findings,
) {
    let Some(request) = headers.and_then(|headers| headers.request.as_ref()) else { return };
    let mut current = rewrite.map_or("", |rewrite| rewrite.authority.as_str());
    let at = at.field("request");
    for (field, map) in [("set", &request.set), ("add", &request.add)] {
        let at = at.field(field);
        for (name, value) in map.iter().filter(|(name, _)| header::is_authority(name)) {
            if !current.is_empty() {
                found.error(
                    &at.field(name),
                    format!("authority header cannot be set multiple times: have {current:?}, attempting to set {value:?}"),
                );
            }
            current = value;
        }
    }
}
