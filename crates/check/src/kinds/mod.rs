//! The rules of Istio's webhook, a file per kind.

mod annotations;
mod destination_rule;
mod gateway;
mod virtual_service;

use crate::Findings;
use mizzen_api::{Object, Spec};

/// What Istio's validating webhook would say of an object.
pub(crate) fn check(object: &Object, found: &mut Findings) {
    annotations::check(object, found);
    match &object.spec {
        Spec::DestinationRule(spec) => destination_rule::check(&object.metadata, spec, found),
        Spec::Gateway(spec) => gateway::check(&object.metadata, spec, found),
        Spec::VirtualService(spec) => virtual_service::check(&object.metadata, spec, found),
        _ => {}
    }
}
