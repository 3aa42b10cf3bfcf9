//! Which requests a route takes.

use mizzen_proto::{
    envoy::{
        config::route::v3::{
            HeaderMatcher, QueryParameterMatcher, RouteMatch, header_matcher::HeaderMatchSpecifier,
            query_parameter_matcher::QueryParameterMatchSpecifier, route_match::PathSpecifier,
        },
        r#type::matcher::v3::{
            ListMatcher, MetadataMatcher, OrMatcher, RegexMatcher, StringMatcher, ValueMatcher, list_matcher,
            metadata_matcher::{PathSegment, path_segment::Segment},
            string_matcher::MatchPattern,
            value_matcher,
        },
    },
    google::protobuf::BoolValue,
    istio::networking::v1alpha3::{HttpMatchRequest, StringMatch, string_match::MatchType},
};

/// Every request.
pub(in crate::routes) fn anything() -> RouteMatch {
    RouteMatch { path_specifier: Some(PathSpecifier::Prefix("/".into())), ..RouteMatch::default() }
}

pub(in crate::routes) fn route_match(request: Option<&HttpMatchRequest>) -> RouteMatch {
    let mut out = anything();
    let Some(request) = request else { return out };
    for (name, pattern) in &request.headers {
        match claim(name) {
            Some(path) => out.dynamic_metadata.push(claim_matcher(&path, pattern)),
            None => out.headers.push(header(name, pattern)),
        }
    }
    for (name, pattern) in &request.without_headers {
        match claim(name) {
            Some(path) => {
                out.dynamic_metadata.push(MetadataMatcher { invert: true, ..claim_matcher(&path, pattern) });
            }
            None => out.headers.push(HeaderMatcher {
                invert_match: true,
                treat_missing_header_as_empty: !is_presence(pattern),
                ..header(name, pattern)
            }),
        }
    }
    out.headers.sort_by(|one, other| one.name.cmp(&other.name));
    if let Some(MatchType::Exact(path)) = pattern_of(request.uri.as_ref()) {
        out.path_specifier = Some(PathSpecifier::Path(path.clone()));
    } else if let Some(MatchType::Prefix(path)) = pattern_of(request.uri.as_ref()) {
        out.path_specifier = Some(PathSpecifier::Prefix(path.clone()));
    } else if let Some(MatchType::Regex(path)) = pattern_of(request.uri.as_ref()) {
        out.path_specifier = Some(PathSpecifier::SafeRegex(regex(path)));
    }
    out.case_sensitive = Some(BoolValue { value: !request.ignore_uri_case });
    let special =
        [(":method", &request.method), (":authority", &request.authority), (":scheme", &request.scheme)];
    for (name, pattern) in special {
        out.headers.extend(pattern.as_ref().map(|pattern| header(name, pattern)));
    }
    out.query_parameters =
        request.query_params.iter().map(|(name, pattern)| query_parameter(name, pattern)).collect();
    out
}

/// Whether no route after this one is ever reached.
pub(in crate::routes) fn is_catch_all(route: &RouteMatch) -> bool {
    let path = match &route.path_specifier {
        Some(PathSpecifier::Prefix(prefix) | PathSpecifier::PathSeparatedPrefix(prefix)) => prefix == "/",
        Some(PathSpecifier::SafeRegex(regex)) => regex.regex == ".*",
        _ => false,
    };
    path && route.headers.is_empty() && route.query_parameters.is_empty() && route.dynamic_metadata.is_empty()
}

fn pattern_of(pattern: Option<&StringMatch>) -> Option<&MatchType> {
    pattern?.match_type.as_ref()
}

/// Any value will do. `*` is no regular expression and has always meant this.
fn is_presence(pattern: &StringMatch) -> bool {
    match &pattern.match_type {
        None => true,
        Some(MatchType::Regex(regex)) => regex == "*",
        Some(MatchType::Exact(_) | MatchType::Prefix(_)) => false,
    }
}

fn regex(regex: &str) -> RegexMatcher {
    RegexMatcher { regex: regex.to_owned(), ..RegexMatcher::default() }
}

pub(super) fn string_matcher(pattern: &StringMatch) -> Option<StringMatcher> {
    let pattern = match pattern.match_type.as_ref()? {
        MatchType::Exact(text) => MatchPattern::Exact(text.clone()),
        MatchType::Prefix(text) => MatchPattern::Prefix(text.clone()),
        MatchType::Regex(text) => MatchPattern::SafeRegex(regex(text)),
    };
    Some(StringMatcher { match_pattern: Some(pattern), ..StringMatcher::default() })
}

fn header(name: &str, pattern: &StringMatch) -> HeaderMatcher {
    let specifier = if is_presence(pattern) {
        Some(HeaderMatchSpecifier::PresentMatch(true))
    } else {
        string_matcher(pattern).map(HeaderMatchSpecifier::StringMatch)
    };
    HeaderMatcher { name: name.to_owned(), header_match_specifier: specifier, ..HeaderMatcher::default() }
}

