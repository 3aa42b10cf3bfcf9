//! The `Istio` resource: what is decided about it.

pub mod features;
pub mod images;
pub mod merge;
pub mod profile;
pub mod provider;
pub mod size;
pub mod version;
