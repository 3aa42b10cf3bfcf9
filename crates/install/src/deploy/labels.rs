//! The labels by which an installer of Istio knows its objects. They are istioctl's, so that it finds ours and we find its.

use std::collections::BTreeMap;

pub(crate) const MANAGED: &str = "operator.istio.io/managed";
pub(crate) const VERSION: &str = "operator.istio.io/version";
pub(crate) const COMPONENT: &str = "operator.istio.io/component";
pub(crate) const REVISION: &str = "istio.io/rev";
pub(crate) const TAG: &str = "istio.io/tag";
pub(crate) const OWNER: &str = "install.operator.istio.io/owning-resource";
pub(crate) const OWNER_NAMESPACE: &str = "install.operator.istio.io/owning-resource-namespace";
/// Objects with it outlive an installation that does not want them any more: a tag may have been moved.
pub(crate) const NOT_PRUNED: &str = "install.operator.istio.io/owning-resource-not-pruned";

/// Who installed something.
pub(crate) struct Owner<'a> {
    pub(crate) name: Option<&'a str>,
    pub(crate) namespace: Option<&'a str>,
    pub(crate) revision: &'a str,
    /// Of the installer.
    pub(crate) version: &'a str,
}

impl Owner<'_> {
    pub(crate) fn labels(&self, component: Option<&str>) -> BTreeMap<String, String> {
        let mut labels = BTreeMap::from([
            (MANAGED.to_owned(), "Reconcile".to_owned()),
            (VERSION.to_owned(), self.version.to_owned()),
            (REVISION.to_owned(), self.revision.to_owned()),
        ]);
        let further = [(COMPONENT, component), (OWNER, self.name), (OWNER_NAMESPACE, self.namespace)];
        for (key, value) in further {
            if let Some(value) = value {
                labels.insert(key.to_owned(), value.to_owned());
            }
        }
        labels
    }
}

/// A label of an object.
pub(crate) fn of<'v>(object: &'v serde_json::Value, key: &str) -> Option<&'v str> {
    object.get("metadata")?.get("labels")?.get(key)?.as_str()
}
