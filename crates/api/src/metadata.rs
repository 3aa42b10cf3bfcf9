//! Who an object is.

use serde::{Deserialize, Deserializer, Serialize};
use std::collections::BTreeMap;

/// The part of Kubernetes' ObjectMeta that a mesh has use for. The rest stays in the raw document.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Metadata {
    #[serde(deserialize_with = "null_is_default", skip_serializing_if = "String::is_empty")]
    pub name: String,
    #[serde(deserialize_with = "null_is_default", skip_serializing_if = "String::is_empty")]
    pub generate_name: String,
    #[serde(deserialize_with = "null_is_default", skip_serializing_if = "String::is_empty")]
    pub namespace: String,
    #[serde(deserialize_with = "null_is_default", skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, String>,
    #[serde(deserialize_with = "null_is_default", skip_serializing_if = "BTreeMap::is_empty")]
    pub annotations: BTreeMap<String, String>,
    #[serde(deserialize_with = "null_is_default", skip_serializing_if = "String::is_empty")]
    pub uid: String,
    #[serde(deserialize_with = "null_is_default", skip_serializing_if = "String::is_empty")]
    pub resource_version: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub generation: Option<i64>,
    /// RFC 3339; the older of two objects wins most conflicts.
    #[serde(deserialize_with = "null_is_default", skip_serializing_if = "String::is_empty")]
    pub creation_timestamp: String,
}

impl Metadata {
    /// Every field that Kubernetes' ObjectMeta has, also those that are not here.
    pub const FIELDS: &[&str] = &[
        "annotations",
        "creationTimestamp",
        "deletionGracePeriodSeconds",
        "deletionTimestamp",
        "finalizers",
        "generateName",
        "generation",
        "labels",
        "managedFields",
        "name",
        "namespace",
        "ownerReferences",
        "resourceVersion",
        "selfLink",
        "uid",
    ];
}

fn null_is_default<'de, D: Deserializer<'de>, T: Deserialize<'de> + Default>(from: D) -> Result<T, D::Error> {
    Ok(Option::deserialize(from)?.unwrap_or_default())
}
