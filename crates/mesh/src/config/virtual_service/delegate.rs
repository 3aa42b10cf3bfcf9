//! Delegates: routes that one VirtualService leaves to another.
//!
//! A root's route that names a delegate becomes the delegate's routes, each narrowed by the root's conditions. A
//! delegate's route that asks for something outside of them is dropped, and told.

use super::prepare::{Lookup, delegate_key, visibility, whole};
use crate::{Key, Settings};
use mizzen_api::proto::istio::networking::v1alpha3::{
    HttpMatchRequest, HttpRoute, StringMatch, string_match::MatchType,
};
use prost::Message;
use std::collections::{BTreeMap, BTreeSet};

/// Merging multiplies: small objects could ask for more memory and time than there is. In bytes of what is made, for one root.
const LARGEST: usize = 16 << 20;
/// What one comparison costs in these.
const COMPARISON: usize = 16;

#[derive(Default)]
pub(super) struct Merge {
    pub(super) delegates: BTreeSet<Key>,
    pub(super) problems: Vec<String>,
    spent: usize,
}

impl Merge {
    /// The root's routes (names whole), with those of its delegates in their places.
    pub(super) fn routes(
        &mut self,
        root: &Key,
        routes: Vec<HttpRoute>,
        settings: &Settings,
        lookup: &Lookup<'_>,
    ) -> Vec<HttpRoute> {
        let mut merged = Vec::with_capacity(routes.len());
        let mut ready = BTreeMap::new();
        for mut route in routes {
            let Some(delegate) = route.delegate.take() else {
                merged.push(route);
                continue;
            };
            let key = delegate_key(&delegate, &root.namespace);
            self.delegates.insert(key.clone());
            let found = lookup(&key).filter(|(_, spec)| spec.hosts.is_empty());
            let Some((_, spec)) = found else {
                self.problem(format!(
                    "the delegate {key} is not there, or has hosts and is none; its route is left out"
                ));
                continue;
            };
            if !visibility(spec, &key.namespace, settings).includes(&root.namespace) {
                self.problem(format!(
                    "the delegate {key} is not exported to this namespace; its route is left out"
                ));
                continue;
            }
            let parts = ready
                .entry(key.clone())
                .or_insert_with(|| whole(spec, &key.namespace, &settings.domain).http);
            for part in parts.iter() {
                match self.narrowed(&route, part) {
                    Ok(part) => merged.push(part),
                    Err(Unmerged::Conflict) => self.problem(format!(
                        "route {:?} of the delegate {key} wants what the route {:?} here does not give it; it is left out",
                        part.name, route.name
                    )),
                    Err(Unmerged::TooLarge) => {
                        self.problem(format!("with its delegates it is larger than {LARGEST} bytes; the rest is left out"));
                        return merged;
                    }
                }
            }
        }
        merged
    }

    /// A hostile object must not fill the memory with complaints, either.
    fn problem(&mut self, problem: String) {
        if self.problems.len() < 20 && !self.problems.contains(&problem) {
            self.problems.push(problem);
        }
    }

    fn spend(&mut self, cost: usize) -> Result<(), Unmerged> {
        self.spent = self.spent.saturating_add(cost);
        if self.spent > LARGEST { Err(Unmerged::TooLarge) } else { Ok(()) }
    }

    fn narrowed(&mut self, root: &HttpRoute, part: &HttpRoute) -> Result<HttpRoute, Unmerged> {
        let mut merged = part.clone();
        merged.r#match = self.matches(&root.r#match, &part.r#match)?;
        merged.name = joined(&root.name, &part.name);
        merged.rewrite = merged.rewrite.or_else(|| root.rewrite.clone());
        merged.direct_response = merged.direct_response.or_else(|| root.direct_response.clone());
        merged.timeout = merged.timeout.or(root.timeout);
        merged.retries = merged.retries.or_else(|| root.retries.clone());
        merged.fault = merged.fault.or_else(|| root.fault.clone());
        merged.mirror = merged.mirror.or_else(|| root.mirror.clone());
        merged.mirror_percent = merged.mirror_percent.or(root.mirror_percent);
        merged.mirror_percentage = merged.mirror_percentage.or(root.mirror_percentage);
        merged.cors_policy = merged.cors_policy.or_else(|| root.cors_policy.clone());
        merged.headers = merged.headers.or_else(|| root.headers.clone());
        if merged.mirrors.is_empty() {
            merged.mirrors.clone_from(&root.mirrors);
        }
        self.spend(merged.encoded_len())?;
        Ok(merged)
    }

