//! The page and its API, for browsers on this machine. Nothing can be changed through it.
//!
//! A page of somebody else's that is open in the same browser must not read it: requests that name another host than
//! this machine are refused (a name that resolves to 127.0.0.1 is how that would be done).

mod files;
mod routes;

use crate::up::Mesh;
use bytes::Bytes;
use http::{HeaderValue, Method, Request, Response, StatusCode, Uri, header};
use http_body_util::Full;
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use serde_json::json;
use std::{convert::Infallible, sync::Arc, time::Duration};
use tokio::{
    net::TcpListener,
    sync::Semaphore,
    task::JoinSet,
    time::{sleep, timeout},
};

type Page = Response<Full<Bytes>>;

const CONNECTIONS: usize = 256;
const HEAD: Duration = Duration::from_secs(5);
/// Nobody reads longer than that.
const WHOLE: Duration = Duration::from_secs(10);
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; base-uri 'none'; frame-ancestors 'none'";

pub(crate) async fn serve(listener: TcpListener, mesh: Arc<Mesh>) {
    let room = Arc::new(Semaphore::new(CONNECTIONS));
    let mut callers = JoinSet::new();
    loop {
        let Ok(place) = Arc::clone(&room).acquire_owned().await else { return };
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            Some(_) = callers.join_next(), if !callers.is_empty() => continue,
        };
        let Ok((socket, _)) = accepted else {
            sleep(Duration::from_millis(50)).await;
            continue;
        };
        let mesh = Arc::clone(&mesh);
        callers.spawn(async move {
            let service = service_fn(move |request| {
                let mesh = Arc::clone(&mesh);
                async move { Ok::<_, Infallible>(answer(&mesh, request).await) }
            });
            let connection = http1::Builder::new()
                .timer(TokioTimer::new())
                .header_read_timeout(HEAD)
                .max_buf_size(32 << 10)
                // A place is for one answer: who keeps it keeps others out.
                .keep_alive(false)
                .serve_connection(TokioIo::new(socket), service);
            let _ = timeout(WHOLE, connection).await;
            drop(place);
        });
    }
}

async fn answer(mesh: &Mesh, request: Request<Incoming>) -> Page {
    if !matches!(*request.method(), Method::GET | Method::HEAD) {
        return error(StatusCode::METHOD_NOT_ALLOWED, "only GET is answered");
    }
    let host = request.headers().get(header::HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
    if !is_here(host) {
        return error(StatusCode::FORBIDDEN, "this page is for http://127.0.0.1 and http://localhost");
    }
    match request.uri().path() {
        "/api/view" => json_page(StatusCode::OK, &mesh.view()),
        "/api/routes" => match service(request.uri()) {
            Some(service) => match routes::of(mesh, &service).await {
                Ok(routes) => json_page(StatusCode::OK, &routes),
                Err((status, reason)) => error(status, &reason),
            },
            None => error(StatusCode::BAD_REQUEST, "say which: /api/routes?service=NAME"),
        },
        path => match files::file(path) {
            Some((kind, text)) => page(StatusCode::OK, kind, Bytes::from_static(text.as_bytes())),
            None => error(StatusCode::NOT_FOUND, "there is nothing here"),
        },
    }
}

fn service(uri: &Uri) -> Option<String> {
    let named = uri.query()?.split('&').find_map(|pair| pair.strip_prefix("service="))?;
    let is_name = |letter: char| letter.is_ascii_alphanumeric() || "-._*".contains(letter);
    (!named.is_empty() && named.chars().all(is_name)).then(|| named.to_owned())
}

/// `host` with or without a port. Whoever sends none is no browser.
fn is_here(host: &str) -> bool {
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    };
    let is_loopback = name.parse::<std::net::Ipv4Addr>().is_ok_and(|address| address.is_loopback());
    is_loopback || matches!(name, "" | "localhost" | "[::1]" | "mizzen")
}

fn json_page(status: StatusCode, value: &impl serde::Serialize) -> Page {
    match serde_json::to_vec(value) {
        Ok(bytes) => page(status, "application/json", bytes.into()),
        Err(reason) => error(StatusCode::INTERNAL_SERVER_ERROR, &reason.to_string()),
    }
}

fn error(status: StatusCode, reason: &str) -> Page {
    page(status, "application/json", json!({ "error": reason }).to_string().into())
}

fn page(status: StatusCode, kind: &'static str, body: Bytes) -> Page {
    let mut page = Response::new(Full::new(body));
    *page.status_mut() = status;
    let headers = page.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    page
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_this_machine_is_here() {
        for host in ["127.0.0.1:8081", "localhost:8081", "localhost", "127.3.4.5", "[::1]:80", ""] {
            assert!(is_here(host), "{host}");
        }
        for host in ["example.com", "127.0.0.1.example.com", "localhost.example.com:8081", "10.0.0.1:8081"] {
            assert!(!is_here(host), "{host}");
        }
    }

    #[test]
    fn a_service_is_named_without_anything_strange() {
        let named = |query: &str| service(&format!("/api/routes?{query}").parse().unwrap());
        assert_eq!(named("service=reviews").as_deref(), Some("reviews"));
        for query in ["", "service=", "service=a%20b", "service=a/b"] {
            assert_eq!(named(query), None, "{query}");
        }
    }
}
