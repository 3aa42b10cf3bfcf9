//! DestinationRules: which one holds for a client and a service.

use crate::{Key, Labels, Service, Settings, Visibility};
use mizzen_api::proto::istio::networking::v1alpha3;
use std::sync::Arc;

/// One or several DestinationRules for one host in one namespace, merged.
#[derive(Debug)]
pub struct DestinationRule {
    /// What it was made of, the first first.
    pub from: Vec<Key>,
    pub visibility: Visibility,
    /// Of the client's workload; empty: all.
    pub selector: Arc<Labels>,
    /// The host as a whole name; subsets of all that were merged.
    pub spec: v1alpha3::DestinationRule,
}

#[derive(Debug, Default)]
pub struct DestinationRules {}

impl DestinationRules {
    /// The rules for clients in `client` of `service`: those with a selector first, then the one for everybody.
    /// Looked for in the client's namespace, then in the service's, then in the root namespace.
    pub fn select(
        &self,
        _settings: &Settings,
        _client: &str,
        _service: &Service,
    ) -> Vec<Arc<DestinationRule>> {
        Vec::new()
    }
}
