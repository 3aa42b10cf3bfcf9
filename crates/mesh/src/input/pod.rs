use super::null_is_default;
use mizzen_api::Metadata;
use serde::Deserialize;
use std::collections::BTreeMap;

/// Annotations are not kept: pods are many, and nothing here reads them.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(from = "Wire")]
pub struct Pod {
    pub metadata: Metadata,
    /// What made it and looks after it.
    pub controller: Option<Owner>,
    /// It has been asked to end.
    pub deleting: bool,
    pub spec: PodSpec,
    pub status: PodStatus,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct Owner {
    #[serde(deserialize_with = "null_is_default")]
    pub kind: String,
    #[serde(deserialize_with = "null_is_default")]
    pub name: String,
    #[serde(deserialize_with = "null_is_default")]
    controller: bool,
}

impl Owner {
    pub fn new(kind: &str, name: &str) -> Self {
        Self { kind: kind.to_owned(), name: name.to_owned(), controller: true }
    }
}

/// As Kubernetes writes it.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Wire {
    #[serde(deserialize_with = "null_is_default")]
    metadata: WireMetadata,
    #[serde(deserialize_with = "null_is_default")]
    spec: PodSpec,
    #[serde(deserialize_with = "null_is_default")]
    status: PodStatus,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct WireMetadata {
    #[serde(deserialize_with = "null_is_default")]
    name: String,
    #[serde(deserialize_with = "null_is_default")]
    generate_name: String,
    #[serde(deserialize_with = "null_is_default")]
    namespace: String,
    #[serde(deserialize_with = "null_is_default")]
    labels: BTreeMap<String, String>,
    #[serde(deserialize_with = "null_is_default")]
    uid: String,
    #[serde(deserialize_with = "null_is_default")]
    resource_version: String,
    #[serde(deserialize_with = "null_is_default")]
    creation_timestamp: String,
    #[serde(deserialize_with = "null_is_default")]
    deletion_timestamp: String,
    #[serde(deserialize_with = "null_is_default")]
    owner_references: Vec<Owner>,
}

impl From<Wire> for Pod {
    fn from(Wire { metadata, spec, status }: Wire) -> Self {
        Self {
            controller: metadata.owner_references.into_iter().find(|owner| owner.controller),
            deleting: !metadata.deletion_timestamp.is_empty(),
            metadata: Metadata {
                name: metadata.name,
                generate_name: metadata.generate_name,
                namespace: metadata.namespace,
                labels: metadata.labels,
                uid: metadata.uid,
                resource_version: metadata.resource_version,
                creation_timestamp: metadata.creation_timestamp,
                ..Metadata::default()
            },
            spec,
            status,
        }
    }
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PodSpec {
    #[serde(deserialize_with = "null_is_default")]
    pub node_name: String,
    #[serde(deserialize_with = "null_is_default")]
    pub service_account_name: String,
    #[serde(deserialize_with = "null_is_default")]
    pub host_network: bool,
    #[serde(deserialize_with = "null_is_default")]
    pub hostname: String,
    #[serde(deserialize_with = "null_is_default")]
    pub subdomain: String,
    #[serde(deserialize_with = "null_is_default")]
    pub containers: Vec<Container>,
    #[serde(deserialize_with = "null_is_default")]
    pub init_containers: Vec<Container>,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Container {
    #[serde(deserialize_with = "null_is_default")]
    pub name: String,
    #[serde(deserialize_with = "null_is_default")]
    pub ports: Vec<ContainerPort>,
    #[serde(deserialize_with = "null_is_default")]
    pub restart_policy: String,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ContainerPort {
    #[serde(deserialize_with = "null_is_default")]
    pub name: String,
    #[serde(deserialize_with = "null_is_default")]
    pub container_port: i32,
    #[serde(deserialize_with = "null_is_default")]
    pub protocol: String,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PodStatus {
    #[serde(deserialize_with = "null_is_default")]
    pub phase: String,
    #[serde(rename = "podIP", deserialize_with = "null_is_default")]
    pub pod_ip: String,
    #[serde(rename = "podIPs", deserialize_with = "null_is_default")]
    pub pod_ips: Vec<PodIp>,
    #[serde(rename = "hostIP", deserialize_with = "null_is_default")]
    pub host_ip: String,
    #[serde(deserialize_with = "null_is_default")]
    pub conditions: Vec<PodCondition>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct PodIp {
    #[serde(deserialize_with = "null_is_default")]
    pub ip: String,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct PodCondition {
    #[serde(rename = "type", deserialize_with = "null_is_default")]
    pub kind: String,
    #[serde(deserialize_with = "null_is_default")]
    pub status: String,
}
