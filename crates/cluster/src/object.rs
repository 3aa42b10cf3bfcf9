//! An object to be applied, and its name in the cluster.

use serde_json::Value;
use std::{fmt, sync::Arc};

/// Which object: its group and kind, not the version that it happens to be written in.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
pub struct ObjectId {
    /// Empty for the core group.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub group: String,
    pub kind: String,
    /// Empty for what is in none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub namespace: String,
    pub name: String,
}

impl ObjectId {
    /// Without a group for the core's, without a namespace for the cluster's.
    pub fn new(
        group: impl Into<String>,
        kind: impl Into<String>,
        namespace: impl Into<String>,
        name: impl Into<String>,
    ) -> Self {
        Self { group: group.into(), kind: kind.into(), namespace: namespace.into(), name: name.into() }
    }

    pub fn of(object: &Value) -> Result<Self, NoObject> {
        let text =
            |pointer: &str| object.pointer(pointer).and_then(Value::as_str).unwrap_or_default().to_owned();
        let (api_version, kind, name) = (text("/apiVersion"), text("/kind"), text("/metadata/name"));
        if api_version.is_empty() || kind.is_empty() {
            return Err(NoObject::Kind);
        }
        if name.is_empty() {
            return Err(NoObject::Name { kind });
        }
        let group = api_version.split_once('/').map_or("", |(group, _)| group).to_owned();
        Ok(Self { group, kind, namespace: text("/metadata/namespace"), name })
    }
}

impl fmt::Display for ObjectId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.namespace.as_str() {
            "" => write!(out, "{} {}", self.kind, self.name),
            namespace => write!(out, "{} {namespace}/{}", self.kind, self.name),
        }
    }
}

/// An object as somebody wants it.
#[derive(Clone, Debug, PartialEq)]
pub struct Desired {
    pub id: ObjectId,
    /// `v1` of `apps/v1`
    pub version: String,
    /// Shared by everybody who wants the same: definitions are large, and a plan has all of them.
    pub value: Arc<Value>,
}

/// Why a document cannot be applied.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoObject {
    #[error("it has no apiVersion and kind")]
    Kind,
    #[error("{kind} without metadata.name")]
    Name { kind: String },
}

impl Desired {
    pub fn new(mut value: Value) -> Result<Self, NoObject> {
        let id = ObjectId::of(&value)?;
        let api_version = value["apiVersion"].as_str().unwrap_or_default();
        let version = api_version.rsplit_once('/').map_or(api_version, |(_, version)| version).to_owned();
        // What only a server says; an object that was printed out of a cluster has it, and sending it is refused or a lie.
        if let Some(object) = value.as_object_mut() {
            object.remove("status");
            if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
                for field in
                    ["creationTimestamp", "generation", "managedFields", "resourceVersion", "selfLink", "uid"]
                {
                    metadata.remove(field);
                }
            }
        }
        Ok(Self { id, version, value: Arc::new(value) })
    }

    /// To change it, for this one alone.
    pub fn value_mut(&mut self) -> &mut Value {
        Arc::make_mut(&mut self.value)
    }

    /// `apps/v1`
    pub fn api_version(&self) -> String {
        match self.id.group.as_str() {
            "" => self.version.clone(),
            group => format!("{group}/{}", self.version),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn an_object_is_named_by_group_and_kind() {
        let object = Desired::new(json!({
            "apiVersion": "apps/v1", "kind": "Deployment", "status": {},
            "metadata": { "name": "istiod", "namespace": "istio-system", "uid": "1" },
        }))
        .unwrap();
        assert_eq!(object.id.to_string(), "Deployment istio-system/istiod");
        assert_eq!((object.id.group.as_str(), object.api_version().as_str()), ("apps", "apps/v1"));
        assert_eq!(object.value["metadata"], json!({ "name": "istiod", "namespace": "istio-system" }));
        assert_eq!(object.value.get("status"), None);
        let core =
            Desired::new(json!({ "apiVersion": "v1", "kind": "Namespace", "metadata": { "name": "a" } }))
                .unwrap();
        assert_eq!((core.id.to_string().as_str(), core.api_version().as_str()), ("Namespace a", "v1"));
    }

    #[test]
    fn what_has_no_name_or_kind_is_none() {
        assert_eq!(Desired::new(json!({ "kind": "A" })), Err(NoObject::Kind));
        assert_eq!(
            Desired::new(json!({ "apiVersion": "v1", "kind": "A", "metadata": {} })),
            Err(NoObject::Name { kind: "A".into() })
        );
    }
}
