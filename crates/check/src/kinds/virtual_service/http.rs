//! One HTTP route.

use super::{actions, cors, destinations, fault, headers, http_match, retry};
use crate::{Findings, parts::destination, value::number::duration};
use mizzen_api::proto::istio::networking::v1alpha3::{HttpRoute, Percent};
use mizzen_text::At;

pub(super) fn check(
    route: &HttpRoute,
    in_delegate: bool,
    converted: bool,
    at: &At<'_>,
    found: &mut Findings,
) {
    conflicts(route, in_delegate, at, found);
    let matches = at.field("match");
    for (index, one) in route.r#match.iter().enumerate() {
        http_match::check(one, &matches.index(index), found);
    }
    if let Some(changes) = &route.headers {
        headers::check(changes, &at.field("headers"), found);
    }
    if let Some(policy) = &route.cors_policy {
        cors::check(policy, &at.field("corsPolicy"), found);
    }
    if let Some(settings) = &route.fault {
        fault::check(settings, &at.field("fault"), found);
    }
    mirrors(route, at, found);
    if let Some(redirect) = &route.redirect {
        actions::redirect(redirect, &route.r#match, &at.field("redirect"), found);
    }
    if let Some(response) = &route.direct_response {
        actions::direct_response(response, &at.field("directResponse"), found);
    }
    if let Some(retries) = &route.retries {
        retry::check(retries, &at.field("retries"), found);
    }
    if let Some(rewrite) = &route.rewrite {
        actions::rewrite(rewrite, &at.field("rewrite"), found);
    }
    headers::one_authority(route.rewrite.as_ref(), route.headers.as_ref(), &at.field("headers"), found);
    destinations::http(&route.route, converted, &at.field("route"), found);
    if let Some(timeout) = &route.timeout {
        found.verdict(&at.field("timeout"), duration(timeout));
    }
}

/// What a route does, it does alone.
fn conflicts(route: &HttpRoute, in_delegate: bool, at: &At<'_>, found: &mut Findings) {
    if route.delegate.is_some() && !in_delegate {
        // The delegate says what is done.
        for (field, set) in [("redirect", route.redirect.is_some()), ("route", !route.route.is_empty())] {
            if set {
                found.error(
                    &at.field(field),
                    format!("root HTTP route {} must not specify {field} beside delegate", route.name),
                );
            }
        }
        return;
    }
    if route.delegate.is_some() {
        found.error(&at.field("delegate"), "delegate HTTP route cannot contain delegate");
    }
    let does = if route.redirect.is_some() {
        "redirect"
    } else if route.direct_response.is_some() {
        "directResponse"
    } else {
        if route.route.is_empty() {
            found.error(at, "HTTP route, redirect or directResponse is required");
        }
        "route"
    };
    if does != "route" {
        for (field, set) in [
            ("route", !route.route.is_empty()),
            ("fault", route.fault.is_some()),
            ("rewrite", route.rewrite.is_some()),
            ("directResponse", does == "redirect" && route.direct_response.is_some()),
        ] {
            if set {
                found.error(&at.field(field), format!("HTTP route cannot contain both {field} and {does}"));
            }
        }
    }
    if route.mirror.is_some() && !route.mirrors.is_empty() {
        found.error(&at.field("mirrors"), "HTTP route cannot contain both mirror and mirrors");
    }
}

fn mirrors(route: &HttpRoute, at: &At<'_>, found: &mut Findings) {
    if let Some(percent) = route.mirror_percent {
        let at = at.field("mirrorPercent");
        if percent > 100 {
            found.error(&at, format!("mirrorPercent must have a max value of 100 (it has {percent})"));
        }
        found.warning(&at, "using deprecated setting \"mirrorPercent\", use \"mirrorPercentage\" instead");
    }
    if let Some(percent) = &route.mirror_percentage {
        percentage(percent, &at.field("mirrorPercentage"), found);
    }
    if let Some(mirror) = &route.mirror {
        destination::check(mirror, &at.field("mirror"), found);
    }
    let list = at.field("mirrors");
    for (index, mirror) in route.mirrors.iter().enumerate() {
        let at = list.index(index);
        let Some(to) = &mirror.destination else {
            found.error(&at.field("destination"), "destination is required for mirrors");
            continue;
        };
        destination::check(to, &at.field("destination"), found);
        if let Some(percent) = &mirror.percentage {
            percentage(percent, &at.field("percentage"), found);
        }
    }
}

fn percentage(percent: &Percent, at: &At<'_>, found: &mut Findings) {
    if percent.value > 100.0 || percent.value < 0.0 {
        found.error(
            &at.field("value"),
            format!(
                "mirror percentage must have a min value of 0 and a max value of 100 (it has {})",
                percent.value
            ),
        );
    }
}
