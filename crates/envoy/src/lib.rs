//! The mesh in Envoy's words. In: a snapshot, and a proxy through its recorded attributes. Out: clusters, endpoints,
//! listeners and routes as encoded bytes.
//!
//! Each type has one entry: [`clusters::set`] and [`listeners::build`] make all of a proxy's, [`endpoints::build`] and
//! [`routes::build`] the one of a name. What is expensive is built by functions that see nothing but a key of
//! their inputs, through a [`memo::Table`]: the same inputs give the same bytes, shared by all proxies.

pub mod clusters;
mod common;
mod context;
pub mod endpoints;
pub mod listeners;
pub mod local;
pub mod memo;
pub mod message;
pub mod metadata;
pub mod names;
mod options;
pub mod policy;
pub mod routes;
pub mod views;

pub use common::Shared;
pub use context::Context;
pub use memo::Memo;
pub use mizzen_xds::Resource;
pub use options::{Filters, Options};
