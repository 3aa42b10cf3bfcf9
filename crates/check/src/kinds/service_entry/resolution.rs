//! How the proxies find a service's endpoints, and what that asks of the rest of a ServiceEntry.

use super::super::workload_entry::{named_endpoint, static_endpoint};
use crate::{
    Findings,
    value::{host::fqdn, protocol},
};
use mizzen_api::{
    Metadata,
    proto::istio::networking::v1alpha3::{
        ServiceEntry,
        service_entry::{Location, Resolution},
    },
};
use mizzen_text::At;
use std::collections::BTreeSet;

const USE_WAYPOINT_LABEL: &str = "istio.io/use-waypoint";

pub(super) fn check(metadata: &Metadata, entry: &ServiceEntry, at: &At<'_>, found: &mut Findings) {
    match Resolution::try_from(entry.resolution) {
        Ok(Resolution::None) => none(entry, at, found),
        Ok(Resolution::Static) => {
            let ports = port_names(entry);
            let at = at.field("endpoints");
            for (index, endpoint) in entry.endpoints.iter().enumerate() {
                static_endpoint(endpoint, &ports, &at.index(index), found);
            }
        }
        Ok(by @ (Resolution::Dns | Resolution::DnsRoundRobin)) => dns(entry, by, at, found),
        Ok(Resolution::DynamicDns) => dynamic_dns(metadata, entry, at, found),
        Err(_) => {
            found.error(&at.field("resolution"), format!("unsupported resolution type {}", entry.resolution));
        }
    }
    if entry.resolution != Resolution::None as i32 {
        told_apart(entry, at, found);
    }
}

fn port_names(entry: &ServiceEntry) -> BTreeSet<&str> {
    entry.ports.iter().map(|port| port.name.as_str()).collect()
}

fn none(entry: &ServiceEntry, at: &At<'_>, found: &mut Findings) {
    if !entry.endpoints.is_empty() {
        found.error(&at.field("endpoints"), "no endpoints should be provided for resolution type NONE");
    }
    if entry.workload_selector.is_some() {
        found.warning(
            &at.field("workloadSelector"),
            "workloadSelector should not be set when resolution mode is NONE",
        );
    }
}

fn dns(entry: &ServiceEntry, by: Resolution, at: &At<'_>, found: &mut Findings) {
    let by_name = by.as_str_name();
    if entry.endpoints.is_empty() {
        let at = at.field("hosts");
        for (index, host) in entry.hosts.iter().enumerate() {
            if let Err(why) = fqdn(host) {
                found.error(
                    &at.index(index),
                    format!(
                        "hosts must be FQDN if no endpoints are provided for resolution mode {by_name}: {why}"
                    ),
                );
            }
        }
    }
    let endpoints_at = at.field("endpoints");
    if by == Resolution::DnsRoundRobin && entry.endpoints.len() > 1 {
        found.error(
            &endpoints_at,
            format!("there must only be 0 or 1 endpoint for resolution mode {by_name}"),
        );
    }
    let ports = port_names(entry);
    for (index, endpoint) in entry.endpoints.iter().enumerate() {
        named_endpoint(endpoint, &ports, &endpoints_at.index(index), found);
    }
    if !entry.addresses.is_empty()
        && entry.hosts.len() > 1
        && entry.ports.iter().any(|port| protocol::is_tcp(&port.protocol))
    {
        found.warning(
            &at.field("hosts"),
            "service entry can not have more than one host specified simultaneously with address and tcp port",
        );
    }
}

fn dynamic_dns(metadata: &Metadata, entry: &ServiceEntry, at: &At<'_>, found: &mut Findings) {
    let hosts_at = at.field("hosts");
    for (index, host) in entry.hosts.iter().enumerate() {
        if !host.starts_with('*') {
            found.error(
                &hosts_at.index(index),
                format!("host must be wildcarded for resolution mode DYNAMIC_DNS, not {host:?}"),
            );
        }
    }
    for (name, there) in
        [("addresses", !entry.addresses.is_empty()), ("endpoints", !entry.endpoints.is_empty())]
    {
        if there {
            found.error(
                &at.field(name),
                format!(
                    "{name} cannot be set for resolution type DYNAMIC_DNS: they are found by the hosts' names"
                ),
            );
        }
    }
    let ports_at = at.field("ports");
    for (index, port) in entry.ports.iter().enumerate() {
        if !protocol::names_its_host(&port.protocol) {
            found.error(
                &ports_at.index(index).field("protocol"),
                "only HTTP, TLS, GRPC, and HTTP2 protocols are supported for resolution type DYNAMIC_DNS",
            );
        }
    }
    match Location::try_from(entry.location) {
        Ok(Location::MeshExternal) => {}
        Ok(Location::MeshInternal) if !uses_waypoint(metadata) => {}
        Ok(Location::MeshInternal) => found.error(
            &at.field("location"),
            "location MESH_INTERNAL with resolution type DYNAMIC_DNS is not supported when using waypoints",
        ),
        Err(_) => found.error(
            &at.field("location"),
            "location must be MESH_EXTERNAL or MESH_INTERNAL for resolution type DYNAMIC_DNS",
        ),
    }
}

fn uses_waypoint(metadata: &Metadata) -> bool {
    metadata
        .labels
        .get(USE_WAYPOINT_LABEL)
        .is_some_and(|waypoint| !waypoint.is_empty() && !waypoint.eq_ignore_ascii_case("none"))
}

/// Requests and handshakes name their host; plain TCP does not, so there can be only one.
fn told_apart(entry: &ServiceEntry, at: &At<'_>, found: &mut Findings) {
    if entry.hosts.len() < 2 {
        return;
    }
    let at = at.field("ports");
    for (index, port) in entry.ports.iter().enumerate() {
        if !protocol::is_http(&port.protocol) && !protocol::is_tls(&port.protocol) {
            found.error(
                &at.index(index).field("protocol"),
                "multiple hosts provided with non-HTTP, non-TLS ports: give each host a service entry of its own",
            );
        }
    }
}
