//! The mesh's own configuration: MeshConfig with the ProxyConfig in it, and MeshNetworks. They are no Kubernetes
//! objects but files in a ConfigMap, and what a file does not say is as Istio has it by default.
//!
//! In: a document as JSON, and what it is laid over. Out: the whole message, or the field that cannot be read. Whether
//! it is acceptable is `check`'s business.

mod defaults;
mod overlay;
mod providers;

pub use defaults::{mesh_config, proxy_config};

use crate::Unreadable;
use mizzen_proto::istio::mesh::v1alpha1::{
    MeshConfig, MeshNetworks, ProxyConfig, mesh_config::DefaultProviders,
};
use overlay::{lay, part};
use serde_json::Value;
use std::collections::BTreeSet;

/// A MeshConfig's document over `base`. A field that the document has replaces that of the base as a whole, but: the
/// proxies' configuration and the default providers are laid over field by field, extension providers by name, and
/// aliases of the trust domain are added.
pub fn apply_mesh_config(base: &MeshConfig, document: &Value) -> Result<MeshConfig, Unreadable> {
    let mut mesh: MeshConfig = lay(base, document, &[])?;
    // These two are merged only under their newer spelling; under the older one Istio passes them by.
    mesh.default_config = match part(document, "defaultConfig") {
        Some(json) => {
            let default = proxy_config();
            let base = base.default_config.as_ref().unwrap_or(&default);
            Some(proxy_over(base, json, &["defaultConfig"])?)
        }
        None => base.default_config.clone(),
    };
    mesh.default_providers = match part(document, "defaultProviders") {
        Some(json) => {
            let base = base.default_providers.clone().unwrap_or_default();
            Some(lay::<DefaultProviders>(&base, json, &["defaultProviders"])?)
        }
        None => base.default_providers.clone(),
    };
    mesh.extension_providers = providers::by_name(&base.extension_providers, mesh.extension_providers);
    let aliases: BTreeSet<String> =
        base.trust_domain_aliases.iter().cloned().chain(mesh.trust_domain_aliases).collect();
    mesh.trust_domain_aliases = aliases.into_iter().collect();
    Ok(mesh)
}

/// A ProxyConfig's document (in a MeshConfig, or in the annotation of a pod) over `base`. A field that the document
/// has replaces that of the base as a whole, but metadata is added by name, and some headers stay if they are not
/// named.
pub fn apply_proxy_config(base: &ProxyConfig, document: &Value) -> Result<ProxyConfig, Unreadable> {
    proxy_over(base, document, &[])
}

/// A MeshNetworks' document. There are no networks by default.
pub fn read_mesh_networks(document: &Value) -> Result<MeshNetworks, Unreadable> {
    lay(&MeshNetworks::default(), document, &[])
}

fn proxy_over(base: &ProxyConfig, document: &Value, top: &[&str]) -> Result<ProxyConfig, Unreadable> {
    let mut proxy: ProxyConfig = lay(base, document, top)?;
    for (name, value) in &base.proxy_metadata {
        proxy.proxy_metadata.entry(name.clone()).or_insert_with(|| value.clone());
    }
    if let (Some(headers), Some(base)) = (&mut proxy.proxy_headers, &base.proxy_headers) {
        if headers.forwarded_client_cert == 0 {
            headers.forwarded_client_cert = base.forwarded_client_cert;
        }
        headers.request_id = headers.request_id.or(base.request_id);
        headers.attempt_count = headers.attempt_count.or(base.attempt_count);
        headers.server = headers.server.take().or_else(|| base.server.clone());
        headers.envoy_debug_headers = headers.envoy_debug_headers.or(base.envoy_debug_headers);
    }
    Ok(proxy)
}

#[cfg(test)]
mod tests;
