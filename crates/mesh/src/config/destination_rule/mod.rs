//! DestinationRules: which one holds for a client and a service.
//!
//! In: the objects. Out: [`DestinationRules`], asked with a client's namespace and a service. Rules of one namespace for one
//! host are merged ([`merge`]); an answer is the same `Arc` as before if nothing that it is made of changed.

mod merge;
mod namespace;
mod state;

pub(super) use state::State;

use crate::{Key, Labels, Service, Settings};
use mizzen_api::proto::istio::networking::v1alpha3;
use namespace::Namespace;
use std::{
    collections::{BTreeSet, HashMap, HashSet},
    sync::Arc,
};

/// One or several DestinationRules for one host in one namespace, merged.
#[derive(Debug, PartialEq)]
pub struct DestinationRule {
    /// What it was made of, the first first.
    pub from: Vec<Key>,
    /// `exportTo` as it was written; what is said nowhere is for all.
    pub export_to: BTreeSet<String>,
    /// Of the client's workload; empty: all.
    pub selector: Arc<Labels>,
    /// The host as a whole name; subsets of all that were merged.
    pub spec: v1alpha3::DestinationRule,
}

/// What holds for a service: rules with a selector (for some of the namespace's workloads) first, then the one for all.
pub type Rules = Arc<[Arc<DestinationRule>]>;

#[derive(Debug, Default)]
pub struct DestinationRules {
    namespaces: HashMap<Arc<str>, Arc<Namespace>>,
    /// Namespaces with rules of their own, or whose name is in some `exportTo`.
    special: HashSet<Arc<str>>,
    none: Rules,
}

impl DestinationRules {
    /// The rules for clients in `client` of `service`. Looked for in the client's namespace, then in the service's, then in the root
    /// namespace. Without a client: what holds where nothing special does.
    pub fn select(&self, settings: &Settings, client: Option<&str>, service: &Service) -> Rules {
        let root = settings.root_namespace();
        self.find(root, client, service).cloned().unwrap_or_else(|| Arc::clone(&self.none))
    }

    fn find(&self, root: &str, client: Option<&str>, service: &Service) -> Option<&Rules> {
        let host = service.host();
        if let Some(client) = client
            && let Some(own) = self.namespaces.get(client)
        {
            // Rules for the whole mesh are in the root namespace. They must not stand before a service's own just because the
            // client, often an ingress, lives there, too.
            let found = if client == root { own.private(host) } else { own.local(host) };
            if found.is_some() {
                return found;
            }
        }
        let exported = |namespace: &str| self.namespaces.get(namespace)?.exported(host, client);
        exported(service.namespace()).or_else(|| exported(root))
    }

    /// Whether clients in `namespace` may see what others do not.
    pub(crate) fn is_special(&self, settings: &Settings, namespace: &str) -> bool {
        self.special.contains(namespace) || settings.root_namespace() == namespace
    }
}
