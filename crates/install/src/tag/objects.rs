//! The objects of a tag: its injection webhook, its Service, and for `default` the validation webhook.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{DEFAULT, NoTag, TAG, canonical::Canonical, chart, label, validator};
use crate::{Charts, Manifest, tree};

/// Labels of those that an installer may change and delete.
const INSTALLER: &str = "operator.istio.io";
const WEBHOOK: &str = "istio-revision-tag-";

/// A tag that is to be made.
#[derive(Clone, Debug, Default)]
pub struct Tag {
    pub name: String,
    /// The control plane's.
    pub namespace: String,
    /// Also pods in namespaces without any label are injected. Only `default` can.
    pub auto_inject: bool,
    /// Labels that all its objects get.
    pub labels: BTreeMap<String, String>,
    /// No installer shall touch it.
    pub user_managed: bool,
    /// Another name for the injection webhook.
    pub webhook_name: Option<String>,
    /// The validation webhook of the tag `default` as it is in the cluster, if it is there.
    pub validator: Option<Value>,
}

impl Tag {
    /// In the order in which istioctl prints them. `webhook` is the MutatingWebhookConfiguration of the revision: the one that has the
    /// label `istio.io/rev` and no `istio.io/tag`.
    pub fn objects(&self, webhook: &Value, charts: &dyn Charts) -> Result<Vec<Value>, NoTag> {
        let canonical = Canonical::read(webhook)?;
        let mut objects = vec![self.injection(&canonical, charts)?];
        if self.name == DEFAULT {
            objects.push(self.validation(&canonical, charts)?);
        }
        objects.push(self.service(&canonical, charts)?);
        Ok(objects)
    }

    fn injection(&self, canonical: &Canonical<'_>, charts: &dyn Charts) -> Result<Value, NoTag> {
        let mut values = json!({
            "revisionTags": [self.name],
            "sidecarInjectorWebhook": { "enableNamespacesByDefault": self.auto_inject },
            "istiodRemote": { "injectionURL": canonical.url.unwrap_or_default() },
        });
        if let Some(policy) = canonical.reinvocation {
            tree::put(&mut values, &["sidecarInjectorWebhook", "reinvocationPolicy"], json!(policy));
        }
        let objects = chart::control_plane(&values, canonical.revision, &self.namespace, charts)?;
        let kind = "MutatingWebhookConfiguration";
        let found = objects.iter().find(|object| object.kind() == kind && object.name().starts_with(WEBHOOK));
        let mut object = taken(found, kind, charts)?;
        for webhook in object["webhooks"].as_array_mut().into_iter().flatten() {
            if let (Some((name, path)), Some(Value::Object(service))) =
                (canonical.service, webhook.pointer_mut("/clientConfig/service"))
            {
                service.insert("name".to_owned(), name.clone());
                service.insert("path".to_owned(), path.cloned().unwrap_or_else(|| json!("")));
            }
        }
        if let Some(name) = self.webhook_name.as_deref().filter(|name| !name.is_empty()) {
            object["metadata"]["name"] = json!(name);
        }
        self.finish(&mut object, Some(canonical));
        Ok(object)
    }

    fn validation(&self, canonical: &Canonical<'_>, charts: &dyn Charts) -> Result<Value, NoTag> {
        let mut object = validator::rendered(canonical, &self.namespace, charts)?;
        self.finish(&mut object, Some(canonical));
        if let Some(live) = &self.validator {
            validator::keep_policy(&mut object, live);
        }
        Ok(object)
    }

    /// It selects pods by the revision's label, which those of the default one have as well.
    fn service(&self, canonical: &Canonical<'_>, charts: &dyn Charts) -> Result<Value, NoTag> {
        let revision = if canonical.revision.is_empty() { DEFAULT } else { canonical.revision };
        let values = json!({ "revisionTags": [self.name] });
        let objects = chart::control_plane(&values, revision, &self.namespace, charts)?;
        let of_tag = |object: &&Manifest| {
            object.kind() == "Service" && label(object.object(), TAG) == Some(self.name.as_str())
        };
        let mut object = taken(objects.iter().find(of_tag), "Service tag", charts)?;
        self.finish(&mut object, None);
        Ok(object)
    }

    /// Labels, annotations and authority. A webhook has those of the revision's.
    fn finish(&self, object: &mut Value, canonical: Option<&Canonical<'_>>) {
        let metadata = tree::map_at(&mut object["metadata"]);
        let labels = tree::map_at(metadata.entry("labels").or_insert(Value::Null));
        if let Some(canonical) = canonical {
            labels.extend(canonical.labels.clone());
        }
        labels.extend(self.labels.iter().map(|(name, value)| (name.clone(), json!(value))));
        if self.user_managed {
            labels.retain(|name, _| !name.contains(INSTALLER));
        }
        let Some(canonical) = canonical else { return };
        if !canonical.annotations.is_empty() {
            let annotations = tree::map_at(metadata.entry("annotations").or_insert(Value::Null));
            annotations.extend(canonical.annotations.clone());
        }
        for webhook in object["webhooks"].as_array_mut().into_iter().flatten() {
            match canonical.authority {
                Some(authority) => tree::put(webhook, &["clientConfig", "caBundle"], authority.clone()),
                None => tree::remove(webhook, &["clientConfig", "caBundle"]),
            }
        }
    }
}

fn taken(found: Option<&Manifest>, kind: &'static str, charts: &dyn Charts) -> Result<Value, NoTag> {
    let found = found.ok_or_else(|| NoTag::NotInCharts { kind, charts: charts.describe() })?;
    Ok(found.object().clone())
}

/// An injection webhook that no pod goes to. It is kept so that one can come back to it.
pub fn deactivated(webhook: &mut Value) {
    let never = json!({ "matchLabels": { "istio.io/deactivated": "never-match" } });
    for entry in webhook["webhooks"].as_array_mut().into_iter().flatten() {
        entry["namespaceSelector"] = never.clone();
        entry["objectSelector"] = never.clone();
    }
}

#[cfg(test)]
mod tests;
