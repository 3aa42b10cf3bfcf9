//! What of a client decides how endpoints are ordered for it.

use crate::policy::{Balance, CLUSTER, HOSTNAME, NETWORK, REGION, SUBZONE, Wishes, ZONE};
use mizzen_mesh::{Attributes, Endpoint, Labels, Locality, Service};
use std::sync::Arc;

/// Nothing is asked unless the service or its rule wants it: with an answer that depends on the machine or the zone, each of these has
/// endpoints of its own.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Client {
    /// For services that are served on the client's machine only.
    pub node: Option<Arc<str>>,
    pub locality: Option<Locality>,
    /// Its values of the labels that decide about priorities, in their order.
    pub values: Vec<Arc<str>>,
}

impl Client {
    /// `ejects`: hosts that fail are found out, without which nothing would ever fail over.
    pub fn ask(proxy: &Attributes, service: &Service, balance: &Balance<'_>, ejects: bool) -> Self {
        let mut client = Self { node: service.node_local.then(|| node(proxy)), ..Self::default() };
        match balance {
            Balance::Even => {}
            Balance::Locality(wishes) if !wishes.distribute.is_empty() => {
                client.locality = Some(proxy.locality());
            }
            Balance::Locality(wishes) if ejects || wishes.always => {
                client.values = values(proxy, wishes);
                if wishes.priorities.is_empty() || !wishes.failover.is_empty() {
                    client.locality = Some(proxy.locality());
                }
            }
            Balance::Locality(_) => {}
            Balance::ZoneAware { wishes, on, .. } => {
                if *on {
                    client.values = values(proxy, wishes);
                    client.locality = Some(proxy.locality());
                }
            }
        }
        client
    }
}

/// As the proxy says it; what the mesh knows of its pod does not count, as in Istio.
fn node(proxy: &Attributes) -> Arc<str> {
    proxy.metadata("NODE_NAME").unwrap_or_default()
}

fn values(proxy: &Attributes, wishes: &Wishes<'_>) -> Vec<Arc<str>> {
    let own = |label: &str| match label.split_once('=') {
        Some((_, value)) => Arc::from(value),
        None => value_of(
            label,
            |label| proxy.label(label),
            || proxy.locality(),
            || node(proxy),
            || proxy.cluster(),
            || proxy.network(),
        ),
    };
    wishes.priorities.iter().map(|label| own(label)).collect()
}

/// An endpoint's value of a label, where `label=value` is about `label`.
pub(super) fn endpoint_value(endpoint: &Endpoint, label: &str) -> Arc<str> {
    value_of(
        label.split_once('=').map_or(label, |(label, _)| label),
        |label| find(&endpoint.labels, label),
        || endpoint.locality.clone(),
        || Arc::clone(&endpoint.node),
        || Arc::clone(&endpoint.cluster),
        || Arc::clone(&endpoint.network),
    )
}

fn find(labels: &Labels, label: &str) -> Option<Arc<str>> {
    labels.get(label).cloned()
}

/// Where something is counts as its labels do. What the mesh knows goes before the label, except for the network.
fn value_of(
    label: &str,
    own: impl Fn(&str) -> Option<Arc<str>>,
    locality: impl Fn() -> Locality,
    node: impl Fn() -> Arc<str>,
    cluster: impl Fn() -> Arc<str>,
    network: impl Fn() -> Arc<str>,
) -> Arc<str> {
    let known = match label {
        REGION => locality().region,
        ZONE => locality().zone,
        SUBZONE => locality().subzone,
        HOSTNAME => node(),
        CLUSTER => cluster(),
        NETWORK => return own(label).filter(|value| !value.is_empty()).unwrap_or_else(network),
        _ => Arc::default(),
    };
    if known.is_empty() { own(label).unwrap_or_default() } else { known }
}
