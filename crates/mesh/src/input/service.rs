use super::null_is_default;
use mizzen_api::Metadata;
use serde::Deserialize;
use std::collections::BTreeMap;

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct Service {
    #[serde(deserialize_with = "null_is_default")]
    pub metadata: Metadata,
    #[serde(deserialize_with = "null_is_default")]
    pub spec: ServiceSpec,
    #[serde(deserialize_with = "null_is_default")]
    pub status: ServiceStatus,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ServiceSpec {
    /// Empty means ClusterIP.
    #[serde(rename = "type", deserialize_with = "null_is_default")]
    pub kind: String,
    #[serde(rename = "clusterIP", deserialize_with = "null_is_default")]
    pub cluster_ip: String,
    #[serde(rename = "clusterIPs", deserialize_with = "null_is_default")]
    pub cluster_ips: Vec<String>,
    #[serde(rename = "externalIPs", deserialize_with = "null_is_default")]
    pub external_ips: Vec<String>,
    #[serde(deserialize_with = "null_is_default")]
    pub external_name: String,
    #[serde(deserialize_with = "null_is_default")]
    pub ports: Vec<ServicePort>,
    #[serde(deserialize_with = "null_is_default")]
    pub selector: BTreeMap<String, String>,
    #[serde(deserialize_with = "null_is_default")]
    pub session_affinity: String,
    #[serde(deserialize_with = "null_is_default")]
    pub publish_not_ready_addresses: bool,
    #[serde(deserialize_with = "null_is_default")]
    pub internal_traffic_policy: String,
    #[serde(deserialize_with = "null_is_default")]
    pub traffic_distribution: String,
    #[serde(deserialize_with = "null_is_default")]
    pub ip_families: Vec<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ServicePort {
    #[serde(deserialize_with = "null_is_default")]
    pub name: String,
    #[serde(deserialize_with = "null_is_default")]
    pub port: i32,
    /// Empty means TCP.
    #[serde(deserialize_with = "null_is_default")]
    pub protocol: String,
    #[serde(deserialize_with = "null_is_default")]
    pub app_protocol: Option<String>,
    #[serde(deserialize_with = "null_is_default")]
    pub target_port: Option<PortName>,
    #[serde(deserialize_with = "null_is_default")]
    pub node_port: i32,
}

/// A port by its number or by its name.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Deserialize)]
#[serde(untagged)]
pub enum PortName {
    Number(i32),
    Name(String),
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ServiceStatus {
    #[serde(deserialize_with = "null_is_default")]
    pub load_balancer: LoadBalancerStatus,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct LoadBalancerStatus {
    #[serde(deserialize_with = "null_is_default")]
    pub ingress: Vec<LoadBalancerIngress>,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct LoadBalancerIngress {
    #[serde(deserialize_with = "null_is_default")]
    pub ip: String,
    #[serde(deserialize_with = "null_is_default")]
    pub hostname: String,
}
