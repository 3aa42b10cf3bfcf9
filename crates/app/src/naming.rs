//! How objects are called and marked: name, labels, annotations.

use crate::{
    front::{FrontEnd, shape::Fields},
    platform::Platform,
    setting::Setting,
};
use mizzen_api::Kind;
use mizzen_check::schema::names;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// The name of a block's object where the block does not say it.
pub(crate) fn name(app: &str, env: &str, front: &FrontEnd, key: &str, platform: &Platform) -> String {
    match &platform.name_template {
        // Nobody else's keys are touched: what the template makes of them is the platform's business.
        Some(template) => template
            .replace("{app}", app)
            .replace("{env}", env)
            .replace("{kind}", &front.kind.name().to_lowercase())
            .replace("{key}", key),
        None => format!("{app}-{}", key.replace('_', "-")),
    }
}

/// What Kubernetes, or Istio's webhook, has against a name.
pub(crate) fn refused(kind: Kind, name: &str) -> Option<String> {
    match kind {
        Kind::Gateway => names::dns_label(name),
        _ => names::subdomain(name),
    }
    .err()
}

/// Labels of one of the application's objects: those that are made, the platform's, the application's, its own.
pub(crate) fn labels(setting: &Setting, platform: &Platform, app: &Fields, own: Option<&Value>) -> Value {
    let mut labels: BTreeMap<&str, Value> = BTreeMap::from([
        ("app.kubernetes.io/component", json!(setting.app)),
        ("app.kubernetes.io/env", json!(setting.env)),
        ("app.kubernetes.io/instance", json!(setting.instance())),
        ("app.kubernetes.io/name", json!(setting.app)),
    ]);
    if let Some(cluster) = &setting.cluster {
        labels.insert("cluster.x-k8s.io/cluster-name", json!(cluster));
    }
    later(&mut labels, Some(&platform.labels));
    later(&mut labels, app.get("labels"));
    later(&mut labels, own);
    labels.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
}

/// The platform's annotations, the application's, and its own. Nothing where there are none.
pub(crate) fn annotations(platform: &Platform, app: &Fields, own: Option<&Value>) -> Option<Value> {
    let mut annotations = BTreeMap::new();
    later(&mut annotations, Some(&platform.annotations));
    later(&mut annotations, app.get("annotations"));
    later(&mut annotations, own);
    let annotations: Fields = annotations.into_iter().map(|(key, value)| (key.to_owned(), value)).collect();
    (!annotations.is_empty()).then_some(Value::Object(annotations))
}

fn later<'v>(all: &mut BTreeMap<&'v str, Value>, more: Option<&'v Value>) {
    let more = more.and_then(Value::as_object).into_iter().flatten();
    all.extend(more.map(|(key, value)| (key.as_str(), value.clone())));
}
