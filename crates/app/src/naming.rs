//! How objects are called and marked: name, labels, annotations.

use crate::{
    front::{FrontEnd, shape::Fields, syntax},
    platform::Platform,
    setting::Setting,
};
use mizzen_api::{Identity, Kind};
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

/// `apiVersion:kind:namespace:name`; what lives in no namespace has three parts. Nothing for what is no object.
pub(crate) fn id(object: &Value) -> Option<String> {
    let text =
        |pointer: &str| object.pointer(pointer).and_then(Value::as_str).filter(|text| !text.is_empty());
    let (api_version, kind, name) = (text("/apiVersion")?, text("/kind")?, text("/metadata/name")?);
    let parts = [Some(api_version), Some(kind), text("/metadata/namespace"), Some(name)];
    Some(parts.into_iter().flatten().collect::<Vec<_>>().join(":"))
}

/// What Kubernetes has against the name of a plain object, or its namespace: which of the two, and a sentence. Istio's own kinds are
/// looked at by their rules.
pub(crate) fn refused_object(object: &Value) -> Option<(&'static str, String)> {
    if Identity::of(object).is_some_and(|identity| identity.istio_kind().is_some()) {
        return None;
    }
    let text = |pointer: &str| object.pointer(pointer).and_then(Value::as_str);
    let group = text("/apiVersion")?.split_once('/').map_or("", |(group, _)| group);
    let name = text("/metadata/name")?;
    let verdict = match (group, text("/kind")?) {
        // Part of a path, and nothing else.
        ("rbac.authorization.k8s.io", _) if ["", ".", ".."].contains(&name) || name.contains(['/', '%']) => {
            Err("must not be `.` or `..`, and have no `/` and no `%`".to_owned())
        }
        ("rbac.authorization.k8s.io", _) => Ok(()),
        ("", "Namespace") => names::dns_label(name),
        ("", "Service") => syntax::service(name),
        _ => names::subdomain(name),
    };
    if let Err(predicate) = verdict {
        return Some(("name", format!("Kubernetes refuses the name `{name}`: it {predicate}")));
    }
    let namespace = text("/metadata/namespace").filter(|namespace| !namespace.is_empty())?;
    let predicate = names::dns_label(namespace).err()?;
    Some(("namespace", format!("Kubernetes refuses the namespace `{namespace}`: it {predicate}")))
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
