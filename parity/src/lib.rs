//! The yardstick of the control plane: the same objects and the same proxies, the real istiod and ours, and what differs.
//!
//! In: scenarios (`scenarios/*.yaml`: objects, and the proxies to look at). Out: for each proxy what a control plane gives it
//! ([`Dump`]), and the leaves in which two of them differ. [`mod@compare`] needs no server: a dump is a folder of JSON files.

pub mod cluster;
pub mod compare;
pub mod complete;
pub mod dump;
pub mod envoys;
pub mod kinds;
pub mod library;
pub mod proof;
pub mod run;
pub mod scenario;
pub mod who;

pub use cluster::Cluster;
pub use compare::{Allowed, Report, compare};
pub use dump::Dump;
pub use scenario::Scenario;
