//! A service of the sample as a process: HTTP/1.1 on the port that it is told.

use super::{
    answer::{Asked, answer},
    call::Outbound,
};
use bytes::Bytes;
use http::{Request, Response};
use http_body_util::Full;
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use std::{convert::Infallible, env, io, net::SocketAddr, sync::Arc, time::Duration};
use tokio::{net::TcpListener, task::JoinSet, time::sleep};

/// Why a service of the sample does not run.
#[derive(Debug, thiserror::Error)]
pub enum NotServing {
    #[error("the sample has no service {name:?}: it has {}", super::NAMES.join(", "))]
    Unknown { name: String },
    #[error("the variable {0} does not say where to listen")]
    Variable(&'static str),
    #[error("cannot listen on {0}")]
    Listen(SocketAddr, #[source] io::Error),
}

/// Serves until it is ended. Where, and through which proxy it calls others, is in the usual variables.
pub async fn serve(name: &str, version: &str) -> Result<(), NotServing> {
    let known = super::NAMES.into_iter().find(|known| *known == name);
    let name = known.ok_or_else(|| NotServing::Unknown { name: name.to_owned() })?;
    let host = env::var("HOST").unwrap_or_else(|_| "127.0.0.1".to_owned());
    let host = host.parse().map_err(|_| NotServing::Variable("HOST"))?;
    let port =
        env::var("PORT").ok().and_then(|port| port.parse().ok()).ok_or(NotServing::Variable("PORT"))?;
    let address = SocketAddr::new(host, port);
    let listener = TcpListener::bind(address).await.map_err(|error| NotServing::Listen(address, error))?;
    tracing::info!(%address, service = name, version, "serving");
    let outbound = Arc::new(Outbound::from_environment());
    let version: Arc<str> = version.into();
    let mut callers = JoinSet::new();
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            Some(_) = callers.join_next(), if !callers.is_empty() => continue,
        };
        let Ok((socket, _)) = accepted else {
            sleep(Duration::from_millis(20)).await;
            continue;
        };
        let (outbound, version) = (Arc::clone(&outbound), Arc::clone(&version));
        callers.spawn(async move {
            let service = service_fn(move |request: Request<Incoming>| {
                let (outbound, version) = (Arc::clone(&outbound), Arc::clone(&version));
                async move {
                    let asked = Asked {
                        service: name,
                        version: &version,
                        headers: request.headers(),
                        path: request.uri().path(),
                    };
                    let (status, kind, text) = answer(&asked, &outbound).await;
                    let mut response = Response::new(Full::new(Bytes::from(text)));
                    *response.status_mut() = status;
                    response.headers_mut().insert(http::header::CONTENT_TYPE, kind);
                    Ok::<_, Infallible>(response)
                }
            });
            let connection = http1::Builder::new()
                .timer(TokioTimer::new())
                .serve_connection(TokioIo::new(socket), service);
            let _ = connection.await;
        });
    }
}
