//! WorkloadEntry: one workload outside of Kubernetes, by its own object or as an endpoint of a ServiceEntry.

use crate::{
    Findings,
    parts::tags,
    value::{
        host::{fqdn, is_ip},
        label::is_dns_label,
        number, unix_socket,
    },
};
use mizzen_api::proto::istio::networking::v1alpha3::WorkloadEntry;
use mizzen_text::At;
use std::collections::BTreeSet;

pub(crate) fn check(entry: &WorkloadEntry, found: &mut Findings) {
    let at = At::TOP.field("spec");
    // Which service it belongs to is not known here, so neither are the ports nor whether a name can be resolved.
    address(entry, true, &at, found);
    ports(entry, None, &at, found);
    tags::check(&entry.labels, &at.field("labels"), found);
}

/// As an endpoint of a ServiceEntry whose endpoints are not resolved, so they must be addresses.
pub(crate) fn static_endpoint(
    entry: &WorkloadEntry,
    service_ports: &BTreeSet<&str>,
    at: &At<'_>,
    found: &mut Findings,
) {
    address(entry, false, at, found);
    if unix_socket::is_one(&entry.address) && service_ports.len() != 1 {
        found.error(&at.field("address"), "exactly 1 service port required for unix endpoints");
    }
    ports(entry, Some(service_ports), at, found);
    tags::check(&entry.labels, &at.field("labels"), found);
}

/// As an endpoint of a ServiceEntry whose endpoints are resolved.
pub(crate) fn named_endpoint(
    entry: &WorkloadEntry,
    service_ports: &BTreeSet<&str>,
    at: &At<'_>,
    found: &mut Findings,
) {
    if !is_ip(&entry.address) && fqdn(&entry.address).is_err() {
        found.error(&at.field("address"), neither_name_nor_ip(&entry.address));
    }
    ports(entry, Some(service_ports), at, found);
    tags::check(&entry.labels, &at.field("labels"), found);
}

fn address(entry: &WorkloadEntry, names: bool, at: &At<'_>, found: &mut Findings) {
    let at = at.field("address");
    let address = entry.address.as_str();
    if address.is_empty() {
        if entry.network.is_empty() {
            found.error(&at, "address is required, unless a network is named");
        } else {
            found.warning(&at, format!("address is unset with network {:?}", entry.network));
        }
    } else if unix_socket::is_one(address) {
        found.verdict(&at, unix_socket::address(address));
        if !entry.ports.is_empty() {
            found.error(&at, format!("unix endpoint {address} must not include ports"));
        }
    } else if !is_ip(address) {
        if !names {
            found.error(&at, format!("endpoint address {address:?} is not a valid IP address"));
        } else if fqdn(address).is_err() {
            found.error(&at, neither_name_nor_ip(address));
        }
    }
}

fn neither_name_nor_ip(address: &str) -> String {
    format!("endpoint address {address:?} is not a valid FQDN or an IP address")
}

fn ports(entry: &WorkloadEntry, service_ports: Option<&BTreeSet<&str>>, at: &At<'_>, found: &mut Findings) {
    let at = at.field("ports");
    for (name, port) in &entry.ports {
        let at = at.field(name);
        if service_ports.is_some_and(|ports| !ports.contains(name.as_str())) {
            found.error(&at, format!("endpoint port {name:?} ({port}) is not defined by the service entry"));
        }
        found.verdict(&at, port_name(name));
        found.verdict(&at, number::port(*port));
    }
}

pub(crate) fn port_name(name: &str) -> Result<(), String> {
    if is_dns_label(name) {
        Ok(())
    } else {
        Err(format!("invalid port name {name:?}: letters, digits and inner dashes, at most 63"))
    }
}

#[cfg(test)]
mod tests {
    use crate::kinds::tests::{accepted, refused, warned};
    use serde_json::json;

    #[test]
    fn an_address_is_an_ip_a_name_or_a_socket() {
        for address in ["1.2.3.4", "::1", "a.example.com", "unix:///run/a.sock", "unix://@a"] {
            accepted("WorkloadEntry", json!({"address": address}));
        }
        for address in ["", "a_b", "unix://", "unix://a", "10.0.0.0/8", "1.2.3.4:80"] {
            refused("WorkloadEntry", json!({"address": address}), &["spec.address"]);
        }
    }

    #[test]
    fn an_address_may_be_missing_where_a_network_is_named() {
        warned("WorkloadEntry", json!({"network": "n"}), &["spec.address"]);
        refused("WorkloadEntry", json!({}), &["spec.address"]);
    }

    #[test]
    fn ports_have_names_and_numbers() {
        accepted("WorkloadEntry", json!({"address": "1.2.3.4", "ports": {"http": 80}}));
        refused(
            "WorkloadEntry",
            json!({"address": "1.2.3.4", "ports": {"http": 0, "b_d": 80}}),
            &["spec.ports.b_d", "spec.ports.http"],
        );
    }

    #[test]
    fn a_socket_has_no_ports() {
        refused("WorkloadEntry", json!({"address": "unix:///a", "ports": {"http": 80}}), &["spec.address"]);
    }

    #[test]
    fn labels_are_those_of_kubernetes() {
        accepted("WorkloadEntry", json!({"address": "a", "labels": {"istio.io/a": "b", "c": ""}}));
        refused(
            "WorkloadEntry",
            json!({"address": "a", "labels": {"a b": "c", "d": "e f"}}),
            &["spec.labels[\"a b\"]", "spec.labels.d"],
        );
    }
}
