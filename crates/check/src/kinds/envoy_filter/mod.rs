//! EnvoyFilter: changes to Envoy's configuration, written in Envoy's own messages.

mod json;
mod matches;
mod message;
mod names;
mod newer;
mod scalar;
mod types;

use crate::{Findings, parts::selector};
use mizzen_api::proto::{
    descriptors,
    istio::networking::v1alpha3::{
        EnvoyFilter,
        envoy_filter::{ApplyTo, EnvoyConfigObjectPatch, Patch, PatchContext, patch::Operation},
    },
};
use mizzen_text::At;

pub(crate) fn check(filter: &EnvoyFilter, found: &mut Findings) {
    let at = At::TOP.field("spec");
    found.warning(
        &at,
        "EnvoyFilter exposes internal implementation details that may change at any time. Prefer other APIs if \
         possible, and exercise extreme caution, especially around upgrades.",
    );
    let selector_at = at.field("workloadSelector");
    selector::by_labels(filter.workload_selector.as_ref(), &selector_at, found);
    if filter.workload_selector.as_ref().is_some_and(|selector| selector.labels.is_empty()) {
        found.warning(
            &selector_at,
            "Envoy filter: workload selector specified without labels, will be applied to all services in namespace",
        );
    }
    let at = at.field("configPatches");
    for (index, patch) in filter.config_patches.iter().enumerate() {
        config_patch(patch, &at.index(index), found);
    }
}

fn config_patch(config: &EnvoyConfigObjectPatch, at: &At<'_>, found: &mut Findings) {
    // Istio does not look at patches for waypoints at all.
    if config.r#match.as_ref().is_some_and(|matches| matches.context == PatchContext::Waypoint as i32) {
        return;
    }
    if let Some(matches) = &config.r#match {
        matches::check(matches, config.apply_to, &at.field("match"), found);
    }
    if config.apply_to == ApplyTo::Invalid as i32 {
        found.error(&at.field("applyTo"), "Envoy filter: missing applyTo");
    }
    match &config.patch {
        Some(patch) => self::patch(patch, config.apply_to, &at.field("patch"), found),
        None => found.error(&at.field("patch"), "Envoy filter: missing patch"),
    }
}

fn patch(patch: &Patch, apply_to: i32, at: &At<'_>, found: &mut Findings) {
    if patch.operation == Operation::Invalid as i32 {
        found.error(&at.field("operation"), "Envoy filter: missing patch operation");
    }
    let at = at.field("value");
    let Some(value) = &patch.value else {
        if patch.operation != Operation::Remove as i32 {
            found.error(&at, "Envoy filter: missing patch value for non-remove operation");
        }
        return;
    };
    let Ok(applied) = ApplyTo::try_from(apply_to) else {
        found.error(&at, format!("Envoy filter: unknown object type for applyTo {apply_to}"));
        return;
    };
    if let Some(message) = patched(applied).and_then(|name| descriptors().get_message_by_name(name)) {
        message::patch_value(&message, value, &at, found);
    }
}

/// The message that a patch changes, of which its value is a part.
fn patched(applied: ApplyTo) -> Option<&'static str> {
    Some(match applied {
        ApplyTo::Invalid => return None,
        ApplyTo::Listener => "envoy.config.listener.v3.Listener",
        ApplyTo::FilterChain => "envoy.config.listener.v3.FilterChain",
        ApplyTo::NetworkFilter => "envoy.config.listener.v3.Filter",
        ApplyTo::HttpFilter => "envoy.extensions.filters.network.http_connection_manager.v3.HttpFilter",
        ApplyTo::RouteConfiguration => "envoy.config.route.v3.RouteConfiguration",
        ApplyTo::VirtualHost => "envoy.config.route.v3.VirtualHost",
        ApplyTo::HttpRoute => "envoy.config.route.v3.Route",
        ApplyTo::Cluster => "envoy.config.cluster.v3.Cluster",
        ApplyTo::ExtensionConfig => "envoy.config.core.v3.TypedExtensionConfig",
        ApplyTo::Bootstrap => "envoy.config.bootstrap.v3.Bootstrap",
        ApplyTo::ListenerFilter => "envoy.config.listener.v3.ListenerFilter",
    })
}

#[cfg(test)]
mod tests;
