//! One HTTP/2 connection and its end: keepalive, age, streams that never come.

use std::{
    hash::{BuildHasher, RandomState},
    net::SocketAddr,
    pin::pin,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
    time::Duration,
};

use hyper::{body::Incoming, rt::Executor, server::conn::http2, service::service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    time::{Instant, sleep, sleep_until},
};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use crate::{
    server::Shared,
    service::Ads,
    source::Source,
    statistics::{Statistics, count},
};

/// What a stream knows of the connection it is on. Without one (behind another server) it cannot cut the connection, only
/// end itself.
#[derive(Clone, Default)]
pub(crate) struct Link(Option<Arc<Inner>>);

struct Inner {
    peer: SocketAddr,
    /// The streams shall end in good order.
    ending: CancellationToken,
    /// The connection is cut.
    cut: CancellationToken,
    streams: AtomicUsize,
}

impl Link {
    pub(crate) fn peer(&self) -> Option<SocketAddr> {
        self.0.as_ref().map(|inner| inner.peer)
    }

    pub(crate) async fn ending(&self) {
        match &self.0 {
            Some(inner) => inner.ending.cancelled().await,
            None => std::future::pending().await,
        }
    }

    /// The client does not read, so there is no other way to tell it.
    pub(crate) fn cut(&self) {
        if let Some(inner) = &self.0 {
            inner.cut.cancel();
        }
    }

    pub(crate) fn opened(&self) {
        if let Some(inner) = &self.0 {
            inner.streams.fetch_add(1, Relaxed);
        }
    }

    pub(crate) fn closed(&self) {
        if let Some(inner) = &self.0 {
            inner.streams.fetch_sub(1, Relaxed);
        }
    }
}

#[derive(Clone)]
struct Tasks(TaskTracker);

impl<F: Future<Output = ()> + Send + 'static> Executor<F> for Tasks {
    fn execute(&self, future: F) {
        self.0.spawn(future);
    }
}

/// A proxy opens one stream. More are allowed for whoever shares a connection, within reason.
const STREAMS: u32 = 100;
/// Requests are small; what is not read yet waits at the client.
const WINDOW: u32 = 64 << 10;
const HEADERS: u32 = 16 << 10;

pub(crate) async fn serve<S: Source>(
    shared: Arc<Shared<S>>,
    io: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    peer: SocketAddr,
    shutdown: CancellationToken,
) {
    let options = &shared.options;
    let inner = Arc::new(Inner {
        peer,
        ending: CancellationToken::new(),
        cut: CancellationToken::new(),
        streams: AtomicUsize::new(0),
    });
    let link = Link(Some(inner.clone()));
    let ads = Ads::new(shared.clone());
    let service = service_fn(move |mut request: http::Request<Incoming>| {
        request.extensions_mut().insert(link.clone());
        std::future::ready(Ok::<_, std::convert::Infallible>(ads.answer(request)))
    });
    let mut connection = pin!(
        http2::Builder::new(Tasks(shared.tasks.clone()))
            .timer(TokioTimer::new())
            .keep_alive_interval(options.keepalive_interval)
            .keep_alive_timeout(options.keepalive_timeout)
            .initial_stream_window_size(WINDOW)
            .initial_connection_window_size(WINDOW)
            .max_concurrent_streams(STREAMS)
            .max_header_list_size(HEADERS)
            .serve_connection(TokioIo::new(io), service)
    );
    let old = options.max_connection_age.map(|age| Instant::now() + jittered(age));
    let mut idle_check = pin!(sleep(options.first_request));
    loop {
        tokio::select! {
            ended = &mut connection => {
                if let Err(error) = ended {
                    ended_badly(&shared.statistics, peer, &error);
                }
                return;
            }
            () = inner.cut.cancelled() => return,
            () = shutdown.cancelled() => break,
            () = until(old) => break,
            () = &mut idle_check => {
                if inner.streams.load(Relaxed) == 0 {
                    count(&shared.statistics.idle);
                    tracing::info!(%peer, "connection without a stream closed");
                    return;
                }
                idle_check.as_mut().reset(Instant::now() + options.first_request);
            }
        }
    }
    connection.as_mut().graceful_shutdown();
    inner.ending.cancel();
    tokio::select! {
        _ = &mut connection => {}
        () = inner.cut.cancelled() => {}
        () = sleep(options.grace) => tracing::info!(%peer, "connection cut after its grace"),
    }
}

/// A peer that hangs up is nothing special; one that HTTP/2's own limits throw out (too many frames or resets) is.
fn ended_badly(statistics: &Statistics, peer: SocketAddr, error: &hyper::Error) {
    let cause = std::error::Error::source(error).map(ToString::to_string).unwrap_or_default();
    if !cause.contains("excessive load") && !cause.contains("protocol error") {
        tracing::debug!(%peer, %error, cause, "connection broke");
        return;
    }
    count(&statistics.broken);
    tracing::warn!(%peer, %error, cause, "a connection broke a rule of HTTP/2");
}

async fn until(moment: Option<Instant>) {
    match moment {
        Some(moment) => sleep_until(moment).await,
        None => std::future::pending().await,
    }
}

/// Give or take a tenth, so that what came together does not come back together.
fn jittered(age: Duration) -> Duration {
    let random = RandomState::new().hash_one(0u8) % 2_001;
    age.mul_f64(0.9 + random as f64 / 10_000.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_differ_by_a_tenth_at_most() {
        let ages: Vec<_> = (0..100).map(|_| jittered(Duration::from_secs(1_000)).as_secs()).collect();
        assert!(ages.iter().all(|age| (900..=1_100).contains(age)));
        assert!(ages.iter().any(|age| *age != ages[0]));
    }
}
