//! The labels that say where something runs.

use super::{Labels, Locality};
use std::sync::Arc;

pub(crate) const NETWORK: &str = "topology.istio.io/network";
pub(crate) const REGION: &str = "topology.kubernetes.io/region";
pub(crate) const ZONE: &str = "topology.kubernetes.io/zone";
pub(crate) const SUBZONE: &str = "topology.istio.io/subzone";
const CLUSTER: &str = "topology.istio.io/cluster";
const HOSTNAME: &str = "kubernetes.io/hostname";
const LOCALITY: &str = "topology.istio.io/locality";
const OLD_LOCALITY: &str = "istio-locality";

/// What is known of them. The network has its own rules.
pub(crate) fn labels<'a>(
    locality: &'a Locality,
    cluster: &'a Arc<str>,
    node: &'a Arc<str>,
) -> impl Iterator<Item = (&'static str, &'a Arc<str>)> {
    let all = [
        (REGION, &locality.region),
        (ZONE, &locality.zone),
        (SUBZONE, &locality.subzone),
        (CLUSTER, cluster),
        (HOSTNAME, node),
    ];
    all.into_iter().filter(|(_, value)| !value.is_empty())
}

impl Locality {
    /// What a workload's own labels say of its place.
    pub(crate) fn of_labels(labels: &Labels) -> Option<Self> {
        let text = labels.get(LOCALITY).or_else(|| labels.get(OLD_LOCALITY))?;
        (!text.is_empty()).then(|| Self::parse_label(text))
    }
}
