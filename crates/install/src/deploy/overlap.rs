//! Webhooks that would both inject one pod.
//!
//! Every kind of namespace and pod that labels can make is tried against all selectors, those in the cluster and those to come.

use super::labels;
use serde_json::{Map, Value};
use std::collections::BTreeSet;

const REVISION: &str = labels::REVISION;
const INJECTION: &str = "istio-injection";
const INJECT: &str = "sidecar.istio.io/inject";

/// A sentence for each of the coming webhooks that meets another one.
pub(super) fn overlaps(coming: &[Value], there: &[Value]) -> Vec<String> {
    let name = |webhook: &Value| {
        webhook.pointer("/metadata/name").and_then(Value::as_str).unwrap_or_default().to_owned()
    };
    let replaced: BTreeSet<String> = coming.iter().map(name).collect();
    let all: Vec<(&Value, bool)> = coming
        .iter()
        .map(|webhook| (webhook, true))
        .chain(
            there.iter().filter(|webhook| !replaced.contains(&name(webhook))).map(|webhook| (webhook, false)),
        )
        .filter(|(webhook, _)| injects(webhook))
        .collect();
    let revisions: BTreeSet<&str> = all.iter().flat_map(|(webhook, _)| revisions(webhook)).collect();
    let revisions: Vec<Option<&str>> = [None].into_iter().chain(revisions.into_iter().map(Some)).collect();
    let mut found = BTreeSet::new();
    for namespace in namespaces(&revisions) {
        for pod in pods(&revisions) {
            let matching: Vec<(String, bool)> = all
                .iter()
                .filter(|(webhook, _)| {
                    entries(webhook).any(|entry| {
                        selects(entry.get("namespaceSelector"), &namespace)
                            && selects(entry.get("objectSelector"), &pod)
                    })
                })
                .map(|(webhook, is_coming)| (name(webhook), *is_coming))
                .collect();
            for (one, is_coming) in &matching {
                if *is_coming {
                    let others = matching.iter().filter(|(other, _)| other != one);
                    found.extend(others.map(|(other, _)| (one.clone(), other.clone())));
                }
            }
        }
    }
    let told = found.iter().map(|(one, other)| {
        format!("MutatingWebhookConfiguration {one} overlaps with {other}: some pods would be injected twice [IST0139]")
    });
    told.collect()
}

fn entries(webhook: &Value) -> impl Iterator<Item = &Value> {
    webhook.get("webhooks").and_then(Value::as_array).into_iter().flatten()
}

fn injects(webhook: &Value) -> bool {
    entries(webhook).any(|entry| entry["name"].as_str().is_some_and(|name| name.ends_with("istio.io")))
}

fn expressions(selector: Option<&Value>) -> impl Iterator<Item = &Value> {
    selector
        .and_then(|selector| selector.get("matchExpressions"))
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
}

fn revisions(webhook: &Value) -> Vec<&str> {
    let mut all: Vec<&str> = labels::of(webhook, REVISION).into_iter().collect();
    for entry in entries(webhook) {
        for selector in ["namespaceSelector", "objectSelector"].map(|field| entry.get(field)) {
            all.extend(selector.and_then(|selector| selector.get("matchLabels")?.get(REVISION)?.as_str()));
            let about = expressions(selector).filter(|expression| expression["key"] == REVISION);
            all.extend(
                about
                    .flat_map(|expression| expression["values"].as_array())
                    .flatten()
                    .filter_map(Value::as_str),
            );
        }
    }
    all
}

type Labels<'a> = Vec<(&'static str, &'a str)>;

fn namespaces<'a>(revisions: &[Option<&'a str>]) -> Vec<Labels<'a>> {
    product([None, Some("enabled"), Some("disabled")].map(|value| (INJECTION, value)), revisions)
}

fn pods<'a>(revisions: &[Option<&'a str>]) -> Vec<Labels<'a>> {
    product([None, Some("true"), Some("false")].map(|value| (INJECT, value)), revisions)
}

fn product<'a>(
    first: [(&'static str, Option<&'a str>); 3],
    revisions: &[Option<&'a str>],
) -> Vec<Labels<'a>> {
    let both = first.iter().flat_map(|(key, value)| {
        revisions.iter().map(move |revision| [(*key, *value), (REVISION, *revision)])
    });
    both.map(|both| both.into_iter().filter_map(|(key, value)| Some((key, value?))).collect()).collect()
}

/// As Kubernetes does; nothing selects everything, and what cannot be understood nothing.
fn selects(selector: Option<&Value>, labels: &Labels<'_>) -> bool {
    let Some(selector) = selector.filter(|selector| !selector.is_null()) else { return true };
    let label = |key: &str| labels.iter().find(|(name, _)| *name == key).map(|(_, value)| *value);
    let empty = Map::new();
    let wanted = selector.get("matchLabels").and_then(Value::as_object).unwrap_or(&empty);
    let exact = wanted.iter().all(|(key, value)| label(key) == value.as_str());
    exact
        && expressions(Some(selector)).all(|expression| {
            let found = label(expression["key"].as_str().unwrap_or_default());
            let values = expression["values"].as_array();
            let among = |value: &str| values.is_some_and(|values| values.iter().any(|one| one == value));
            match expression["operator"].as_str() {
                Some("In") => found.is_some_and(among),
                Some("NotIn") => !found.is_some_and(among),
                Some("Exists") => found.is_some(),
                Some("DoesNotExist") => found.is_none(),
                _ => false,
            }
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn webhook(name: &str, namespaces: &Value) -> Value {
        json!({ "metadata": { "name": name }, "webhooks": [{
            "name": "namespace.sidecar-injector.istio.io", "namespaceSelector": namespaces, "objectSelector": {} }] })
    }

    #[test]
    fn two_that_take_the_same_namespace_overlap_and_one_replaced_by_itself_does_not() {
        let enabled = json!({ "matchLabels": { "istio-injection": "enabled" } });
        let canary = json!({ "matchExpressions": [
            { "key": "istio.io/rev", "operator": "In", "values": ["canary"] },
            { "key": "istio-injection", "operator": "DoesNotExist" }] });
        let never = json!({ "matchLabels": { "istio.io/deactivated": "never-match" } });
        let ours = [webhook("ours", &enabled)];
        assert_eq!(
            overlaps(&ours, &[webhook("other", &enabled)]),
            [
                "MutatingWebhookConfiguration ours overlaps with other: some pods would be injected twice [IST0139]"
            ]
        );
        for fine in [webhook("ours", &enabled), webhook("other", &canary), webhook("other", &never)] {
            assert_eq!(overlaps(&ours, std::slice::from_ref(&fine)), Vec::<String>::new(), "{fine}");
        }
        let everything = webhook("everything", &Value::Null);
        assert_eq!(overlaps(&ours, &[everything]).len(), 1);
        let mut foreign = webhook("foreign", &enabled);
        foreign["webhooks"][0]["name"] = "x.example.com".into();
        assert_eq!(overlaps(&ours, &[foreign]), Vec::<String>::new(), "not Istio's");
    }
}
