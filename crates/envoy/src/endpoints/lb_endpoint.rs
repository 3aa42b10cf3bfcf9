//! One endpoint in Envoy's words.

use super::assignment::{EndpointAddress, LbEndpoint};
use crate::{
    message::{address, number},
    metadata::{ISTIO, Metadata, TRANSPORT_SOCKET, Value},
};
use mizzen_mesh::{Endpoint, Health, Labels};
use mizzen_proto::envoy::config::core::v3::HealthStatus;

/// Marks an endpoint that is to get no new sessions.
const DRAINING_LABEL: &str = "istio.io/draining";

pub(super) fn health(endpoint: &Endpoint) -> Health {
    let labelled = endpoint.labels.get(DRAINING_LABEL).is_some_and(|value| !value.is_empty());
    if labelled && endpoint.health != Health::Terminating { Health::Draining } else { endpoint.health }
}

pub(super) fn lb_endpoint(endpoint: &Endpoint, mutual_tls: bool) -> LbEndpoint {
    let mut metadata = Metadata::default();
    if mutual_tls {
        metadata.set(TRANSPORT_SOCKET, "tlsMode", Value::text("istio"));
    }
    metadata.set(ISTIO, "workload", Value::text(workload(endpoint)));
    let host = endpoint.addresses.first().map_or("", |address| address);
    LbEndpoint {
        endpoint: Some(EndpointAddress { address: Some(address(host, endpoint.port)) }),
        health_status: match health(endpoint) {
            Health::Unknown => HealthStatus::Unknown,
            Health::Healthy => HealthStatus::Healthy,
            Health::Unhealthy => HealthStatus::Unhealthy,
            Health::Draining | Health::Terminating => HealthStatus::Draining,
        }
        .into(),
        metadata: Some(metadata),
        load_balancing_weight: Some(number(endpoint.weight.max(1))),
    }
}

/// `workload;namespace;canonical name;canonical revision;cluster`, for telemetry.
fn workload(endpoint: &Endpoint) -> String {
    let name = first(&endpoint.labels, ["service.istio.io/canonical-name", "app.kubernetes.io/name", "app"])
        .unwrap_or(&endpoint.workload);
    let revision = first(
        &endpoint.labels,
        ["service.istio.io/canonical-revision", "app.kubernetes.io/version", "version"],
    );
    let revision = revision.filter(|revision| *revision != "latest").unwrap_or_default();
    format!("{};{};{name};{revision};{}", endpoint.workload, endpoint.namespace, endpoint.cluster)
}

fn first<'a, const N: usize>(labels: &'a Labels, keys: [&str; N]) -> Option<&'a str> {
    keys.into_iter().find_map(|key| labels.get(key)).map(|value| &**value)
}
