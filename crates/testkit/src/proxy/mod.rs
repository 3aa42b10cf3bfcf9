//! A simulated proxy: asks a control plane for configuration as Envoy does, and keeps what it is given.
//!
//! In: where an ADS server listens without TLS, and who the proxy says it is ([`Identity`]). Out: the raw bytes of every
//! resource by kind and name, and the same as JSON. It asks for all clusters, for the endpoints of those that want them, then
//! for all listeners and for the routes they name; it acknowledges at once and follows every change. It is the client of
//! comparisons and measurements: it validates nothing and decodes only what tells it what to ask for next.

mod ask;
mod delta;
mod identity;
mod json;
mod kind;
mod ledger;
mod mentions;
mod whole;

use std::{
    net::SocketAddr,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use envoy_types::pb::envoy::{
    config::core::v3::Node,
    service::discovery::v3::aggregated_discovery_service_client::AggregatedDiscoveryServiceClient,
};
use tokio::task::AbortHandle;
use tonic::transport::{Channel, Endpoint};

pub use self::{
    identity::{Identity, Role, proxy_config},
    json::{Configuration, to_json},
    kind::Kind,
    ledger::{Held, Ledger, Refusal},
    mentions::mentions,
};
use crate::{
    error::{Error, Result},
    wait::{self, PATIENCE, Seen},
};

/// What istiod sends to a proxy of a large mesh in one message has been seen beyond 100 MB.
const MESSAGE_LIMIT: usize = 1 << 30;
/// Requests that wait for a server that does not read them.
const REQUESTS: usize = 64;

#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The whole state in every response instead of differences.
    pub state_of_the_world: bool,
    /// Kinds whose responses are refused (NACK): what was there before stays.
    pub refuse: Vec<Kind>,
}

pub struct Proxy {
    ledger: Arc<Mutex<Ledger>>,
    stream: AbortHandle,
}

impl Proxy {
    pub async fn connect(server: SocketAddr, identity: &Identity, options: Options) -> Result<Self> {
        let endpoint = Endpoint::from_shared(format!("http://{server}")).map_err(Error::other)?;
        // As large as Envoy has them by default, or a first answer would crawl.
        let endpoint = endpoint.initial_stream_window_size(1 << 28).initial_connection_window_size(1 << 28);
        let channel = endpoint.connect().await.map_err(|error| {
            Error::other(format_args!("connect to the control plane at {server}: {error}"))
        })?;
        Ok(Self::over(channel, identity.node(), options))
    }

    /// The same over a connection that is there, as a node that somebody else has described.
    pub fn over(channel: Channel, node: Node, options: Options) -> Self {
        let ledger = Arc::new(Mutex::new(Ledger::new(options.refuse)));
        let client = AggregatedDiscoveryServiceClient::new(channel)
            .max_decoding_message_size(MESSAGE_LIMIT)
            .max_encoding_message_size(MESSAGE_LIMIT);
        let kept = Arc::clone(&ledger);
        let stream = tokio::spawn(async move {
            let end = if options.state_of_the_world {
                whole::run(client, node, &kept).await
            } else {
                delta::run(client, node, &kept).await
            };
            let reason = end.map_or_else(|status| status.to_string(), |()| "the server closed it".to_owned());
            lock(&kept).end(reason);
        });
        Self { ledger, stream: stream.abort_handle() }
    }

    /// What it has now.
    pub fn ledger(&self) -> MutexGuard<'_, Ledger> {
        lock(&self.ledger)
    }

    /// Waits until everything asked for has been answered and nothing more has come for that long.
    pub async fn settled(&self, quiet: Duration) -> Result<()> {
        wait::until("a simulated proxy to have its configuration", PATIENCE, async || {
            let ledger = self.ledger();
            if let Some(end) = ledger.ended() {
                return Seen::Never(format!("its stream ended: {end}"));
            }
            let open = ledger.open();
            Seen::when(open.is_none() && ledger.quiet_for() >= quiet, || {
                open.unwrap_or_else(|| "still changing".to_owned())
            })
        })
        .await
    }

    /// Everything it has, as JSON.
    pub fn dump(&self) -> Result<Configuration> {
        Configuration::of(&self.ledger())
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.stream.abort();
    }
}

fn lock(ledger: &Mutex<Ledger>) -> MutexGuard<'_, Ledger> {
    ledger.lock().unwrap_or_else(PoisonError::into_inner)
}
