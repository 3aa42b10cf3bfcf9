//! The rules of Istio's webhook, a file per kind.

mod annotations;
mod destination_rule;
mod gateway;
mod proxy_config;
mod service_entry;
mod virtual_service;
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
        _ => {}
    }
}

#[cfg(test)]
mod tests;
