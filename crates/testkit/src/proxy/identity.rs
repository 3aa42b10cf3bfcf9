//! Who a proxy says it is: the node that Istio's agent writes into Envoy's bootstrap.
//!
//! In: what is known of the pod. Out: Envoy's `Node`. Booleans are strings there, and some values are JSON in a string.

use std::{collections::BTreeMap, net::IpAddr};

use envoy_types::pb::{
    envoy::config::core::v3::{Locality, Node},
    google::protobuf::{ListValue, Struct, Value as Field, value::Kind as FieldKind},
};
use prost::Message as _;
use serde_json::{Map, Value, json};

use crate::error::Result;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    Sidecar,
    Router,
}

#[derive(Clone, Debug)]
pub struct Identity {
    pub role: Role,
    pub address: IpAddr,
    pub pod: String,
    pub namespace: String,
    pub service_account: String,
    pub labels: BTreeMap<String, String>,
    /// Region, zone and subzone, where the proxy knows them by itself; else the control plane asks the pod's node.
    pub locality: Option<[String; 3]>,
    /// Over what the agent of an injected pod says.
    pub metadata: Map<String, Value>,
}

impl Identity {
    pub fn new(role: Role, address: IpAddr, pod: &str, namespace: &str) -> Self {
        Self {
            role,
            address,
            pod: pod.to_owned(),
            namespace: namespace.to_owned(),
            service_account: "default".to_owned(),
            labels: BTreeMap::new(),
            locality: None,
            metadata: Map::new(),
        }
    }

    pub fn id(&self) -> String {
        let role = match self.role {
            Role::Sidecar => "sidecar",
            Role::Router => "router",
        };
        let Self { address, pod, namespace, .. } = self;
        format!("{role}~{address}~{pod}.{namespace}~{namespace}.svc.cluster.local")
    }

    pub fn node(&self) -> Node {
        let workload = self.labels.get("app").unwrap_or(&self.pod);
        let [region, zone, sub_zone] = self.locality.clone().unwrap_or_default();
        Node {
            id: self.id(),
            cluster: format!("{workload}.{}", self.namespace),
            metadata: Some(structure(self.said(workload))),
            locality: self.locality.is_some().then_some(Locality { region, zone, sub_zone }),
            user_agent_name: "envoy".to_owned(),
            ..Default::default()
        }
    }

    /// The node as JSON, for who has no use for Envoy's types.
    pub fn to_json(&self) -> Result<Value> {
        super::json::to_json("envoy.config.core.v3.Node", &self.node().encode_to_vec())
    }

    fn said(&self, workload: &str) -> Map<String, Value> {
        let mut said = json!({
            "NAME": self.pod,
            "NAMESPACE": self.namespace,
            "SERVICE_ACCOUNT": self.service_account,
            "LABELS": self.labels,
            "WORKLOAD_NAME": workload,
            "OWNER": format!("kubernetes://apis/apps/v1/namespaces/{}/deployments/{workload}", self.namespace),
            "CLUSTER_ID": "Kubernetes",
            "MESH_ID": "cluster.local",
            "INSTANCE_IPS": self.address.to_string(),
            "INTERCEPTION_MODE": "REDIRECT",
            "ISTIO_VERSION": "1.31.0",
            "ENVOY_STATUS_PORT": 15021,
            "ENVOY_PROMETHEUS_PORT": 15090,
            "PILOT_SAN": ["istiod.istio-system.svc"],
            "PROXY_CONFIG": proxy_config(),
        });
        let mut said = said.as_object_mut().map(std::mem::take).unwrap_or_default();
        said.extend(self.metadata.clone());
        said
    }
}

/// The ProxyConfig of an agent that nobody has told anything: what it says wins over what the control plane has by default.
pub fn proxy_config() -> Value {
    json!({
        "binaryPath": "/usr/local/bin/envoy",
        "configPath": "./etc/istio/proxy",
        "controlPlaneAuthPolicy": "MUTUAL_TLS",
        "discoveryAddress": "istiod.istio-system.svc:15012",
        "drainDuration": "45s",
        "proxyAdminPort": 15000,
        "serviceCluster": "istio-proxy",
        "statNameLength": 189,
        "statusPort": 15020,
        "terminationDrainDuration": "5s",
    })
}

fn structure(map: Map<String, Value>) -> Struct {
    Struct { fields: map.into_iter().map(|(key, value)| (key, field(value))).collect() }
}

fn field(value: Value) -> Field {
    let kind = match value {
        Value::Null => FieldKind::NullValue(0),
        Value::Bool(flag) => FieldKind::BoolValue(flag),
        Value::Number(number) => FieldKind::NumberValue(number.as_f64().unwrap_or_default()),
        Value::String(text) => FieldKind::StringValue(text),
        Value::Array(items) => {
            FieldKind::ListValue(ListValue { values: items.into_iter().map(field).collect() })
        }
        Value::Object(map) => FieldKind::StructValue(structure(map)),
    };
    Field { kind: Some(kind) }
}
