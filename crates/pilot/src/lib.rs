//! The control plane process, `mizzen discovery`.
//!
//! ```text
//! sources (cluster, files, mesh configuration) ─▶ builder (its own thread: store ─▶ snapshot) ─▶ serve (views) ─▶ xDS
//!                                                                                          └─▶ http (pages, metrics)
//! ```
//!
//! In: [`Options`]. Out: streams to proxies, pages for people, metrics; it runs until it is told to end. What an object
//! means is `mesh`'s business, and what Envoy gets `envoy`'s.

mod builder;
mod http;
mod listen;
mod metrics;
mod objects;
mod options;
mod process;
mod replay;
mod serve;
mod sources;

pub use mizzen_cluster::Access;
pub use mizzen_xds::Options as Streams;
pub use options::Options;
pub use process::{Failed, run};
