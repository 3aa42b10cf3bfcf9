//! The rules of Istio's webhook, a file per kind.

mod annotations;
mod authorization_policy;
mod peer_authentication;
mod request_authentication;
mod telemetry;
mod traffic_extension;
mod wasm_plugin;

use crate::Findings;
use mizzen_api::{Object, Spec};

/// What Istio's validating webhook would say of an object.
pub(crate) fn check(object: &Object, found: &mut Findings) {
    annotations::check(object, found);
    match &object.spec {
        Spec::AuthorizationPolicy(spec) => authorization_policy::check(spec, found),
        Spec::PeerAuthentication(spec) => peer_authentication::check(spec, found),
        Spec::RequestAuthentication(spec) => request_authentication::check(spec, found),
        Spec::Telemetry(spec) => telemetry::check(spec, found),
        Spec::TrafficExtension(spec) => traffic_extension::check(spec, found),
        Spec::WasmPlugin(spec) => wasm_plugin::check(spec, found),
        Spec::DestinationRule(_)
        | Spec::EnvoyFilter(_)
        | Spec::Gateway(_)
        | Spec::ProxyConfig(_)
        | Spec::ServiceEntry(_)
        | Spec::Sidecar(_)
        | Spec::VirtualService(_)
        | Spec::WorkloadEntry(_)
        | Spec::WorkloadGroup(_) => {}
    }
}
