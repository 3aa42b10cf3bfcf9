//! The ADS server: delta and state of the world over one service.
//!
//! In: a [`Source`] that turns a node into a client and, at each [`Generation`], a client's subscription into a
//! [`ResourceSet`] of encoded bytes. Out: gRPC streams, the list of who is connected and what each has
//! ([`Server::connections`]) and plain counters ([`Statistics`]). It knows neither kinds of objects nor Envoy's messages beyond
//! the two requests; what a response carries is bytes that others made, shared by all streams that are sent them.

mod body;
mod bucket;
mod connection;
mod connections;
mod difference;
mod frames;
mod histogram;
mod kind;
mod names;
mod options;
mod outbox;
mod request;
mod resource;
mod server;
mod service;
mod session;
mod set;
mod source;
mod statistics;
mod stream;
mod subscription;
mod wire;

pub use connections::{Connection, Refusal, Watched};
pub use difference::Difference;
pub use histogram::{Histogram, Reading};
pub use kind::Type;
pub use names::NameSet;
pub use options::Options;
pub use resource::{Resource, Version};
pub use server::Server;
pub use service::Ads;
pub use session::Protocol;
pub use set::ResourceSet;
pub use source::{Generation, Generations, Node, Peer, Refused, Source};
pub use statistics::{Statistics, TypeStatistics};
pub use subscription::Subscription;
