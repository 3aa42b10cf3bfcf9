//! Health and metrics over HTTP/1.1, for kubelets and Prometheus.

use bytes::Bytes;
use http::{Method, Request, Response, StatusCode};
use http_body_util::Full;
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use std::{
    convert::Infallible,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering::Relaxed},
    },
    time::Duration,
};
use tokio::{
    net::TcpListener,
    sync::Semaphore,
    task::JoinSet,
    time::{sleep, timeout},
};

/// What is known of the process.
#[derive(Debug, Default)]
pub(crate) struct Shown {
    pub(crate) leading: AtomicBool,
    pub(crate) synced: AtomicBool,
    pub(crate) passes: AtomicU64,
    pub(crate) failures: AtomicU64,
    pub(crate) waiting: AtomicU64,
    /// Metrics of the resource.
    further: Mutex<String>,
}

impl Shown {
    /// In the text form of Prometheus.
    pub(crate) fn tell(&self, metrics: String) {
        *self.further.lock().unwrap_or_else(PoisonError::into_inner) = metrics;
    }
}

const CONNECTIONS: usize = 64;
/// A caller that has not got its answer by then is cut off.
const WHOLE: Duration = Duration::from_secs(10);

pub(crate) async fn serve(listener: TcpListener, shown: Arc<Shown>) {
    let room = Arc::new(Semaphore::new(CONNECTIONS));
    let mut callers = JoinSet::new();
    loop {
        let Ok(place) = Arc::clone(&room).acquire_owned().await else { return };
        let socket = match listener.accept().await {
            Ok((socket, _)) => socket,
            Err(error) => {
                tracing::warn!(%error, "cannot accept a connection");
                sleep(Duration::from_millis(50)).await;
                continue;
            }
        };
        while callers.try_join_next().is_some() {}
        let shown = Arc::clone(&shown);
        callers.spawn(async move {
            let answer = service_fn(move |request: Request<Incoming>| {
                let page = page(&shown, request.method(), request.uri().path());
                async move { Ok::<_, Infallible>(page) }
            });
            let connection = http1::Builder::new()
                .timer(TokioTimer::new())
                .header_read_timeout(WHOLE)
                .keep_alive(false)
                .serve_connection(TokioIo::new(socket), answer);
            // Whoever hangs up early has had enough.
            let _ = timeout(WHOLE, connection).await;
            drop(place);
        });
    }
}

fn page(shown: &Shown, method: &Method, path: &str) -> Response<Full<Bytes>> {
    let (status, text) = match (method, path) {
        (&Method::GET | &Method::HEAD, "/healthz") => (StatusCode::OK, "ok\n".to_owned()),
        (&Method::GET | &Method::HEAD, "/readyz") => {
            // One that waits for the lease is as ready as it can be.
            let ready = !shown.leading.load(Relaxed) || shown.synced.load(Relaxed);
            if ready {
                (StatusCode::OK, "ok\n".to_owned())
            } else {
                (StatusCode::SERVICE_UNAVAILABLE, "the resources have not been listed yet\n".to_owned())
            }
        }
        (&Method::GET | &Method::HEAD, "/metrics") => (StatusCode::OK, metrics(shown)),
        (&Method::GET | &Method::HEAD, _) => (StatusCode::NOT_FOUND, String::new()),
        _ => (StatusCode::METHOD_NOT_ALLOWED, String::new()),
    };
    let mut page = Response::new(Full::new(Bytes::from(text)));
    *page.status_mut() = status;
    page
}

fn metrics(shown: &Shown) -> String {
    let number = |value: &AtomicU64| value.load(Relaxed);
    let lines = [
        ("reconcile_request_total", "counter", "Passes over a resource", number(&shown.passes)),
        ("reconcile_error_total", "counter", "Passes that came to nothing", number(&shown.failures)),
        ("queue_length", "gauge", "Resources that will be looked at", number(&shown.waiting)),
        ("leading", "gauge", "Whether this process has the lease", u64::from(shown.leading.load(Relaxed))),
    ];
    let line = |(name, kind, help, value): &(&str, &str, &str, u64)| {
        let name = format!("istio_install_operator_{name}");
        format!("# HELP {name} {help}.\n# TYPE {name} {kind}\n{name} {value}\n")
    };
    let further = shown.further.lock().unwrap_or_else(PoisonError::into_inner);
    lines.iter().map(line).collect::<String>() + &further
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_leads_is_ready_when_all_resources_are_known() {
        let shown = Shown::default();
        let ready = |shown: &Shown| page(shown, &Method::GET, "/readyz").status();
        assert_eq!(ready(&shown), StatusCode::OK, "one that stands by is ready");
        shown.leading.store(true, Relaxed);
        assert_eq!(ready(&shown), StatusCode::SERVICE_UNAVAILABLE);
        shown.synced.store(true, Relaxed);
        assert_eq!(ready(&shown), StatusCode::OK);
        assert_eq!(page(&shown, &Method::POST, "/healthz").status(), StatusCode::METHOD_NOT_ALLOWED);
    }

    #[test]
    fn metrics_have_istios_prefix() {
        let shown = Shown::default();
        shown.failures.store(3, Relaxed);
        assert!(metrics(&shown).contains("\nistio_install_operator_reconcile_error_total 3\n"));
    }
}
