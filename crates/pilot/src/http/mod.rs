//! Pages over HTTP/1.1: readiness, version, metrics, and what the control plane knows, in istiod's JSON.
//!
//! Debug pages are for callers on this machine only, until callers can prove who they are.

mod config_dump;
mod pages;
mod registry;
mod sync;

use crate::process::Process;
use bytes::Bytes;
use http::{Method, Request, Response, StatusCode, header};
use http_body_util::Full;
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use std::{
    borrow::Cow, convert::Infallible, future::Future, net::SocketAddr, pin::pin, sync::Arc, time::Duration,
};
use tokio::{net::TcpListener, sync::Semaphore, task::JoinSet, time::sleep};

/// Which socket a request came in by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Door {
    Http,
    Monitoring,
}

/// More are not accepted until others end.
const CONNECTIONS: usize = 1_024;
/// A caller that has not sent its head by then is sent away.
const HEAD: Duration = Duration::from_secs(5);
/// A caller that has not got its answer by then is cut off.
const WHOLE: Duration = Duration::from_secs(60);

pub(crate) type Page = Response<Full<Bytes>>;

pub(crate) async fn serve(
    listener: TcpListener,
    door: Door,
    process: Arc<Process>,
    end: impl Future<Output = ()>,
) {
    let mut end = pin!(end);
    let room = Arc::new(Semaphore::new(CONNECTIONS));
    let mut callers = JoinSet::new();
    loop {
        if room.available_permits() == 0 {
            tracing::warn!(?door, "{CONNECTIONS} callers are connected; others wait");
        }
        let Ok(place) = Arc::clone(&room).acquire_owned().await else { return };
        let accepted = loop {
            tokio::select! {
                () = &mut end => return,
                Some(_) = callers.join_next(), if !callers.is_empty() => {}
                accepted = listener.accept() => break accepted,
            }
        };
        let (socket, peer) = match accepted {
            Ok(accepted) => accepted,
            Err(error) => {
                tracing::warn!(%error, "cannot accept a connection");
                sleep(Duration::from_millis(50)).await;
                continue;
            }
        };
        let process = Arc::clone(&process);
        callers.spawn(async move {
            let answer = service_fn(move |request| {
                let process = Arc::clone(&process);
                async move { Ok::<_, Infallible>(answer(&process, door, peer, request).await) }
            });
            let connection = http1::Builder::new()
                .timer(TokioTimer::new())
                .header_read_timeout(HEAD)
                .max_buf_size(32 << 10)
                .keep_alive(false)
                .serve_connection(TokioIo::new(socket), answer);
            // Whoever hangs up early has had enough.
            let _ = tokio::time::timeout(WHOLE, connection).await;
            drop(place);
        });
    }
}

async fn answer(process: &Arc<Process>, door: Door, peer: SocketAddr, request: Request<Incoming>) -> Page {
    if !matches!(*request.method(), Method::GET | Method::HEAD) {
        return plain(StatusCode::METHOD_NOT_ALLOWED, "");
    }
    let path = &*single_slashes(request.uri().path());
    let query = Query(request.uri().query().unwrap_or_default().to_owned());
    if let Some(name) = path.strip_prefix("/debug/") {
        if !peer.ip().to_canonical().is_loopback() {
            tracing::warn!(%peer, path, "a debug page was asked for from another machine");
            return plain(StatusCode::UNAUTHORIZED, "");
        }
        let (name, process) = (name.to_owned(), Arc::clone(process));
        // A dump of a large mesh takes its time.
        let page = tokio::task::spawn_blocking(move || pages::debug(&process, &name, &query)).await;
        return page.unwrap_or_else(|_| plain(StatusCode::INTERNAL_SERVER_ERROR, "the page failed\n"));
    }
    match (path, door) {
        ("/ready", Door::Http) => match process.snapshot() {
            Some(_) => plain(StatusCode::OK, ""),
            None => plain(StatusCode::SERVICE_UNAVAILABLE, &pages::waiting_for(process)),
        },
        ("/version", _) => plain(StatusCode::OK, &process.options.build),
        ("/metrics", Door::Monitoring) => {
            let mut page = plain(StatusCode::OK, &crate::metrics::page(process));
            let kind = header::HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8");
            page.headers_mut().insert(header::CONTENT_TYPE, kind);
            page
        }
        _ => plain(StatusCode::NOT_FOUND, "404 page not found\n"),
    }
}

/// istioctl asks for `//version`: istiod's server takes such paths for the plain ones.
fn single_slashes(path: &str) -> Cow<'_, str> {
    let mut shown = Cow::Borrowed(path);
    while shown.contains("//") {
        shown = Cow::Owned(shown.replace("//", "/"));
    }
    shown
}

fn plain(status: StatusCode, text: &str) -> Page {
    page(status, "text/plain; charset=utf-8", text.to_owned().into())
}

fn json(value: &impl serde::Serialize) -> Page {
    match serde_json::to_vec(value) {
        Ok(bytes) => page(StatusCode::OK, "application/json", bytes.into()),
        Err(error) => plain(StatusCode::INTERNAL_SERVER_ERROR, &format!("{error}\n")),
    }
}

fn page(status: StatusCode, kind: &'static str, body: Bytes) -> Page {
    let mut page = Response::new(Full::new(body));
    *page.status_mut() = status;
    page.headers_mut().insert(header::CONTENT_TYPE, header::HeaderValue::from_static(kind));
    page
}

/// What stands behind the question mark.
pub(crate) struct Query(String);

impl Query {
    pub(crate) fn get(&self, name: &str) -> Option<String> {
        self.0.split('&').find_map(|pair| {
            let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
            (key == name).then(|| unescape(value))
        })
    }
}

fn unescape(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, more @ ..] = rest {
        let (byte, left) = match (first, more) {
            (b'+', _) => (b' ', more),
            (b'%', [high, low, left @ ..]) => match (digit(*high), digit(*low)) {
                (Some(high), Some(low)) => (high << 4 | low, left),
                _ => (b'%', more),
            },
            (other, _) => (*other, more),
        };
        bytes.push(byte);
        rest = left;
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn digit(byte: u8) -> Option<u8> {
    char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeated_slashes_mean_one() {
        for (asked, meant) in
            [("/version", "/version"), ("//version", "/version"), ("///debug//syncz/", "/debug/syncz/")]
        {
            assert_eq!(single_slashes(asked), meant);
        }
    }

    #[test]
    fn a_query_is_unescaped() {
        let query = Query("proxyID=web-1%2edefault&include_eds&x=a+b%zz".to_owned());
        assert_eq!(query.get("proxyID").as_deref(), Some("web-1.default"));
        assert_eq!(query.get("include_eds").as_deref(), Some(""));
        assert_eq!(query.get("x").as_deref(), Some("a b%zz"));
        assert_eq!(query.get("y"), None);
    }
}
