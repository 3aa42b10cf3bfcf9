//! Where the proxy listens for traffic from its workload, and which hosts it knows there.

use crate::{
    Findings,
    value::{
        host, number,
        scoped_host::{HostOf, scoped_host},
        unix_socket,
    },
};
use mizzen_api::{
    Metadata,
    proto::istio::networking::v1alpha3::{CaptureMode, IstioEgressListener, SidecarPort},
};
use mizzen_text::At;
use std::collections::{BTreeMap, BTreeSet};

pub(super) fn check(
    metadata: &Metadata,
    listeners: &[IstioEgressListener],
    at: &At<'_>,
    found: &mut Findings,
) {
    let mut ports = BTreeSet::new();
    let mut sockets = BTreeSet::new();
    for (index, listener) in listeners.iter().enumerate() {
        let at = at.index(index);
        match &listener.port {
            Some(port) if port.number == 0 => {
                socket(listener, port, &at, found);
                if !sockets.insert(&listener.bind) {
                    found.error(
                        &at.field("bind"),
                        "sidecar: unix domain socket values for listeners must be unique",
                    );
                }
            }
            Some(port) => {
                address(listener, port, &at, found);
                if !ports.insert(port.number) {
                    found.error(&at.field("port").field("number"), super::NOT_UNIQUE);
                }
            }
            None if index + 1 == listeners.len() => {}
            None => found.error(
                &at.field("port"),
                "sidecar: the egress listener with empty port should be the last listener in the list",
            ),
        }
        hosts(metadata, &listener.hosts, &at.field("hosts"), found);
    }
}

/// A port 0 means that the listener is a socket in the file system.
fn socket(listener: &IstioEgressListener, port: &SidecarPort, at: &At<'_>, found: &mut Findings) {
    super::port(port, &at.field("port"), found);
    let bind_at = at.field("bind");
    if unix_socket::is_one(&listener.bind) {
        found.verdict(&bind_at, unix_socket::address(&listener.bind));
    } else {
        found.error(&bind_at, "sidecar: ports with 0 value must have a unix domain socket bind address");
    }
    if listener.capture_mode != CaptureMode::Default as i32
        && listener.capture_mode != CaptureMode::None as i32
    {
        found.error(
            &at.field("captureMode"),
            "sidecar: captureMode must be DEFAULT/NONE for unix domain socket listeners",
        );
    }
}

fn address(listener: &IstioEgressListener, port: &SidecarPort, at: &At<'_>, found: &mut Findings) {
    let port_at = at.field("port");
    super::port(port, &port_at, found);
    found.verdict(&port_at.field("number"), number::port(port.number));
    if !listener.bind.is_empty() {
        found.verdict(&at.field("bind"), host::ip(&listener.bind));
    }
}

fn hosts(metadata: &Metadata, hosts: &[String], at: &At<'_>, found: &mut Findings) {
    if hosts.is_empty() {
        found.error(at, "sidecar: egress listener must contain at least one host");
    }
    let mut seen: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (index, text) in hosts.iter().enumerate() {
        let at = at.index(index);
        // Those with ~ before them are left out, and may be named as often as one likes.
        if let Some((namespace, service)) = text.split_once('/').filter(|_| !text.starts_with('~')) {
            let namespace = if namespace == "." { metadata.namespace.as_str() } else { namespace };
            let services = seen.entry(namespace).or_default();
            let covered = if service == "*" {
                !services.is_empty()
            } else {
                services.contains(service) || services.contains("*")
            };
            if covered {
                found.warning(&at, format!("duplicated egress host: {text}"));
            }
            services.insert(service);
        }
        found.verdict(&at, scoped_host(HostOf::Sidecar, text));
    }
    if seen.len() != 1 && seen.get("*").is_some_and(|services| services.contains("*")) {
        found.warning(at, "`*/*` host select all resources, no other hosts can be added");
    }
}
