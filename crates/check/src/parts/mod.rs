//! Pieces that several kinds have in common.

pub(crate) mod client_tls;
pub(crate) mod connection_pool;
pub(crate) mod destination;
pub(crate) mod export_to;
pub(crate) mod load_balancer;
pub(crate) mod locality;
pub(crate) mod outlier_detection;
pub(crate) mod selector;
pub(crate) mod server_tls;
pub(crate) mod tags;
pub(crate) mod wasm;
