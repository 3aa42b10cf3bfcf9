//! One HTTP exchange over a connection that somebody else made: the client side of every part that speaks HTTP.
//!
//! In: a stream (TCP, TLS, a Unix socket, a socket of another network namespace) and a request. Out: the whole
//! response. There is no pool and no retry: a test wants to see exactly what its one request met.

use std::convert::Infallible;

use bytes::Bytes;
use http::{HeaderMap, Request, Response, StatusCode};
use http_body_util::{BodyExt, Full};
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::io::{AsyncRead, AsyncWrite};

use crate::{
    error::{Error, Result},
    wait::PATIENCE,
};

/// Any connection.
pub trait Stream: AsyncRead + AsyncWrite + Send + Unpin + 'static {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin + 'static> Stream for T {}

/// What came back.
#[derive(Debug)]
pub struct Reply {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub trailers: HeaderMap,
    pub body: Bytes,
}

impl Reply {
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    pub fn json<T: serde::de::DeserializeOwned>(&self) -> Result<T> {
        serde_json::from_slice(&self.body)
            .map_err(|error| Error::Other(format!("{error} in an answer {}: {}", self.status, self.text())))
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).and_then(|value| value.to_str().ok())
    }

    /// Itself when the status says success, otherwise an error with what was said.
    pub fn successful(self) -> Result<Self> {
        if self.status.is_success() {
            return Ok(self);
        }
        Err(Error::Other(format!("answered {}: {}", self.status, self.text().trim())))
    }
}

/// Sends over HTTP/1.1.
pub async fn http1(stream: impl Stream, request: Request<Full<Bytes>>) -> Result<Reply> {
    let (mut sender, connection) =
        hyper::client::conn::http1::handshake(TokioIo::new(stream)).await.map_err(spoken)?;
    finish(connection, sender.send_request(request)).await
}

/// Sends over HTTP/2 with prior knowledge.
pub async fn http2(stream: impl Stream, request: Request<Full<Bytes>>) -> Result<Reply> {
    let (mut sender, connection) =
        hyper::client::conn::http2::handshake(TokioExecutor::new(), TokioIo::new(stream))
            .await
            .map_err(spoken)?;
    finish(connection, sender.send_request(request)).await
}

/// The connection only moves while it is polled; it ends here with the answer, and no task stays behind.
async fn finish(
    connection: impl Future<Output = hyper::Result<()>>,
    response: impl Future<Output = hyper::Result<Response<hyper::body::Incoming>>>,
) -> Result<Reply> {
    let whole = async {
        let (head, body) = response.await.map_err(spoken)?.into_parts();
        let body = body.collect().await.map_err(spoken)?;
        let trailers = body.trailers().cloned().unwrap_or_default();
        Ok(Reply { status: head.status, headers: head.headers, trailers, body: body.to_bytes() })
    };
    let whole = std::pin::pin!(whole);
    let moving = std::pin::pin!(async {
        let _ = connection.await;
        // What went wrong with the connection is told by the response, which ends with it.
        std::future::pending::<Infallible>().await
    });
    let outcome = async {
        tokio::select! {
            reply = whole => reply,
            never = moving => match never {},
        }
    };
    let late = |_| Error::Timeout {
        what: "an answer over HTTP".to_owned(),
        seconds: PATIENCE.as_secs(),
        last: "an open connection".to_owned(),
    };
    tokio::time::timeout(PATIENCE, outcome).await.map_err(late)?
}

#[expect(clippy::needless_pass_by_value, reason = "it is given to map_err")]
fn spoken(error: hyper::Error) -> Error {
    let mut words = error.to_string();
    let mut cause = std::error::Error::source(&error);
    while let Some(error) = cause {
        words = format!("{words}: {error}");
        cause = error.source();
    }
    Error::Other(format!("http: {words}"))
}
