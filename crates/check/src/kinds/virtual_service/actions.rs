//! What else a route can do than send a request on as it is: redirect it, answer it, rewrite it.

use crate::{
    Findings,
    value::{number::port, regex::regex},
};
use mizzen_api::proto::istio::networking::v1alpha3::{
    HttpDirectResponse, HttpMatchRequest, HttpRedirect, HttpRewrite, http_body::Specifier,
    http_redirect::RedirectPort, string_match::MatchType,
};
use mizzen_text::At;

/// Above this Istio refuses a direct response…
const MOST: usize = 1024 * 1024;
/// …and above this it warns.
const MUCH: usize = 100 * 1024;

pub(super) fn redirect(
    redirect: &HttpRedirect,
    matches: &[HttpMatchRequest],
    at: &At<'_>,
    found: &mut Findings,
) {
    if !redirect.uri.is_empty() && !redirect.prefix_rewrite.is_empty() {
        found.error(&at.field("prefixRewrite"), "redirect may only specify one of uri or prefixRewrite");
    }
    if !redirect.prefix_rewrite.is_empty() && !matches.iter().all(is_by_prefix) {
        found.error(
            &at.field("prefixRewrite"),
            "redirect prefixRewrite requires all URI matches of the route to use prefix match type",
        );
    }
    if [&redirect.uri, &redirect.prefix_rewrite, &redirect.authority, &redirect.scheme]
        .iter()
        .all(|text| text.is_empty())
        && redirect.redirect_port.is_none()
    {
        found.error(at, "redirect must specify URI, authority, scheme, or port");
    }
    if redirect.redirect_code != 0 && !(300..=399).contains(&redirect.redirect_code) {
        found.error(
            &at.field("redirectCode"),
            format!("{} is not a valid redirect code, must be 3xx", redirect.redirect_code),
        );
    }
    if !matches!(redirect.scheme.as_str(), "" | "http" | "https") {
        found.error(&at.field("scheme"), "invalid redirect scheme, must be \"http\" or \"https\"");
    }
    if let Some(RedirectPort::Port(number)) = redirect.redirect_port
        && number > 0
    {
        found.verdict(&at.field("port"), port(number));
    }
}

fn is_by_prefix(one: &HttpMatchRequest) -> bool {
    one.uri.as_ref().is_none_or(|uri| matches!(uri.match_type, Some(MatchType::Prefix(_))))
}

pub(super) fn direct_response(response: &HttpDirectResponse, at: &At<'_>, found: &mut Findings) {
    let size = match response.body.as_ref().and_then(|body| body.specifier.as_ref()) {
        Some(Specifier::String(text)) => text.len(),
        Some(Specifier::Bytes(bytes)) => bytes.len(),
        None => 0,
    };
    if size > MOST {
        found.error(
            &at.field("body"),
            "large direct responses may impact control plane performance, must be less than 1MB",
        );
    } else if size > MUCH {
        found.warning(&at.field("body"), "large direct responses may impact control plane performance");
    }
    found.verdict(&at.field("status"), status(i64::from(response.status)));
}

/// The range is 200 to 599 as Istio says it, and one more as it checks it.
pub(super) fn status(number: i64) -> Result<(), String> {
    if (200..=600).contains(&number) {
        Ok(())
    } else {
        Err(format!("HTTP status {number} is not in range 200-599"))
    }
}

pub(super) fn rewrite(rewrite: &HttpRewrite, at: &At<'_>, found: &mut Findings) {
    match &rewrite.uri_regex_rewrite {
        None => {
            if rewrite.uri.is_empty() && rewrite.authority.is_empty() {
                found.error(at, "rewrite must specify at least one of uri, uriRegexRewrite, or authority");
            }
        }
        Some(by_regex) => {
            let here = at.field("uriRegexRewrite");
            if !rewrite.uri.is_empty() {
                found.error(&here, "rewrite may only contain one of uri or uriRegexRewrite");
            }
            if by_regex.r#match.is_empty() || by_regex.rewrite.is_empty() {
                found.error(&here, "uriRegexRewrite requires both rewrite and match fields to be specified");
            }
            found.verdict(&here.field("match"), regex(&by_regex.r#match));
        }
    }
}
