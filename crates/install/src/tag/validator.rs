//! The webhook that validates Istio objects that name no revision. It follows the tag `default`.

use serde_json::{Value, json};

use super::{DEFAULT, NoTag, REVISION, TAG, VALIDATOR, canonical::Canonical, chart};
use crate::{Charts, ChartsError, tree};

/// Where Istio's own charts have it.
const OWN_CHART: &str = "default";
/// Where it is in sources that have no such chart, ours among them.
const BASE_CHART: &str = "base";
const KIND: &str = "ValidatingWebhookConfiguration";

/// Without what belongs to the tag: labels, annotations, authority.
pub(super) fn rendered(
    canonical: &Canonical<'_>,
    namespace: &str,
    charts: &dyn Charts,
) -> Result<Value, NoTag> {
    let mut values = json!({
        "revision": canonical.revision,
        "base": { "validationURL": canonical.url.map(validation).unwrap_or_default() },
        "global": { "istioNamespace": namespace },
    });
    let chart = match charts.chart(OWN_CHART) {
        Ok(chart) => chart,
        Err(ChartsError::NoChart { .. }) => {
            let revision = if canonical.revision.is_empty() { DEFAULT } else { canonical.revision };
            values["defaultRevision"] = json!(revision);
            charts.chart(BASE_CHART)?
        }
        Err(error) => return Err(error.into()),
    };
    let objects = chart::alone(&chart, &values, namespace)?;
    let found = objects.iter().find(|object| object.kind() == KIND && object.name() == VALIDATOR);
    let found = found.ok_or_else(|| NoTag::NotInCharts { kind: KIND, charts: charts.describe() })?;
    let mut object = found.object().clone();
    // The chart `base` says less than `default`: whose it is, and that objects of a revision have a webhook of their own.
    tree::merge(
        &mut object,
        &json!({ "metadata": { "labels": { TAG: DEFAULT, "operator.istio.io/component": "Pilot" } } }),
    );
    for webhook in object["webhooks"].as_array_mut().into_iter().flatten() {
        webhook["objectSelector"] =
            json!({ "matchExpressions": [{ "key": REVISION, "operator": "DoesNotExist" }] });
    }
    Ok(object)
}

/// Where a control plane elsewhere validates, from where it injects.
fn validation(injection: &str) -> String {
    let path = injection.find("://").map_or(0, |at| at + 3);
    let end = injection[path..].find(['/', '?', '#']).map_or(injection.len(), |at| path + at);
    let rest = injection[end..].find(['?', '#']).map_or("", |at| &injection[end + at..]);
    format!("{}/validate{rest}", &injection[..end])
}

/// A policy that istiod has made strict is not sent, so that it stays; what is sent otherwise is what is there.
pub(super) fn keep_policy(object: &mut Value, live: &Value) {
    let live = |name: &Value| {
        live["webhooks"].as_array().into_iter().flatten().find(|webhook| webhook["name"] == *name)
    };
    for webhook in object["webhooks"].as_array_mut().into_iter().flatten() {
        let Some(policy) = live(&webhook["name"]).map(|webhook| webhook["failurePolicy"].clone()) else {
            continue;
        };
        if policy.is_null() || policy == "Fail" {
            tree::remove(webhook, &["failurePolicy"]);
        } else {
            webhook["failurePolicy"] = policy;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn validation_is_at_the_same_place_as_injection() {
        for (injection, wanted) in [
            ("https://a:15017/inject", "https://a:15017/validate"),
            ("https://a:15017/inject/cluster/c/net/n", "https://a:15017/validate"),
            ("https://a", "https://a/validate"),
            ("https://a/inject?x=1", "https://a/validate?x=1"),
        ] {
            assert_eq!(validation(injection), wanted);
        }
    }

    #[test]
    fn a_strict_policy_is_left_to_who_made_it_strict() {
        let webhook = |policy: &str| json!({ "webhooks": [{ "name": "a", "failurePolicy": policy }] });
        for (live, wanted) in [
            (webhook("Fail"), json!({ "webhooks": [{ "name": "a" }] })),
            (webhook("Ignore"), webhook("Ignore")),
            (json!({ "webhooks": [{ "name": "b", "failurePolicy": "Fail" }] }), webhook("Ignore")),
            (Value::Null, webhook("Ignore")),
        ] {
            let mut object = webhook("Ignore");
            keep_policy(&mut object, &live);
            assert_eq!(object, wanted, "{live}");
        }
    }
}
