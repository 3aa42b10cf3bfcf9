//! ServiceEntry: a service that Kubernetes does not know.

mod resolution;

use super::workload_entry::port_name;
use crate::{
    Findings,
    parts::{export_to, selector},
    value::{
        host::{no_partial_wildcard, subnet, wildcard_domain},
        number, protocol,
    },
};
use mizzen_api::{
    Metadata,
    proto::istio::networking::v1alpha3::{ServiceEntry, service_entry::Resolution},
};
use mizzen_text::At;
use std::collections::BTreeSet;

/// Istio's control plane gives addresses to services that have none (`PILOT_ENABLE_IP_AUTOALLOCATE`), unless told not
/// to. That is its default; whoever turns it off also turns it off for all of the mesh.
const AUTO_ALLOCATION: bool = true;
const NO_AUTO_ALLOCATION_LABEL: &str = "networking.istio.io/enable-autoallocate-ip";

pub(crate) fn check(metadata: &Metadata, entry: &ServiceEntry, found: &mut Findings) {
    let at = At::TOP.field("spec");
    workloads(entry, &at, found);
    hosts(entry, &at, found);
    addresses(entry, &at, found);
    ports(metadata, entry, &at, found);
    resolution::check(metadata, entry, &at, found);
    export_to::check(
        export_to::Exported::ServiceEntry,
        &metadata.namespace,
        &entry.export_to,
        &at.field("exportTo"),
        found,
    );
}

fn workloads(entry: &ServiceEntry, at: &At<'_>, found: &mut Findings) {
    let selector_at = at.field("workloadSelector");
    selector::by_labels(entry.workload_selector.as_ref(), &selector_at, found);
    let Some(selector) = &entry.workload_selector else { return };
    if selector.labels.is_empty() {
        found.warning(
            &selector_at,
            "service entry: workload selector specified without labels, will be applied to all services in \
             namespace",
        );
    }
    if !entry.endpoints.is_empty() {
        found.error(&selector_at, "only one of workloadSelector or endpoints is allowed in a service entry");
    }
}

fn hosts(entry: &ServiceEntry, at: &At<'_>, found: &mut Findings) {
    let at = at.field("hosts");
    if entry.hosts.is_empty() {
        found.error(&at, "service entry must have at least one host");
    }
    for (index, host) in entry.hosts.iter().enumerate() {
        let at = at.index(index);
        if host == "*" {
            found.error(&at, "invalid host *: name a domain behind the wildcard, such as *.example.com");
            continue;
        }
        found.verdict(&at, wildcard_domain(host));
        if entry.resolution != Resolution::DynamicDns as i32
            && let Err(why) = no_partial_wildcard(host)
        {
            found.warning(&at, why);
        }
    }
}

fn addresses(entry: &ServiceEntry, at: &At<'_>, found: &mut Findings) {
    let at = at.field("addresses");
    let blocks = entry.resolution == Resolution::None as i32 || entry.resolution == Resolution::Static as i32;
    for (index, address) in entry.addresses.iter().enumerate() {
        let at = at.index(index);
        found.verdict(&at, subnet(address));
        if address.contains('/') && !blocks {
            found.error(&at, "CIDR addresses are allowed only for NONE/STATIC resolution types");
        }
    }
}

fn ports(metadata: &Metadata, entry: &ServiceEntry, at: &At<'_>, found: &mut Findings) {
    let at = at.field("ports");
    let unreachable = entry.addresses.is_empty() && !gets_address(metadata, entry);
    let (mut names, mut numbers) = (BTreeSet::new(), BTreeSet::new());
    for (index, port) in entry.ports.iter().enumerate() {
        let at = at.index(index);
        if !names.insert(&port.name) {
            found
                .error(&at.field("name"), format!("service entry port name {:?} already defined", port.name));
        }
        if !numbers.insert(port.number) {
            found.error(&at.field("number"), format!("service entry port {} already defined", port.number));
        }
        if port.target_port != 0 {
            found.verdict(&at.field("targetPort"), number::port(port.target_port));
        }
        // Exactly as it is written: other spellings of TCP are not warned of.
        if unreachable && matches!(port.protocol.as_str(), "" | "TCP") {
            found.warning(
                &at.field("protocol"),
                "addresses are required for ports serving TCP (or unset) protocol when IP Autoallocation is not \
                 enabled",
            );
        }
        found.verdict(&at.field("name"), port_name(&port.name));
        found.verdict(&at.field("protocol"), protocol::protocol(&port.protocol));
        found.verdict(&at.field("number"), number::port(port.number));
    }
}

/// Whether the control plane will find an address for it.
fn gets_address(metadata: &Metadata, entry: &ServiceEntry) -> bool {
    let declined = metadata
        .labels
        .get(NO_AUTO_ALLOCATION_LABEL)
        .is_some_and(|enabled| enabled.eq_ignore_ascii_case("false"));
    AUTO_ALLOCATION && entry.resolution != Resolution::None as i32 && !declined && entry.addresses.is_empty()
}

#[cfg(test)]
mod tests;
