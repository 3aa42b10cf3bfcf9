//! PeerAuthentications: which workloads want mutual TLS.

use crate::{Attributes, Labels};

/// What a workload's port takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MtlsMode {
    Disable,
    Permissive,
    Strict,
}

#[derive(Debug, Default)]
pub struct Authentication {}

impl Authentication {
    /// For a port of the proxy's own workload.
    pub fn inbound(&self, _proxy: &Attributes, _port: u32) -> MtlsMode {
        MtlsMode::Permissive
    }

    /// For a port of a workload with these labels, as its clients must know it.
    pub fn of_workload(&self, _namespace: &str, _labels: &Labels, _port: u32) -> MtlsMode {
        MtlsMode::Permissive
    }

    /// For a whole namespace, without looking at workloads (what clients assume of a service).
    pub fn of_namespace(&self, _namespace: &str) -> MtlsMode {
        MtlsMode::Permissive
    }
}
