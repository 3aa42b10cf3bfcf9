//! The only crate that speaks to Kubernetes, and its first piece: a client, and reflectors that keep nothing of an object
//! but what their caller has use for.
//!
//! In: which resource ([`Resource`]) and a type to read it into ([`Trimmed`]). Out: [`Change`]s, in order, on a bounded
//! channel: nothing lost, nothing twice, whatever happens to the connection. It knows no mesh.

mod backoff;
mod body;
mod change;
mod client;
mod failure;
mod follow;
mod items;
mod lines;
mod list;
mod resource;
mod state;
mod told;
mod watch;

pub use change::{Change, Identity, Key, Trimmed};
pub use client::{Access, NoClient, connect};
pub use follow::follow;
pub use kube::Client;
pub use resource::Resource;
pub use state::{Phase, State};
