use super::null_is_default;
use mizzen_api::Metadata;
use serde::Deserialize;

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct EndpointSlice {
    #[serde(deserialize_with = "null_is_default")]
    pub metadata: Metadata,
    /// `IPv4`, `IPv6` or `FQDN`.
    #[serde(deserialize_with = "null_is_default")]
    pub address_type: String,
    #[serde(deserialize_with = "null_is_default")]
    pub endpoints: Vec<SliceEndpoint>,
    #[serde(deserialize_with = "null_is_default")]
    pub ports: Vec<SlicePort>,
}

impl EndpointSlice {
    /// The service that the slice is of, by its label.
    pub fn service(&self) -> Option<&str> {
        self.metadata.labels.get("kubernetes.io/service-name").map(String::as_str)
    }
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct SliceEndpoint {
    #[serde(deserialize_with = "null_is_default")]
    pub addresses: Vec<String>,
    #[serde(deserialize_with = "null_is_default")]
    pub conditions: Conditions,
    #[serde(deserialize_with = "null_is_default")]
    pub hostname: String,
    #[serde(deserialize_with = "null_is_default")]
    pub node_name: String,
    #[serde(deserialize_with = "null_is_default")]
    pub zone: String,
    pub target_ref: Option<TargetRef>,
}

/// What is not said is unknown; whoever reads decides what unknown means.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct Conditions {
    pub ready: Option<bool>,
    pub serving: Option<bool>,
    pub terminating: Option<bool>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct TargetRef {
    #[serde(deserialize_with = "null_is_default")]
    pub kind: String,
    #[serde(deserialize_with = "null_is_default")]
    pub name: String,
    #[serde(deserialize_with = "null_is_default")]
    pub namespace: String,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct SlicePort {
    #[serde(deserialize_with = "null_is_default")]
    pub name: String,
    pub port: Option<i32>,
    #[serde(deserialize_with = "null_is_default")]
    pub protocol: String,
    pub app_protocol: Option<String>,
}
