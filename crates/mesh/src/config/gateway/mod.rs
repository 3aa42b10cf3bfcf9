//! Gateways: which servers a router runs.
//!
//! In: the objects. Out: [`Gateways`], which a router asks for all servers that select it, merged by port ([`Merged`]): its
//! listeners and routes are both made of that.

mod merge;
mod server;
mod state;

pub use merge::{Listened, Merged};
pub use server::Server;
pub(super) use state::State;

use crate::{Attributes, Key, Labels};
use std::sync::Arc;

#[derive(Debug, PartialEq)]
pub struct Gateway {
    pub key: Key,
    pub created: Arc<str>,
    /// Of the router's labels; empty: every router.
    pub selector: Arc<Labels>,
    pub servers: Vec<Arc<Server>>,
}

/// All of them, the oldest first.
#[derive(Debug, Default)]
pub struct Gateways {
    all: Vec<Arc<Gateway>>,
}

impl Gateways {
    /// The servers of all gateways that select the router.
    pub fn for_router(&self, proxy: &Attributes) -> Merged {
        let selected: Vec<&Arc<Gateway>> =
            self.all.iter().filter(|gateway| proxy.selected(&gateway.selector)).collect();
        if selected.is_empty() {
            return Merged::default();
        }
        let targets = proxy.targets();
        merge::merge(selected.into_iter().flat_map(|gateway| &gateway.servers), &targets)
    }
}
