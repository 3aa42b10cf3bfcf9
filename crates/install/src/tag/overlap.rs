//! Injection webhooks that are in each other's way: pods that would be injected twice, and webhooks that nobody serves.
//!
//! Selectors are tried on every combination of the labels that injection knows, as istioctl does: there are few.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
};

use serde_json::Value;

use super::{REVISION, label, name};

type Labels<'v> = BTreeMap<&'v str, &'v str>;

/// What is wrong with a webhook configuration (IST0139).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conflict {
    /// The MutatingWebhookConfiguration.
    pub name: String,
    pub message: String,
}

impl fmt::Display for Conflict {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Error [IST0139] (MutatingWebhookConfiguration {}) {}", self.name, self.message)
    }
}

/// Each once, sorted. Those that have nothing to do with Istio are passed by.
pub fn conflicts(webhooks: &[&Value]) -> Vec<Conflict> {
    let of_istio = |webhook: &&&Value| {
        let named = |entry: &Value| entry["name"].as_str().is_some_and(|name| name.ends_with("istio.io"));
        label(webhook, REVISION).is_some() || entries(webhook).any(named)
    };
    let webhooks: Vec<&Value> = webhooks.iter().filter(of_istio).copied().collect();
    let revisions: BTreeSet<&str> = webhooks.iter().flat_map(|webhook| revisions(webhook)).collect();
    let namespaces = combinations("istio-injection", &["enabled", "disabled"], &revisions);
    let pods = combinations("sidecar.istio.io/inject", &["true", "false"], &revisions);

    let mut found = BTreeSet::new();
    for namespace in &namespaces {
        for pod in &pods {
            let matching: BTreeSet<(&str, &str)> = webhooks
                .iter()
                .flat_map(|webhook| entries(webhook).map(|entry| (name(webhook), entry)))
                .filter(|(_, entry)| {
                    matches(&entry["namespaceSelector"], namespace) && matches(&entry["objectSelector"], pod)
                })
                .map(|(name, entry)| (name, entry["name"].as_str().unwrap_or_default()))
                .collect();
            for &one in matching.iter().filter(|_| matching.len() > 1) {
                let others = matching.iter().filter(|other| **other != one);
                let others: Vec<String> = others.map(|(name, entry)| format!("{name}/{entry}")).collect();
                let message = format!(
                    "Webhook overlaps with others: [{}]. This may cause injection to occur twice.",
                    others.join(" ")
                );
                found.insert((one.0.to_owned(), message));
            }
        }
    }
    found.into_iter().map(|(name, message)| Conflict { name, message }).collect()
}

fn entries(webhook: &Value) -> impl Iterator<Item = &Value> {
    webhook["webhooks"].as_array().into_iter().flatten()
}

/// The label of the configuration and whatever its selectors ask for.
fn revisions(webhook: &Value) -> Vec<&str> {
    let mut found: Vec<&str> = label(webhook, REVISION).into_iter().collect();
    for entry in entries(webhook) {
        for selector in [&entry["namespaceSelector"], &entry["objectSelector"]] {
            found.extend(selector["matchLabels"][REVISION].as_str());
            let expressions = selector["matchExpressions"].as_array().into_iter().flatten();
            for expression in expressions.filter(|expression| expression["key"] == REVISION) {
                let values = expression["values"].as_array().into_iter().flatten();
                found.extend(values.filter_map(Value::as_str));
            }
        }
    }
    found
}

/// The key without a value and with each of its values; each without a revision and with each of them.
fn combinations<'v>(key: &'v str, values: &[&'v str], revisions: &BTreeSet<&'v str>) -> Vec<Labels<'v>> {
    let plain = [Labels::new()].into_iter().chain(values.iter().map(|value| Labels::from([(key, *value)])));
    let plain: Vec<Labels<'v>> = plain.collect();
    let mut all = plain.clone();
    for revision in revisions {
        all.extend(plain.iter().cloned().map(|mut labels| {
            labels.insert(REVISION, revision);
            labels
        }));
    }
    all
}

/// As Kubernetes matches: no selector takes everything, a wrong one nothing.
fn matches(selector: &Value, labels: &Labels<'_>) -> bool {
    let wanted = selector["matchLabels"].as_object().into_iter().flatten();
    let mut wanted = wanted.map(|(key, value)| labels.get(key.as_str()).copied() == value.as_str());
    let mut expressions = selector["matchExpressions"].as_array().into_iter().flatten();
    wanted.all(|matches| matches)
        && expressions.all(|expression| {
            let here = labels.get(expression["key"].as_str().unwrap_or_default()).copied();
            let mut values = expression["values"].as_array().into_iter().flatten().filter_map(Value::as_str);
            let among = here.is_some_and(|here| values.any(|value| value == here));
            match expression["operator"].as_str() {
                Some("In") => among,
                Some("NotIn") => !among,
                Some("Exists") => here.is_some(),
                Some("DoesNotExist") => here.is_none(),
                _ => false,
            }
        })
}
