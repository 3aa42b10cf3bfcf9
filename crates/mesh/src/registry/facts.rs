//! What conversions need to know besides the object: the settings, and the few things that hold for a whole cluster,
//! namespace or node.

use super::{names::Names, networks::Networks};
use crate::{
    Labels, Locality, Settings, TrafficDistribution,
    model::place::{self, NETWORK, REGION, SUBZONE, ZONE},
};
use std::{collections::HashMap, sync::Arc};

const OLD_REGION: &str = "failure-domain.beta.kubernetes.io/region";
const OLD_ZONE: &str = "failure-domain.beta.kubernetes.io/zone";

#[derive(Default)]
pub(super) struct Facts {
    pub(super) settings: Settings,
    pub(super) networks: Networks,
    /// Where the pods of a node are.
    pub(super) nodes: HashMap<Arc<str>, Locality>,
    pub(super) namespaces: HashMap<Arc<str>, NamespaceFacts>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct NamespaceFacts {
    /// A wish of all its services; an unknown one is none.
    pub(super) traffic_distribution: Option<TrafficDistribution>,
    pub(super) network: Arc<str>,
}

impl Facts {
    /// `spiffe://cluster.local/ns/<namespace>/sa/<account>`
    pub(super) fn account(&self, namespace: &str, account: &str) -> String {
        let domain = self.settings.mesh.trust_domain.replace('@', ".");
        format!("spiffe://{domain}/ns/{namespace}/sa/{account}")
    }

    /// By the workload's label, else that of the control plane's namespace, else by address.
    pub(super) fn network(&self, address: &str, labels: &Labels, names: &mut Names) -> Arc<str> {
        if let Some(network) = labels.get(NETWORK).filter(|network| !network.is_empty()) {
            return Arc::clone(network);
        }
        match self.namespaces.get(&self.settings.namespace) {
            Some(namespace) if !namespace.network.is_empty() => Arc::clone(&namespace.network),
            _ => names.text(self.networks.of(address)),
        }
    }

    pub(super) fn traffic_distribution(&self, namespace: &str) -> TrafficDistribution {
        self.namespaces.get(namespace).and_then(|facts| facts.traffic_distribution).unwrap_or_default()
    }

    /// The labels of a workload and where it is.
    pub(super) fn labels(
        &self,
        labels: &Labels,
        locality: &Locality,
        node: &Arc<str>,
        network: &Arc<str>,
        names: &mut Names,
    ) -> Arc<Labels> {
        let mut all = labels.clone();
        for (key, value) in place::labels(locality, &self.settings.cluster, node) {
            all.insert(names.text(key), Arc::clone(value));
        }
        if labels.get(NETWORK).is_none_or(|network| network.is_empty()) && !network.is_empty() {
            all.insert(names.text(NETWORK), Arc::clone(network));
        }
        names.labels(all)
    }
}

/// What a node's labels say of its place.
pub(super) fn locality_of_node(
    labels: &std::collections::BTreeMap<String, String>,
    names: &mut Names,
) -> Locality {
    let mut either = |key: &str, other: &str| {
        let of = |key| labels.get(key).map(String::as_str).filter(|value| !value.is_empty());
        names.text(of(key).or_else(|| of(other)).unwrap_or_default())
    };
    Locality {
        region: either(REGION, OLD_REGION),
        zone: either(ZONE, OLD_ZONE),
        subzone: either(SUBZONE, ""),
    }
}
