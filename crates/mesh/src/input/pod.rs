use super::null_is_default;
use mizzen_api::Metadata;
use serde::Deserialize;

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct Pod {
    #[serde(deserialize_with = "null_is_default")]
    pub metadata: Metadata,
    #[serde(deserialize_with = "null_is_default")]
    pub spec: PodSpec,
    #[serde(deserialize_with = "null_is_default")]
    pub status: PodStatus,
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
