//! What a control plane is told to do, read from flags and the environment by whoever starts it.

use mizzen_cluster::Access;
use std::{path::PathBuf, time::Duration};

#[derive(Clone, Debug)]
pub struct Options {
    /// Shown in metrics.
    pub version: String,
    /// The same with what it was built from, as Istio's programs say it: `1.31.0-<revision>-Clean`. Shown on `/version`.
    pub build: String,
    /// Services, endpoints and pods come from a cluster.
    pub registry: bool,
    /// How to get there; used if anything comes from a cluster.
    pub access: Access,
    /// Istio's objects come from the files in these folders, not from the cluster; without `registry`, services do, too.
    pub config_dirs: Vec<PathBuf>,
    /// Used if it is there; otherwise the ConfigMap of the cluster.
    pub mesh_config: PathBuf,
    pub networks_config: PathBuf,
    /// Where the control plane lives.
    pub namespace: String,
    pub domain: String,
    pub cluster: String,
    /// Empty: every object counts, whatever revision it is for.
    pub revision: String,
    /// `host:port`, `:port` for every address; none: not served.
    pub grpc: Option<String>,
    pub http: Option<String>,
    pub monitoring: Option<String>,
    pub streams: mizzen_xds::Options,
    pub proxies: mizzen_envoy::Options,
    /// Builds everything again alone and compares. Slow.
    pub verify: bool,
    /// How long the end may take.
    pub grace: Duration,
}

impl Options {
    /// Whether anything comes from a cluster.
    pub fn needs_cluster(&self) -> bool {
        self.registry || self.config_dirs.is_empty()
    }
}
