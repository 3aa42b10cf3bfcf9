//! What a proxy says of itself when it connects.
//!
//! In: the node of its first request, as an id and JSON metadata. Out: a [`Proxy`], or why it is refused.

use crate::{Labels, Locality};
use serde_json::{Map, Value};
use std::{net::IpAddr, sync::Arc};

/// A node as it came over the wire.
#[derive(Clone, Debug, Default)]
pub struct Node {
    pub id: String,
    pub metadata: Map<String, Value>,
    pub locality: Locality,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ProxyKind {
    Sidecar,
    Router,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Interception {
    #[default]
    Redirect,
    Tproxy,
    /// Nothing is redirected to the proxy.
    None,
}

/// A proxy as it introduced itself. Does not change while it is connected; what the mesh knows of its workload is in
/// [`crate::Attributes`].
#[derive(Clone, Debug)]
pub struct Proxy {
    pub id: Arc<str>,
    pub kind: ProxyKind,
    pub addresses: Vec<IpAddr>,
    /// `pod.namespace`
    pub name: Arc<str>,
    pub namespace: Arc<str>,
    /// `namespace.svc.cluster.local`
    pub domain: Arc<str>,
    pub labels: Arc<Labels>,
    pub locality: Locality,
    pub cluster: Arc<str>,
    pub network: Arc<str>,
    pub service_account: Arc<str>,
    pub interception: Interception,
    pub metadata: Map<String, Value>,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    #[error("the node id {0:?} is not of the form type~ip~name~domain")]
    Malformed(String),
    #[error("the node type {0:?} is not known: sidecar and router are")]
    Kind(String),
    #[error("the node {0:?} has no usable IP address")]
    Address(String),
}

impl Proxy {
    pub fn read(node: Node) -> Result<Self, Refused> {
        let parts: Vec<&str> = node.id.split('~').collect();
        let [kind, address, name, domain] = parts[..] else {
            return Err(Refused::Malformed(short(&node.id)));
        };
        let kind = match kind {
            "sidecar" => ProxyKind::Sidecar,
            "router" => ProxyKind::Router,
            other => return Err(Refused::Kind(short(other))),
        };
        let text = |key: &str| node.metadata.get(key).and_then(Value::as_str);
        let listed: Vec<&str> = match text("INSTANCE_IPS") {
            Some(list) if !list.is_empty() => list.split(',').map(str::trim).collect(),
            _ => vec![address],
        };
        let mut addresses = Vec::new();
        for address in listed.into_iter().filter(|address| !address.is_empty()) {
            addresses.push(address.parse().map_err(|_| Refused::Address(short(&node.id)))?);
        }
        if addresses.is_empty() {
            return Err(Refused::Address(short(&node.id)));
        }
        let namespace = match text("NAMESPACE") {
            Some(namespace) if !namespace.is_empty() => namespace,
            _ => domain.split('.').next().unwrap_or_default(),
        };
        let labels =
            node.metadata.get("LABELS").and_then(Value::as_object).map(read_labels).unwrap_or_default();
        let interception = match text("INTERCEPTION_MODE") {
            Some("TPROXY") => Interception::Tproxy,
            Some("NONE") => Interception::None,
            _ => Interception::Redirect,
        };
        Ok(Self {
            id: node.id.as_str().into(),
            kind,
            addresses,
            name: name.into(),
            namespace: namespace.into(),
            domain: domain.into(),
            labels: Arc::new(labels),
            locality: node.locality.clone(),
            cluster: text("CLUSTER_ID").unwrap_or_default().into(),
            network: text("NETWORK").unwrap_or_default().into(),
            service_account: text("SERVICE_ACCOUNT").unwrap_or_default().into(),
            interception,
            metadata: node.metadata,
        })
    }
}

fn read_labels(map: &Map<String, Value>) -> Labels {
    let text = |(key, value): (&String, &Value)| Some((Arc::from(key.as_str()), Arc::from(value.as_str()?)));
    map.iter().filter_map(text).collect()
}

/// A hostile id must not fill the log.
fn short(text: &str) -> String {
    text.chars().take(200).collect()
}
