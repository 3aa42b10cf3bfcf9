//! What builders have at hand.

use crate::{Memo, Options, Shared};
use mizzen_mesh::{Attributes, Sees, Settings, Sight};
use mizzen_proto::istio::mesh::v1alpha1::MeshConfig;

#[derive(Clone, Copy)]
pub struct Context<'a> {
    /// Records what is looked at.
    pub snapshot: &'a Sight<'a>,
    /// Records what is asked: ask only what matters, and only when it does.
    pub proxy: &'a Attributes,
    pub memo: &'a Memo,
    /// Only what was built of this very snapshot, or holds in it.
    pub shared: &'a Shared,
    pub options: &'a Options,
}

impl<'a> Context<'a> {
    pub fn settings(&self) -> &'a Settings {
        self.snapshot.settings()
    }

    pub fn mesh(&self) -> &'a MeshConfig {
        &self.settings().mesh
    }

    /// What the proxy sees.
    pub fn scope(&self) -> Sees<'a> {
        self.proxy.scope()
    }
}
