//! Which pages of other origins may use a route.

use super::string_match;
use crate::{
    Findings,
    value::{header::cors_name, number::duration},
};
use mizzen_api::proto::istio::networking::v1alpha3::{CorsPolicy, string_match::MatchType};
use mizzen_text::At;

const METHODS: &[&str] =
    &["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "CONNECT", "OPTIONS", "TRACE", "*"];

pub(super) fn check(policy: &CorsPolicy, at: &At<'_>, found: &mut Findings) {
    let origins = at.field("allowOrigins");
    for (index, origin) in policy.allow_origins.iter().enumerate() {
        let at = origins.index(index);
        match &origin.match_type {
            Some(MatchType::Exact(text) | MatchType::Prefix(text) | MatchType::Regex(text))
                if !text.is_empty() =>
            {
                string_match::check_regex(origin, &at, found);
            }
            _ => found.error(
                &at,
                "not a valid match type for CORS allow origins: exact, prefix or regex must not be empty",
            ),
        }
    }
    let methods = at.field("allowMethods");
    for (index, method) in policy.allow_methods.iter().enumerate() {
        if !METHODS.contains(&method.as_str()) {
            found.error(
                &methods.index(index),
                format!("{method:?} is not a supported HTTP method: {}", METHODS.join(", ")),
            );
        }
    }
    for (field, names) in [("allowHeaders", &policy.allow_headers), ("exposeHeaders", &policy.expose_headers)]
    {
        let at = at.field(field);
        for (index, name) in names.iter().enumerate() {
            found.verdict(&at.index(index), cors_name(name));
        }
    }
    if let Some(age) = &policy.max_age {
        let at = at.field("maxAge");
        found.verdict(&at, duration(age));
        if age.nanos > 0 {
            found.error(&at, "maxAge duration is accurate only to seconds precision");
        }
    }
}
