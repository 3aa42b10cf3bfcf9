//! Where resources come from.

use std::{net::SocketAddr, sync::Arc, time::Instant};

pub use mizzen_proto::envoy::config::core::v3::Node;
use tokio::sync::watch;

use crate::{kind::Type, set::ResourceSet, subscription::Subscription};

/// The newest generation, and word of newer ones. `None` until everything has been read once: until then no stream is served.
pub type Generations<C> = watch::Receiver<Option<Arc<dyn Generation<C>>>>;

/// Implemented by the control plane.
pub trait Source: Send + Sync + 'static {
    /// What a node became: all that resources are chosen by.
    type Client: Send + Sync + 'static;

    /// Called once a stream, with the node of its first request.
    fn connect(&self, node: &Node, peer: &Peer) -> Result<Arc<Self::Client>, Refused>;

    /// The stream of this client ended.
    fn disconnect(&self, client: &Arc<Self::Client>) {
        let _ = client;
    }

    fn generations(&self) -> Generations<Self::Client>;

    /// Whether there are such resources at all. A request for another type is counted, told and not answered.
    fn serves(&self, client: &Self::Client, kind: &Type) -> bool {
        let _ = client;
        !matches!(kind, Type::Other(_))
    }

    /// The proxy's version, by which connections are counted.
    fn version(&self, client: &Self::Client) -> Arc<str> {
        let _ = client;
        "unknown".into()
    }
}

/// One immutable state of the world.
pub trait Generation<C>: Send + Sync + 'static {
    /// Grows with every generation; 0 is not used.
    fn number(&self) -> u64;

    /// What is sent as the version of responses.
    fn version(&self) -> &str;

    /// When it was made, or better: when the change that it shows was seen.
    fn made(&self) -> Instant;

    /// The answer, if it is at hand. Must be quick: it is called while streams wait.
    fn ready(&self, client: &C, kind: &Type, subscription: &Subscription) -> Option<Arc<ResourceSet>>;

    /// The answer. It may take long, runs on a thread for that, and few run at a time. Two clients that see the same
    /// should get the same `Arc`: what is sent is encoded once for each set.
    fn build(&self, client: &C, kind: &Type, subscription: &Subscription) -> Arc<ResourceSet>;
}

/// Who is at the other end, as far as the network knows. Verified identities will stand here.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Peer {
    pub address: SocketAddr,
}

impl Peer {
    pub fn new(address: SocketAddr) -> Self {
        Self { address }
    }
}

/// Why a node is not served.
#[derive(Clone, Debug, thiserror::Error, PartialEq, Eq)]
pub enum Refused {
    /// The node makes no sense: `INVALID_ARGUMENT`.
    #[error("{0}")]
    Malformed(String),
    /// It is not who it says it is: `PERMISSION_DENIED`.
    #[error("{0}")]
    Forbidden(String),
    /// Not now: `UNAVAILABLE`.
    #[error("{0}")]
    Unavailable(String),
}
