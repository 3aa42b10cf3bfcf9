//! DestinationRule: what holds for the traffic to a host, after it was routed.

mod traffic_policy;

use crate::{
    Findings,
    parts::{
        destination::subset_name,
        export_to::{self, Exported},
        selector, tags,
    },
    value::host::wildcard_domain,
};
use mizzen_api::{Metadata, proto::istio::networking::v1alpha3::DestinationRule};
use mizzen_text::At;
use std::collections::BTreeSet;

pub(crate) fn check(metadata: &Metadata, spec: &DestinationRule, found: &mut Findings) {
    let namespace = metadata.namespace.as_str();
    let at = At::TOP.field("spec");
    found.verdict(&at.field("host"), wildcard_domain(&spec.host));
    if let Some(policy) = &spec.traffic_policy {
        traffic_policy::check(namespace, policy, &at.field("trafficPolicy"), found);
    }
    let list = at.field("subsets");
    let mut names = BTreeSet::new();
    for (index, subset) in spec.subsets.iter().enumerate() {
        let at = list.index(index);
        let name = at.field("name");
        if !names.insert(&subset.name) {
            found.error(&name, format!("duplicate subset names: {}", subset.name));
        }
        found.verdict(&name, subset_name(&subset.name));
        tags::check(&subset.labels, &at.field("labels"), found);
        if let Some(policy) = &subset.traffic_policy {
            let mut own = Findings::default();
            traffic_policy::check(namespace, policy, &at.field("trafficPolicy"), &mut own);
            found.extend_errors(own);
        }
    }
    let exported =
        if spec.workload_selector.is_some() { Exported::RuleWithSelector } else { Exported::Other };
    export_to::check(exported, namespace, &spec.export_to, &at.field("exportTo"), found);
    selector::by_match_labels(spec.workload_selector.as_ref(), &at.field("workloadSelector"), found);
}

#[cfg(test)]
mod tests;
