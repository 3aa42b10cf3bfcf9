//! The gateways that a VirtualService, or one match of it, is for.

use crate::{
    Findings,
    value::{host::fqdn, label::is_dns_label},
};
use mizzen_api::proto::istio::networking::v1alpha3::VirtualService;
use mizzen_text::At;

/// The name that stands for all sidecars.
const MESH: &str = "mesh";

/// What routes by it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Bound {
    /// Sidecars, perhaps gateways as well.
    Mesh,
    /// Gateways only.
    Gateways,
}

impl Bound {
    pub(super) fn of(spec: &VirtualService) -> Self {
        if spec.gateways.is_empty() || names_mesh(spec) { Self::Mesh } else { Self::Gateways }
    }
}

pub(super) fn names_mesh(spec: &VirtualService) -> bool {
    spec.gateways.iter().any(|name| name == MESH)
}

pub(super) fn check(names: &[String], converted: bool, at: &At<'_>, found: &mut Findings) {
    for (index, text) in names.iter().enumerate() {
        let at = at.index(index);
        let Some((namespace, name)) = text.split_once('/') else {
            if let Some((name, rest)) = text.split_once('.') {
                let namespace = rest.split('.').next().unwrap_or_default();
                found.warning(
                    &at,
                    format!("using legacy gatewayName format {text:?}; prefer the <namespace>/<name> format: \"{namespace}/{name}\""),
                );
            }
            found.verdict(&at, fqdn(text));
            // Istio looks no further than the first name without a namespace, so what comes behind is accepted.
            return;
        };
        if namespace.is_empty() || name.is_empty() {
            found.error(&at, format!("config namespace and gateway name cannot be empty: {text:?}"));
            continue;
        }
        if !is_dns_label(namespace) {
            found.error(&at, format!("invalid value for namespace: {namespace:?} must be a DNS label"));
        }
        if !is_dns_label(name) && !converted {
            found.error(&at, format!("invalid value for gateway name: {name:?} must be a DNS label"));
        }
    }
}
