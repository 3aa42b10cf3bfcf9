//! What streams are served: each snapshot becomes a generation of views, and each node a client.
//!
//! In: snapshots from the builder, nodes from streams. Out: generations, on a watch channel. What a proxy sees is `envoy`'s
//! business; here it is known who is connected.

mod node;
mod verify;

use crate::{builder::Published, metrics::Metrics};
use mizzen_envoy::{
    Memo, Options,
    views::{Client, Factory, Generation},
};
use mizzen_xds::{Generations, Node, Peer, Refused, Source, Type};
use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};
use tokio::sync::watch;
pub(crate) use verify::{Watching, verify};

type Newest = Option<Arc<dyn mizzen_xds::Generation<Client>>>;

/// Cheap to clone.
#[derive(Clone)]
pub(crate) struct Proxies(Arc<Inner>);

struct Inner {
    factory: Arc<Factory>,
    metrics: Arc<Metrics>,
    /// Connected ones, by the address of their allocation, which is theirs as long as they are here.
    clients: Mutex<HashMap<usize, Arc<Client>>>,
    last: Mutex<Option<Arc<Generation>>>,
    newest: watch::Sender<Newest>,
}

impl Proxies {
    pub(crate) fn new(options: Options, metrics: Arc<Metrics>) -> Self {
        let factory = Arc::new(Factory { options, memo: Memo::default() });
        let (clients, last, newest) = (Mutex::default(), Mutex::default(), watch::channel(None).0);
        Self(Arc::new(Inner { factory, metrics, clients, last, newest }))
    }

    pub(crate) fn newest(&self) -> Option<Arc<Generation>> {
        lock(&self.0.last).clone()
    }

    pub(crate) fn options(&self) -> &Options {
        &self.0.factory.options
    }

    /// A connected one, by its whole node id.
    pub(crate) fn client(&self, node: &str) -> Option<Arc<Client>> {
        lock(&self.0.clients).values().find(|client| *client.proxy().id == *node).cloned()
    }

    /// Makes the next generation, with the views that streams are going to ask for, and tells them. Called by the builder's
    /// thread only.
    pub(crate) fn publish(&self, published: &Published) {
        let snapshot = Arc::clone(&published.snapshot);
        let next = Arc::new(match self.newest() {
            Some(last) => last.next(snapshot, published.since),
            None => Generation::first(Arc::clone(&self.0.factory), snapshot, published.since),
        });
        *lock(&self.0.last) = Some(Arc::clone(&next));
        self.0.newest.send_replace(Some(next));
        self.0.metrics.publish_time.observe(published.since.elapsed());
    }
}

impl Source for Proxies {
    type Client = Client;

    fn connect(&self, node: &Node, _peer: &Peer) -> Result<Arc<Client>, Refused> {
        let client = Arc::new(Client::new(node::proxy(node)?));
        lock(&self.0.clients).insert(address(&client), Arc::clone(&client));
        Ok(client)
    }

    fn disconnect(&self, client: &Arc<Client>) {
        lock(&self.0.clients).remove(&address(client));
    }

    fn generations(&self) -> Generations<Client> {
        self.0.newest.subscribe()
    }

    fn serves(&self, _client: &Client, kind: &Type) -> bool {
        matches!(kind, Type::Cluster | Type::Endpoints | Type::Listener | Type::Route)
    }

    /// Of its Istio.
    fn version(&self, client: &Client) -> Arc<str> {
        let version = client.proxy().metadata.get("ISTIO_VERSION").and_then(serde_json::Value::as_str);
        version.unwrap_or("unknown").chars().take(64).collect::<String>().into()
    }
}

fn address(client: &Arc<Client>) -> usize {
    Arc::as_ptr(client).addr()
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