    /// Every condition of the part within every one of the root's that it fits in; it must fit in one at least.
    fn matches(
        &mut self,
        root: &[HttpMatchRequest],
        part: &[HttpMatchRequest],
    ) -> Result<Vec<HttpMatchRequest>, Unmerged> {
        if root.is_empty() {
            return Ok(part.to_vec());
        }
        if part.is_empty() {
            return Ok(root.to_vec());
        }
        let mut merged = Vec::new();
        for inner in part {
            let before = merged.len();
            for outer in root {
                self.spend(
                    COMPARISON.saturating_mul(1 + outer.gateways.len().saturating_mul(inner.gateways.len())),
                )?;
                if !conflicts(outer, inner) {
                    let both = both(outer, inner);
                    self.spend(both.encoded_len())?;
                    merged.push(both);
                }
            }
            if merged.len() == before {
                return Err(Unmerged::Conflict);
            }
        }
        Ok(merged)
    }
}

enum Unmerged {
    Conflict,
    TooLarge,
}

fn joined(outer: &str, inner: &str) -> String {
    match (outer, inner) {
        (name, "") | ("", name) => name.to_owned(),
        (outer, inner) => format!("{outer}-{inner}"),
    }
}

/// Both conditions as one. Where both say something, the inner one is the narrower.
fn both(outer: &HttpMatchRequest, inner: &HttpMatchRequest) -> HttpMatchRequest {
    let or =
        |inner: &Option<StringMatch>, outer: &Option<StringMatch>| inner.clone().or_else(|| outer.clone());
    let text = |inner: &String, outer: &String| if inner.is_empty() { outer.clone() } else { inner.clone() };
    HttpMatchRequest {
        name: joined(&outer.name, &inner.name),
        uri: or(&inner.uri, &outer.uri),
        scheme: or(&inner.scheme, &outer.scheme),
        method: or(&inner.method, &outer.method),
        authority: or(&inner.authority, &outer.authority),
        headers: together(&outer.headers, &inner.headers),
        without_headers: together(&outer.without_headers, &inner.without_headers),
        query_params: together(&outer.query_params, &inner.query_params),
        source_labels: together(&outer.source_labels, &inner.source_labels),
        port: if inner.port == 0 { outer.port } else { inner.port },
        source_namespace: text(&inner.source_namespace, &outer.source_namespace),
        gateways: if inner.gateways.is_empty() { outer.gateways.clone() } else { inner.gateways.clone() },
        stat_prefix: text(&inner.stat_prefix, &outer.stat_prefix),
        ignore_uri_case: inner.ignore_uri_case,
    }
}

fn together<V: Clone>(outer: &BTreeMap<String, V>, inner: &BTreeMap<String, V>) -> BTreeMap<String, V> {
    outer.iter().chain(inner).map(|(key, value)| (key.clone(), value.clone())).collect()
}

/// Whether the inner condition reaches out of the outer one.
fn conflicts(outer: &HttpMatchRequest, inner: &HttpMatchRequest) -> bool {
    let texts = [
        (&outer.uri, &inner.uri),
        (&outer.scheme, &inner.scheme),
        (&outer.method, &inner.method),
        (&outer.authority, &inner.authority),
    ];
    let maps = [
        (&outer.headers, &inner.headers),
        (&outer.without_headers, &inner.without_headers),
        (&outer.query_params, &inner.query_params),
    ];
    let apart = |outer: Option<&StringMatch>, inner: Option<&StringMatch>| match (outer, inner) {
        (Some(outer), Some(inner)) => !within(outer, inner),
        _ => false,
    };
    texts.into_iter().any(|(outer, inner)| apart(outer.as_ref(), inner.as_ref()))
        || maps
            .into_iter()
            .any(|(outer, inner)| inner.iter().any(|(key, inner)| apart(outer.get(key), Some(inner))))
        || outer.ignore_uri_case != inner.ignore_uri_case
        || (outer.port > 0 && inner.port > 0 && outer.port != inner.port)
        || (!outer.source_namespace.is_empty() && outer.source_namespace != inner.source_namespace)
        || inner
            .source_labels
            .iter()
            .any(|(key, inner)| outer.source_labels.get(key).is_some_and(|outer| outer != inner))
        || (!outer.gateways.is_empty()
            && (outer.gateways.len() < inner.gateways.len()
                || inner.gateways.iter().any(|gateway| !outer.gateways.contains(gateway))))
}

/// Whether whatever the inner one takes is taken by the outer one. Of regular expressions nobody can tell.
fn within(outer: &StringMatch, inner: &StringMatch) -> bool {
    match (&outer.match_type, &inner.match_type) {
        (Some(MatchType::Exact(outer)), Some(MatchType::Exact(inner))) => !outer.is_empty() && outer == inner,
        (Some(MatchType::Prefix(outer)), Some(MatchType::Prefix(inner) | MatchType::Exact(inner))) => {
            !outer.is_empty() && !inner.is_empty() && inner.starts_with(outer.as_str())
        }
        _ => false,
    }
}
