//! Which requests an HTTP route is for.

use super::{gateways, string_match};
use crate::{
    Findings,
    parts::tags,
    value::{header::matched_name, label::is_dns_label, number::port},
};
use mizzen_api::proto::istio::networking::v1alpha3::{
    HttpMatchRequest, StringMatch, string_match::MatchType,
};
use mizzen_text::At;

pub(super) fn check(one: &HttpMatchRequest, at: &At<'_>, found: &mut Findings) {
    let headers = at.field("headers");
    for (name, text) in &one.headers {
        let at = headers.field(name);
        found.verdict(&at, matched_name(name));
        string_match::check(text, &at, found);
    }
    let without = at.field("withoutHeaders");
    for (name, text) in &one.without_headers {
        let at = without.field(name);
        found.verdict(&at, matched_name(name));
        if !is_any(text) {
            string_match::check(text, &at, found);
        }
    }
    if let Some(text) = &one.uri {
        string_match::check_regex(text, &at.field("uri"), found);
    }
    for (field, text) in [("scheme", &one.scheme), ("method", &one.method), ("authority", &one.authority)] {
        if let Some(text) = text {
            string_match::check(text, &at.field(field), found);
        }
    }
    let parameters = at.field("queryParams");
    for (name, text) in &one.query_params {
        string_match::check(text, &parameters.field(name), found);
    }
    if one.port != 0 {
        found.verdict(&at.field("port"), port(one.port));
    }
    tags::check(&one.source_labels, &at.field("sourceLabels"), found);
    let mut own = Findings::default();
    gateways::check(&one.gateways, false, &at.field("gateways"), &mut own);
    found.extend_errors(own);
    if !one.source_namespace.is_empty() && !is_dns_label(&one.source_namespace) {
        found.error(
            &at.field("sourceNamespace"),
            format!("sourceNamespace match {:?} is invalid: it must be a DNS label", one.source_namespace),
        );
    }
}

/// `*` is no regular expression, but stands for a header of any value.
fn is_any(text: &StringMatch) -> bool {
    matches!(&text.match_type, Some(MatchType::Regex(expression)) if expression == "*")
}
