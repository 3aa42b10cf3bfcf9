//! Matches by a prefix of the path that an earlier, shorter prefix takes everything from.
//!
//! Istio compares each with each. Here the prefixes are sorted, so that each knows the next shorter one that it begins
//! with, and only those are compared; how many are told is bounded, for there can be as many as pairs.

use super::unreachable::{ineffective, match_name, rule_name};
use crate::Findings;
use mizzen_api::proto::istio::networking::v1alpha3::{
    HttpMatchRequest, HttpRoute, StringMatch, string_match::MatchType,
};
use mizzen_text::At;
use std::collections::BTreeMap;

const MOST_COMPARED: usize = 1_000_000;
const MOST_TOLD: usize = 1_000;

#[derive(Default)]
pub(super) struct Overlaps<'a> {
    /// By the prefix of the path; each list in the order of the rules.
    by_prefix: BTreeMap<&'a str, Vec<Candidate<'a>>>,
}

struct Candidate<'a> {
    /// The numbers of its rule and of the match in it.
    at: (usize, usize),
    one: &'a HttpMatchRequest,
}

impl<'a> Overlaps<'a> {
    pub(super) fn add(&mut self, at: (usize, usize), one: &'a HttpMatchRequest) {
        if let Some(StringMatch { match_type: Some(MatchType::Prefix(prefix)) }) = &one.uri
            && !prefix.is_empty()
        {
            self.by_prefix.entry(prefix).or_default().push(Candidate { at, one });
        }
    }

    pub(super) fn tell(&self, routes: &[HttpRoute], at: &At<'_>, found: &mut Findings) {
        let mut compared = 0;
        let mut told = 0;
        // Sorted, what begins with a prefix follows it: the stack holds the prefixes that the present one begins with.
        let mut shorter: Vec<(&str, &[Candidate<'_>])> = Vec::new();
        for (prefix, candidates) in &self.by_prefix {
            while shorter.pop_if(|(other, _)| !prefix.starts_with(*other)).is_some() {}
            for later in candidates {
                for (other, earlier) in
                    shorter.iter().flat_map(|(other, all)| all.iter().map(move |one| (*other, one)))
                {
                    compared += 1;
                    if compared > MOST_COMPARED || told >= MOST_TOLD {
                        found.warning(at, "there are too many overlapping matches to list them all");
                        return;
                    }
                    if earlier.at < later.at && covers(earlier.one, later.one) {
                        told += 1;
                        warn(routes, (other, earlier.at), (prefix, later.at), at, found);
                    }
                }
            }
            shorter.push((prefix, candidates));
        }
    }
}

fn warn(
    routes: &[HttpRoute],
    (other, earlier): (&str, (usize, usize)),
    (prefix, later): (&str, (usize, usize)),
    at: &At<'_>,
    found: &mut Findings,
) {
    let names = |(rule, one): (usize, usize)| {
        routes.get(rule).map(|route| (rule_name(rule, route), match_name(one, route))).unwrap_or_default()
    };
    let (earlier_rule, earlier_match) = names(earlier);
    let (later_rule, later_match) = names(later);
    let at = at.index(later.0);
    let at = at.field("match");
    found.warning(
        &at.index(later.1),
        ineffective(
            &later_rule,
            &format!("{later_match} of prefix {prefix}"),
            &format!("{earlier_match} of prefix {other} on {earlier_rule}"),
        ),
    );
}

/// Does the earlier one take all that the later one would? In Istio's sense, which asks the later one to be no narrower
/// in anything but the path.
fn covers(earlier: &HttpMatchRequest, later: &HttpMatchRequest) -> bool {
    earlier.port == later.port
        && within(method(earlier), method(later))
        && within(Text::of(earlier.authority.as_ref()), Text::of(later.authority.as_ref()))
        && all_within(&earlier.headers, &later.headers)
        && all_within(&earlier.query_params, &later.query_params)
        && all_within(&earlier.without_headers, &later.without_headers)
}

#[derive(Clone, Copy)]
enum Text<'a> {
    /// Also whatever is matched by an expression.
    Any,
    Exact(&'a str),
    Prefix(&'a str),
}

impl<'a> Text<'a> {
    fn of(text: Option<&'a StringMatch>) -> Self {
        match text.and_then(|text| text.match_type.as_ref()) {
            Some(MatchType::Exact(text)) if !text.is_empty() => Self::Exact(text),
            Some(MatchType::Prefix(text)) if !text.is_empty() => Self::Prefix(text),
            _ => Self::Any,
        }
    }
}

/// GET, where there is none.
fn method(one: &HttpMatchRequest) -> Text<'_> {
    match Text::of(one.method.as_ref()) {
        Text::Any => Text::Exact("GET"),
        text => text,
    }
}

fn within(inner: Text<'_>, outer: Text<'_>) -> bool {
    match (inner, outer) {
        (_, Text::Any) => true,
        (Text::Exact(inner), Text::Exact(outer)) | (Text::Prefix(inner), Text::Prefix(outer)) => {
            inner.starts_with(outer)
        }
        _ => false,
    }
}

fn all_within(inner: &BTreeMap<String, StringMatch>, outer: &BTreeMap<String, StringMatch>) -> bool {
    inner.len() == outer.len()
        && inner.iter().zip(outer).all(|((name, text), (other, other_text))| {
            name == other && within(Text::of(Some(text)), Text::of(Some(other_text)))
        })
}
