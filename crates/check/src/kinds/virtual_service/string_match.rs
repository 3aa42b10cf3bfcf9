//! A text that must be equal to, begin with or match another.

use crate::{Findings, value::regex::regex};
use mizzen_api::proto::istio::networking::v1alpha3::{StringMatch, string_match::MatchType};
use mizzen_text::At;

/// Envoy takes an empty prefix of a path, of nothing else.
pub(super) fn check(text: &StringMatch, at: &At<'_>, found: &mut Findings) {
    match &text.match_type {
        Some(MatchType::Prefix(prefix)) if prefix.is_empty() => {
            found.error(&at.field("prefix"), "prefix string match should not be empty");
        }
        _ => check_regex(text, at, found),
    }
}

pub(super) fn check_regex(text: &StringMatch, at: &At<'_>, found: &mut Findings) {
    let Some(MatchType::Regex(expression)) = &text.match_type else { return };
    let at = at.field("regex");
    if expression.is_empty() {
        found.error(&at, "regex string match should not be empty");
    } else {
        found.verdict(&at, regex(expression));
    }
}
