//! Gateways: which routers serve them.

use crate::{Attributes, Key, Labels};
use mizzen_api::proto::istio::networking::v1alpha3;
use std::sync::Arc;

#[derive(Debug)]
pub struct Gateway {
    pub key: Key,
    pub created: Arc<str>,
    pub selector: Arc<Labels>,
    pub spec: v1alpha3::Gateway,
}

#[derive(Debug, Default)]
pub struct Gateways {
    all: Vec<Arc<Gateway>>,
}

impl Gateways {
    /// Those that select the router, the oldest first.
    pub fn for_router(&self, proxy: &Attributes) -> Vec<Arc<Gateway>> {
        self.all.iter().filter(|gateway| proxy.selected(&gateway.selector)).cloned().collect()
    }
}
