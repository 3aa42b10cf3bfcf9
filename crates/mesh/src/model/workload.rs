//! What runs somewhere: a pod or a WorkloadEntry.

use super::{Labels, Locality};
use std::sync::Arc;

#[derive(Clone, Debug, PartialEq)]
pub struct Workload {
    pub name: Arc<str>,
    pub namespace: Arc<str>,
    pub addresses: Vec<Arc<str>>,
    pub labels: Arc<Labels>,
    /// `spiffe://…`
    pub service_account: Arc<str>,
    pub locality: Locality,
    pub network: Arc<str>,
    pub cluster: Arc<str>,
    pub node: Arc<str>,
    /// Of the containers, by name; for named target ports.
    pub ports: Vec<(Arc<str>, u32)>,
}
