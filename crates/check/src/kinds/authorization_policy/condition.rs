//! `when`: an attribute and the values that it may or may not have.

use super::value::{self, Sort};
use crate::{Findings, value::Verdict};
use mizzen_api::proto::istio::security::v1beta1::{Condition, authorization_policy::Action};
use mizzen_text::At;

const CLAIMS: &str = "request.auth.claims";

pub(super) fn check(action: Action, condition: &Condition, at: &At<'_>, found: &mut Findings) {
    let key = condition.key.as_str();
    let at_key = at.field("key");
    if action == Action::Custom && asks_who(key) {
        found.error(&at_key, format!("{key} is currently not supported with CUSTOM action"));
    }
    if key.is_empty() {
        found.error(&at_key, "`key` must not be empty");
        return;
    }
    if condition.values.is_empty() && condition.not_values.is_empty() {
        found.error(at, format!("at least one of `values` or `notValues` must be set for key {key}"));
        return;
    }
    let sort = match attribute(key) {
        Ok(sort) => sort,
        Err(wrong) => {
            found.error(&at_key, wrong);
            // Of an attribute that nobody knows any value is as good as another, but none.
            Sort::Name
        }
    };
    value::list(sort, &condition.values, &at.field("values"), found);
    value::list(sort, &condition.not_values, &at.field("notValues"), found);
}

/// An external authorizer is asked before it is known who asks.
fn asks_who(key: &str) -> bool {
    matches!(key, "source.namespace" | "source.serviceAccount" | "source.trustDomain" | "source.principal")
        || key.starts_with("request.auth.")
}

/// What the values of an attribute are.
fn attribute(key: &str) -> Result<Sort, String> {
    match key {
        "source.ip" | "remote.ip" | "destination.ip" => Ok(Sort::Address),
        "source.serviceAccount" => Ok(Sort::ServiceAccount),
        "source.trustDomain" => Ok(Sort::Wildcard),
        "destination.port" => Ok(Sort::Port),
        "source.namespace"
        | "source.principal"
        | "request.auth.principal"
        | "request.auth.audiences"
        | "request.auth.presenter"
        | "connection.sni" => Ok(Sort::Name),
        "destination.namespace" => Err(format!("attribute {key} is replaced by the metadata.namespace")),
        "destination.name" | "destination.user" => {
            Err(format!("deprecated attribute {key}: only supported in v1alpha1"))
        }
        _ if ["request.headers", CLAIMS, "experimental.envoy.filters."]
            .iter()
            .any(|prefix| key.starts_with(prefix)) =>
        {
            in_brackets(key).map(|()| Sort::Name)
        }
        _ if key.starts_with("destination.labels") => {
            Err(format!("attribute {key} is replaced by the workload selector"))
        }
        _ => Err(format!("unknown attribute: {key}")),
    }
}

/// `a[b]`, where `b` may be anything.
fn in_brackets(key: &str) -> Verdict {
    let inner = key.strip_suffix(']').and_then(|key| key.split_once('['));
    match inner {
        Some((_, name)) if !name.is_empty() => Ok(()),
        _ => Err(format!("bad key ({key}): should have format a[b]")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_are_known_by_name_or_by_prefix() {
        for (key, sort) in [
            ("request.headers[a]", Sort::Name),
            ("request.headersX[a]", Sort::Name),
            ("request.auth.claims[a][b]", Sort::Name),
            ("experimental.envoy.filters.a[b]", Sort::Name),
            ("source.ip", Sort::Address),
            ("destination.port", Sort::Port),
            ("source.trustDomain", Sort::Wildcard),
            ("connection.sni", Sort::Name),
        ] {
            assert_eq!(attribute(key), Ok(sort), "{key}");
        }
        for key in [
            "request.headers",
            "request.headers[]",
            "request.headers[a",
            "request.auth.claims]a[",
            "experimental.envoy.filters.a",
            "destination.labels[a]",
            "destination.name",
            "destination.user",
            "destination.namespace",
            "source",
            "SOURCE.IP",
        ] {
            assert!(attribute(key).is_err(), "{key}");
        }
    }
}
