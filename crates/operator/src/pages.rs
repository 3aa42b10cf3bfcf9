//! Health and metrics over HTTP/1.1, for kubelets and Prometheus.

use bytes::Bytes;
use http::{Method, Request, Response, StatusCode};
use http_body_util::Full;
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use std::{
    collections::BTreeMap,
    convert::Infallible,
    io,
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

/// What is known of the work on one kind.
#[derive(Debug)]
pub(crate) struct Shown {
    /// The kind, as metrics call it.
    pub(crate) controller: &'static str,
    pub(crate) leading: AtomicBool,
    pub(crate) synced: AtomicBool,
    pub(crate) passes: AtomicU64,
    pub(crate) failures: AtomicU64,
    pub(crate) waiting: AtomicU64,
    /// Further metrics by what they are about.
    further: Mutex<BTreeMap<&'static str, String>>,
}

impl Shown {
    pub(crate) fn new(controller: &'static str) -> Self {
        Self {
            controller,
            leading: AtomicBool::default(),
            synced: AtomicBool::default(),
            passes: AtomicU64::default(),
            failures: AtomicU64::default(),
            waiting: AtomicU64::default(),
            further: Mutex::default(),
        }
    }

    /// In the text form of Prometheus, instead of what was told about the same before.
    pub(crate) fn tell(&self, about: &'static str, metrics: String) {
        self.further.lock().unwrap_or_else(PoisonError::into_inner).insert(about, metrics);
    }
}

const CONNECTIONS: usize = 64;
/// A caller that has not got its answer by then is cut off.
const WHOLE: Duration = Duration::from_secs(10);

pub(crate) async fn serve(listener: TcpListener, shown: Arc<[Arc<Shown>]>) {
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

/// An address; without a host every one of this machine, of both families if there are two.
pub(crate) async fn listen(address: &str) -> io::Result<TcpListener> {
    let Some(port) = address.strip_prefix(':') else { return TcpListener::bind(address).await };
    match TcpListener::bind(format!("[::]:{port}")).await {
        Err(error) if error.kind() != io::ErrorKind::AddrInUse => {
            TcpListener::bind(format!("0.0.0.0:{port}")).await
        }
        listener => listener,
    }
}

fn page(shown: &[Arc<Shown>], method: &Method, path: &str) -> Response<Full<Bytes>> {
    let (status, text) = match (method, path) {
        (&Method::GET | &Method::HEAD, "/healthz") => (StatusCode::OK, "ok\n".to_owned()),
        (&Method::GET | &Method::HEAD, "/readyz") => {
            // One that waits for the lease is as ready as it can be.
            if shown.iter().all(|one| !one.leading.load(Relaxed) || one.synced.load(Relaxed)) {
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

/// One figure, by both its names.
struct Line {
    of_all: &'static str,
    of_each: &'static str,
    kind: &'static str,
    help: &'static str,
    number: fn(&Shown) -> u64,
}

/// By the names of Istio's operator for the whole process, and by those of Kubernetes' controllers for each kind.
fn metrics(shown: &[Arc<Shown>]) -> String {
    let lines = [
        Line {
            of_all: "reconcile_request_total",
            of_each: "controller_runtime_reconcile_total",
            kind: "counter",
            help: "Passes over a resource",
            number: |one| one.passes.load(Relaxed),
        },
        Line {
            of_all: "reconcile_error_total",
            of_each: "controller_runtime_reconcile_errors_total",
            kind: "counter",
            help: "Passes that came to nothing",
            number: |one| one.failures.load(Relaxed),
        },
        Line {
            of_all: "queue_length",
            of_each: "workqueue_depth",
            kind: "gauge",
            help: "Resources that will be looked at",
            number: |one| one.waiting.load(Relaxed),
        },
        Line {
            of_all: "leading",
            of_each: "leader_election_master_status",
            kind: "gauge",
            help: "Whether this process has the lease",
            number: |one| u64::from(one.leading.load(Relaxed)),
        },
    ];
    let mut page = String::new();
    for Line { of_all, of_each, kind, help, number } in lines {
        let sum: u64 = shown.iter().map(|one| number(one)).sum();
        let of_all = format!("istio_install_operator_{of_all}");
        page += &format!("# HELP {of_all} {help}.\n# TYPE {of_all} {kind}\n{of_all} {sum}\n");
        page += &format!("# HELP {of_each} {help}.\n# TYPE {of_each} {kind}\n");
        let label = if of_each.starts_with("controller_runtime") { "controller" } else { "name" };
        for one in shown {
            page += &format!("{of_each}{{{label}=\"{}\"}} {}\n", one.controller, number(one));
        }
    }
    for one in shown {
        page.extend(one.further.lock().unwrap_or_else(PoisonError::into_inner).values().map(String::as_str));
    }
    page
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_leads_is_ready_when_all_resources_are_known() {
        let shown = [Arc::new(Shown::new("istio")), Arc::new(Shown::new("other"))];
        let ready = || page(&shown, &Method::GET, "/readyz").status();
        assert_eq!(ready(), StatusCode::OK, "one that stands by is ready");
        shown[1].leading.store(true, Relaxed);
        assert_eq!(ready(), StatusCode::SERVICE_UNAVAILABLE);
        shown[1].synced.store(true, Relaxed);
        assert_eq!(ready(), StatusCode::OK);
        assert_eq!(page(&shown, &Method::POST, "/healthz").status(), StatusCode::METHOD_NOT_ALLOWED);
    }

    #[test]
    fn metrics_are_counted_for_all_and_for_each() {
        let shown = [Arc::new(Shown::new("istio")), Arc::new(Shown::new("other"))];
        shown[0].failures.store(3, Relaxed);
        shown[1].failures.store(4, Relaxed);
        shown[0].tell("state", "first 1\n".to_owned());
        shown[0].tell("state", "second 1\n".to_owned());
        let page = metrics(&shown);
        for line in [
            "istio_install_operator_reconcile_error_total 7",
            "controller_runtime_reconcile_errors_total{controller=\"istio\"} 3",
            "workqueue_depth{name=\"other\"} 0",
            "second 1",
        ] {
            assert!(page.contains(&format!("\n{line}\n")), "{line} in {page}");
        }
        assert!(!page.contains("first"), "{page}");
    }
}
