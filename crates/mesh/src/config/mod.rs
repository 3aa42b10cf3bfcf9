//! Istio's configuration, indexed the way proxies ask for it.
//!
//! In: Istio objects (all kinds but ServiceEntry and WorkloadEntry, which are services). Out: [`Parts`], each the same
//! `Arc` as before if it did not change. An object that cannot be used is a [`Problem`], and its last good version stays.

mod authentication;
mod destination_rule;
mod gateway;
mod state;
mod virtual_service;

pub use authentication::{Authentication, MtlsMode};
pub use destination_rule::{DestinationRule, DestinationRules};
pub use gateway::{Gateway, Gateways};
pub(crate) use state::State;
pub use virtual_service::{VirtualService, VirtualServices};

use crate::Problem;
use std::sync::Arc;

pub(crate) struct Parts {
    pub(crate) virtual_services: Arc<VirtualServices>,
    pub(crate) destination_rules: Arc<DestinationRules>,
    pub(crate) authentication: Arc<Authentication>,
    pub(crate) gateways: Arc<Gateways>,
    pub(crate) problems: Arc<Vec<Problem>>,
}
