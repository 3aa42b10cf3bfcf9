//! The server: what all streams share, and the loop that accepts connections.

use std::{
    future::Future,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    time::{Duration, Instant},
};

use tokio::{net::TcpListener, pin, sync::Semaphore, task::JoinSet, time::sleep};
use tokio_util::{sync::CancellationToken, task::TaskTracker};
use tonic::Status;

use crate::{
    bucket::Bucket,
    connection,
    connections::{Connection, Connections},
    options::Options,
    service::Ads,
    source::Source,
    statistics::{Statistics, count},
};

pub struct Server<S: Source> {
    shared: Arc<Shared<S>>,
}

pub(crate) struct Shared<S> {
    pub(crate) source: S,
    pub(crate) options: Options,
    pub(crate) statistics: Arc<Statistics>,
    pub(crate) connections: Arc<Connections>,
    pub(crate) builders: Semaphore,
    pub(crate) large_requests: Arc<Semaphore>,
    pub(crate) tasks: TaskTracker,
    pub(crate) numbers: AtomicU64,
    new_streams: Option<Mutex<Bucket>>,
}

/// A stream that counts as open until this is dropped.
pub(crate) struct Admitted(Arc<Statistics>);

impl Drop for Admitted {
    fn drop(&mut self) {
        self.0.streams.fetch_sub(1, Relaxed);
    }
}

/// After a failure to accept, such as too many open files: it will not be better at once.
const PAUSE: Duration = Duration::from_millis(50);
/// What a new stream may wait for its turn.
const TURN: Duration = Duration::from_secs(1);

impl<S: Source> Server<S> {
    pub fn new(source: S, options: Options) -> Self {
        let new_streams = options.new_streams_per_second;
        let shared = Shared {
            source,
            statistics: Arc::default(),
            connections: Arc::default(),
            builders: Semaphore::new(options.builders.max(1)),
            large_requests: Arc::new(Semaphore::new(options.large_requests.max(1))),
            tasks: TaskTracker::new(),
            numbers: AtomicU64::new(1),
            new_streams: new_streams.map(|rate| Mutex::new(Bucket::new(rate, rate, Instant::now()))),
            options,
        };
        Self { shared: Arc::new(shared) }
    }

    pub fn source(&self) -> &S {
        &self.shared.source
    }

    pub fn statistics(&self) -> &Arc<Statistics> {
        &self.shared.statistics
    }

    /// Every open stream, in the order they came.
    pub fn connections(&self) -> Vec<Connection> {
        self.shared.connections.list()
    }

    /// The service alone, for a server that has others beside it.
    pub fn service(&self) -> Ads<S> {
        Ads::new(self.shared.clone())
    }

    /// Serves until `shutdown`, then ends all streams in good order, and returns when nothing of it runs any more.
    pub async fn serve(&self, listener: TcpListener, shutdown: impl Future<Output = ()>) {
        let ending = CancellationToken::new();
        let mut connections = JoinSet::new();
        pin!(shutdown);
        loop {
            let accepted = tokio::select! {
                () = &mut shutdown => break,
                Some(_) = connections.join_next(), if !connections.is_empty() => continue,
                accepted = listener.accept() => accepted,
            };
            let (socket, peer) = match accepted {
                Ok(accepted) => accepted,
                Err(error) => {
                    tracing::warn!(%error, "cannot accept a connection");
                    sleep(PAUSE).await;
                    continue;
                }
            };
            if connections.len() >= self.shared.options.max_streams {
                count(&self.shared.statistics.refused);
                tracing::warn!(%peer, "too many connections, this one is closed");
                continue;
            }
            count(&self.shared.statistics.connections);
            let _ = socket.set_nodelay(true);
            connections.spawn(connection::serve(self.shared.clone(), socket, peer, ending.clone()));
        }
        drop(listener);
        ending.cancel();
        while connections.join_next().await.is_some() {}
        // Streams end with their connections. The tracker may be shared by another `serve`, so it is not closed for good.
        self.shared.tasks.close();
        self.shared.tasks.wait().await;
        self.shared.tasks.reopen();
    }
}

impl<S: Source> Clone for Server<S> {
    fn clone(&self) -> Self {
        Self { shared: self.shared.clone() }
    }
}

impl<S: Source> Shared<S> {
    /// Whether a stream may be opened now.
    pub(crate) fn admit(&self) -> Result<Admitted, Status> {
        if self.source.generations().borrow().is_none() {
            return Err(Status::unavailable("the configuration has not been read yet"));
        }
        let admitted = Admitted(self.statistics.clone());
        let open = self.statistics.streams.fetch_add(1, Relaxed);
        if open >= self.options.max_streams as u64 {
            return Err(Status::resource_exhausted("too many streams"));
        }
        count(&self.statistics.streams_total);
        Ok(admitted)
    }

    /// Waits until one more stream may start in this second.
    pub(crate) async fn turn(&self) -> Result<(), Status> {
        let Some(bucket) = &self.new_streams else { return Ok(()) };
        let last = Instant::now() + TURN;
        loop {
            let wait = bucket.lock().unwrap_or_else(PoisonError::into_inner).take(Instant::now());
            let Err(wait) = wait else { return Ok(()) };
            if Instant::now() + wait > last {
                return Err(Status::resource_exhausted("too many new streams at once"));
            }
            sleep(wait).await;
        }
    }
}
