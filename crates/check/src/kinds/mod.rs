//! The rules of Istio's webhook, a file per kind.

mod annotations;
mod authorization_policy;
mod destination_rule;
mod envoy_filter;
mod gateway;
mod peer_authentication;
mod proxy_config;
mod request_authentication;
mod service_entry;
mod sidecar;
mod telemetry;
mod traffic_extension;
mod virtual_service;
mod wasm_plugin;
mod workload_entry;
mod workload_group;

use crate::Findings;
use mizzen_api::{Object, Spec};

/// What Istio's validating webhook would say of an object.
pub(crate) fn check(object: &Object, found: &mut Findings) {
    annotations::check(object, found);
    match &object.spec {
        Spec::DestinationRule(spec) => destination_rule::check(&object.metadata, spec, found),
        Spec::Gateway(spec) => gateway::check(&object.metadata, spec, found),
        Spec::ProxyConfig(spec) => proxy_config::check(spec, found),
        Spec::ServiceEntry(spec) => service_entry::check(&object.metadata, spec, found),
        Spec::VirtualService(spec) => virtual_service::check(&object.metadata, spec, found),
        Spec::WorkloadEntry(spec) => workload_entry::check(spec, found),
        Spec::WorkloadGroup(spec) => workload_group::check(spec, found),
        Spec::AuthorizationPolicy(spec) => authorization_policy::check(spec, found),
        Spec::PeerAuthentication(spec) => peer_authentication::check(spec, found),
        Spec::RequestAuthentication(spec) => request_authentication::check(spec, found),
        Spec::Telemetry(spec) => telemetry::check(spec, found),
        Spec::TrafficExtension(spec) => traffic_extension::check(spec, found),
        Spec::WasmPlugin(spec) => wasm_plugin::check(spec, found),
        Spec::EnvoyFilter(spec) => envoy_filter::check(spec, found),
        Spec::Sidecar(spec) => sidecar::check(&object.metadata, spec, found),
    }
}

#[cfg(test)]
mod tests;
