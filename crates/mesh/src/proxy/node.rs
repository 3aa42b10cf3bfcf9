//! What a proxy says of itself when it connects.
//!
//! In: the node of its first request, as an id and JSON metadata. Out: a [`Proxy`], or why it is refused.

use crate::{Labels, Locality};
use serde_json::{Map, Value};
use std::{collections::HashMap, net::IpAddr, sync::Arc};

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
    /// Those that it has whatever its workload's are.
    pub static_labels: Labels,
    pub locality: Locality,
    pub cluster: Arc<str>,
    pub network: Arc<str>,
    pub service_account: Arc<str>,
    /// The machine that it runs on.
    pub node: Arc<str>,
    pub interception: Interception,
    pub metadata: Map<String, Value>,
    /// The same as text, once: it is compared for every view that the proxy may share.
    pub(super) texts: HashMap<String, Arc<str>>,
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
        // All of the list or nothing of it.
        let listed =
            text("INSTANCE_IPS").and_then(|list| list.split(',').map(|ip| ip.trim().parse().ok()).collect());
        let addresses: Vec<IpAddr> = match (listed, address.parse()) {
            (Some(listed), _) => listed,
            (None, Ok(address)) => vec![address],
            (None, Err(_)) => return Err(Refused::Address(short(&node.id))),
        };
        let namespace = match text("NAMESPACE") {
            Some(namespace) if !namespace.is_empty() => namespace,
            _ => domain.split('.').next().unwrap_or_default(),
        };
        let labels = |key: &str| {
            node.metadata.get(key).and_then(Value::as_object).map(read_labels).unwrap_or_default()
        };
        let own = labels("LABELS");
        let node_name = match text("NODE_NAME") {
            Some(name) if !name.is_empty() => name.into(),
            _ => own.get("kubernetes.io/hostname").cloned().unwrap_or_default(),
        };
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
            labels: Arc::new(own),
            static_labels: labels("STATIC_LABELS"),
            locality: node.locality.clone(),
            cluster: text("CLUSTER_ID").unwrap_or_default().into(),
            network: text("NETWORK").unwrap_or_default().into(),
            service_account: text("SERVICE_ACCOUNT").unwrap_or_default().into(),
            node: node_name,
            interception,
            texts: texts(&node.metadata),
            metadata: node.metadata,
        })
    }
}

fn texts(metadata: &Map<String, Value>) -> HashMap<String, Arc<str>> {
    let text = |(key, value): (&String, &Value)| match value {
        Value::Null => None,
        Value::String(text) => Some((key.clone(), text.as_str().into())),
        other => Some((key.clone(), other.to_string().into())),
    };
    metadata.iter().filter_map(text).collect()
}

fn read_labels(map: &Map<String, Value>) -> Labels {
    let text = |(key, value): (&String, &Value)| Some((Arc::from(key.as_str()), Arc::from(value.as_str()?)));
    map.iter().filter_map(text).collect()
}

/// A hostile id must not fill the log.
fn short(text: &str) -> String {
    text.chars().take(200).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn mk_proxy(id: &str, metadata: &Value) -> Result<Proxy, Refused> {
        let metadata = metadata.as_object().cloned().unwrap_or_default();
        Proxy::read(Node { id: id.to_owned(), metadata, locality: Locality::default() })
    }

    #[test]
    fn addresses_come_from_the_metadata_if_all_of_them_are_some_and_else_from_the_id() {
        for (address, listed, addresses) in [
            ("1.1.1.1", json!({}), &["1.1.1.1"][..]),
            ("1.1.1.1", json!({"INSTANCE_IPS": "2.2.2.2, ::2"}), &["2.2.2.2", "::2"]),
            ("1.1.1.1", json!({"INSTANCE_IPS": "2.2.2.2,x"}), &["1.1.1.1"]),
            ("1.1.1.1", json!({"INSTANCE_IPS": ""}), &["1.1.1.1"]),
            ("", json!({"INSTANCE_IPS": "2.2.2.2"}), &["2.2.2.2"]),
            ("", json!({"INSTANCE_IPS": "x"}), &[]),
            ("x", json!({"INSTANCE_IPS": 5}), &[]),
        ] {
            let read = mk_proxy(&format!("sidecar~{address}~a.b~b.svc.cluster.local"), &listed);
            let expected: Vec<IpAddr> = addresses.iter().map(|address| address.parse().unwrap()).collect();
            match read {
                Ok(proxy) => assert_eq!(proxy.addresses, expected, "{address} {listed}"),
                Err(refused) => {
                    assert!(matches!(refused, Refused::Address(_)), "{refused}");
                    assert!(expected.is_empty(), "{address} {listed}");
                }
            }
        }
    }

    #[test]
    fn an_id_has_four_parts_and_a_type_that_is_known() {
        for id in
            ["", "sidecar", "sidecar~1.1.1.1~a.b", "sidecar~1.1.1.1~a.b~c~d", "waypoint~1.1.1.1~a.b~c", "~~~"]
        {
            let refused = mk_proxy(id, &json!({})).map(|proxy| proxy.id);
            assert!(matches!(refused, Err(Refused::Malformed(_) | Refused::Kind(_))), "{id}: {refused:?}");
        }
        let long = format!("sidecar~{}", "x".repeat(10_000));
        assert!(mk_proxy(&long, &json!({})).is_err_and(|refused| refused.to_string().len() < 400));
    }
}