fn query_parameter(name: &str, pattern: &StringMatch) -> QueryParameterMatcher {
    let specifier = if is_presence(pattern) {
        Some(QueryParameterMatchSpecifier::PresentMatch(true))
    } else {
        string_matcher(pattern).map(QueryParameterMatchSpecifier::StringMatch)
    };
    QueryParameterMatcher { name: name.to_owned(), query_parameter_match_specifier: specifier }
}

const CLAIMS: &str = "@request.auth.claims";

/// The way to a claim of a token, if a header's name means one: `@request.auth.claims.a.b` or `@request.auth.claims[a][b]`.
fn claim(name: &str) -> Option<Vec<&str>> {
    let rest = name.get(CLAIMS.len()..)?;
    if !name[..CLAIMS.len()].eq_ignore_ascii_case(CLAIMS) {
        return None;
    }
    if let Some(path) = rest.strip_prefix('.').filter(|path| !path.is_empty()) {
        return Some(path.split('.').collect());
    }
    let path = rest.strip_prefix('[')?.strip_suffix(']').filter(|path| !path.is_empty())?;
    Some(path.split("][").collect())
}

/// A claim is a text or a list of them: either may match.
fn claim_matcher(path: &[&str], pattern: &StringMatch) -> MetadataMatcher {
    let segment = |key: &&str| PathSegment { segment: Some(Segment::Key((*key).to_owned())) };
    let value = ValueMatcher {
        match_pattern: Some(value_matcher::MatchPattern::StringMatch(
            string_matcher(pattern).unwrap_or_default(),
        )),
    };
    let list =
        ListMatcher { match_pattern: Some(list_matcher::MatchPattern::OneOf(Box::new(value.clone()))) };
    let in_list =
        ValueMatcher { match_pattern: Some(value_matcher::MatchPattern::ListMatch(Box::new(list))) };
    let either = OrMatcher { value_matchers: vec![in_list, value] };
    MetadataMatcher {
        filter: "envoy.filters.http.jwt_authn".into(),
        path: ["payload"].iter().chain(path).map(segment).collect(),
        value: Some(ValueMatcher { match_pattern: Some(value_matcher::MatchPattern::OrMatch(either)) }),
        invert: false,
    }
}

#[cfg(test)]
mod tests {
    use super::{claim, is_catch_all, route_match};
    use mizzen_proto::istio::networking::v1alpha3::HttpMatchRequest;
    use serde_json::{Value, json};

    fn read(value: Value) -> HttpMatchRequest {
        serde_json::from_value(value).unwrap()
    }

    #[test]
    fn only_a_match_of_every_request_is_a_catch_all() {
        for (request, is) in [
            (json!({"uri": {"prefix": "/"}}), true),
            (json!({"uri": {"regex": ".*"}}), true),
            (json!({}), true),
            (json!({"uri": {"exact": "/"}}), false),
            (json!({"uri": {"prefix": "/a"}}), false),
            (json!({"uri": {"prefix": "/"}, "headers": {"a": {"exact": "b"}}}), false),
            (json!({"queryParams": {"a": {"exact": "b"}}}), false),
            (json!({"headers": {"@request.auth.claims.a": {"exact": "b"}}}), false),
            (json!({"method": {"exact": "GET"}}), false),
        ] {
            assert_eq!(is_catch_all(&route_match(Some(&read(request.clone())))), is, "{request}");
        }
        assert!(is_catch_all(&route_match(None)));
    }

    #[test]
    fn headers_stand_in_order_and_the_special_ones_after_them() {
        let out = route_match(Some(&read(json!({
            "headers": {"b": {"exact": "1"}, "z": {"regex": "*"}},
            "withoutHeaders": {"a": {}, "c": {"prefix": "1"}},
            "scheme": {"exact": "http"}, "method": {"exact": "GET"}, "authority": {"prefix": "a"},
        }))));
        let seen: Vec<_> = out
            .headers
            .iter()
            .map(|header| (header.name.as_str(), header.invert_match, header.treat_missing_header_as_empty))
            .collect();
        let plain = |name| (name, false, false);
        assert_eq!(
            seen,
            [
                // A header that must be missing cannot count as empty.
                ("a", true, false),
                plain("b"),
                ("c", true, true),
                plain("z"),
                plain(":method"),
                plain(":authority"),
                plain(":scheme")
            ]
        );
    }

    #[test]
    fn claims_are_named_with_dots_or_brackets() {
        for (name, path) in [
            ("@request.auth.claims.admin", Some(vec!["admin"])),
            ("@request.auth.claims.group.id", Some(vec!["group", "id"])),
            ("@Request.Auth.Claims[group][id.x]", Some(vec!["group", "id.x"])),
            ("@request.auth.claims", None),
            ("@request.auth.claims.", None),
            ("@request.auth.claims[]", None),
            ("@request.auth.claims[", None),
            ("@request.auth.claimé", None),
            ("claims", None),
        ] {
            assert_eq!(claim(name), path, "{name}");
        }
    }
}
