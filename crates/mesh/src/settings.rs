//! What holds for the whole mesh.

use mizzen_api::{
    mesh,
    proto::istio::mesh::v1alpha1::{MeshConfig, MeshNetworks},
};
use std::sync::Arc;

#[derive(Clone, Debug)]
pub struct Settings {
    pub mesh: Arc<MeshConfig>,
    pub networks: Arc<MeshNetworks>,
    /// `cluster.local`
    pub domain: Arc<str>,
    /// The cluster that the Kubernetes objects come from.
    pub cluster: Arc<str>,
    /// Of this control plane.
    pub revision: Arc<str>,
    /// Where the control plane lives.
    pub namespace: Arc<str>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            mesh: Arc::new(mesh::mesh_config()),
            networks: Arc::default(),
            domain: "cluster.local".into(),
            cluster: "Kubernetes".into(),
            revision: "default".into(),
            namespace: "istio-system".into(),
        }
    }
}

impl Settings {
    pub fn root_namespace(&self) -> &str {
        &self.mesh.root_namespace
    }
}

impl Settings {
    /// The very same, not only equal.
    pub(crate) fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.mesh, &other.mesh)
            && Arc::ptr_eq(&self.networks, &other.networks)
            && self.domain == other.domain
            && self.cluster == other.cluster
            && self.revision == other.revision
            && self.namespace == other.namespace
    }
}
