//! Istio's configuration, indexed the way proxies ask for it.
//!
//! In: Istio objects (all kinds but ServiceEntry and WorkloadEntry, which are services). Out: `Parts`, each the same
//! `Arc` as before if it did not change. An object that cannot be used is a [`Problem`], and its last good version stays.

mod age;
mod authentication;
mod destination_rule;
mod gateway;
mod hosts;
mod short_names;
mod state;
mod virtual_service;

pub use authentication::{Authentication, MtlsMode, Peer};
pub use destination_rule::{DestinationRule, DestinationRules, Rules};
pub use gateway::{Gateway, Gateways, Listened, Merged, Server};
pub use hosts::HostMap;
pub use short_names::MESH;
pub(crate) use state::State;
pub use virtual_service::{Bindings, Bound, L4Routes, Routed, VirtualService, VirtualServices};

use crate::{Key, Labels, Problem};
use mizzen_api::Object;
use std::{collections::BTreeMap, sync::Arc};

pub(crate) struct Parts {
    pub(crate) virtual_services: Arc<VirtualServices>,
    pub(crate) destination_rules: Arc<DestinationRules>,
    pub(crate) authentication: Arc<Authentication>,
    pub(crate) gateways: Arc<Gateways>,
    pub(crate) problems: Arc<Vec<Problem>>,
}

/// All that are there, good or once good.
type Objects = BTreeMap<Key, Arc<Object>>;

type Problems = Vec<(Key, Arc<str>)>;

fn labels(labels: &BTreeMap<String, String>) -> Arc<Labels> {
    let shared = |(key, value): (&String, &String)| (Arc::from(key.as_str()), Arc::from(value.as_str()));
    Arc::new(labels.iter().map(shared).collect())
}
