//! The client: one call, one connection, from any network.

use std::{net::SocketAddr, sync::Arc};

use bytes::Bytes;
use http::{HeaderMap, Method, Request, StatusCode, Version};
use http_body_util::Full;
use rustls::pki_types::ServerName;
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader},
    net::TcpStream,
};
use tokio_rustls::TlsConnector;

use super::{
    Answer,
    handler::{FRAME, framed},
};
use crate::{
    error::{During, Error, Result},
    netns::NetNs,
    pki::Pair,
    tls,
    wire::{self, Reply, Stream},
};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    Http1,
    /// With prior knowledge in the clear, by ALPN in TLS.
    Http2,
    Grpc,
    /// One line there, one line back.
    Tcp,
}

/// One call.
#[derive(Clone, Debug)]
pub struct Call {
    address: SocketAddr,
    protocol: Protocol,
    server_name: Option<String>,
    method: Method,
    path: String,
    headers: Vec<(String, String)>,
    body: Bytes,
}

impl Call {
    /// A `GET /` over HTTP/1.1 until told otherwise.
    pub fn to(address: SocketAddr) -> Self {
        let (path, headers, body) = ("/".to_owned(), Vec::new(), Bytes::new());
        Self {
            address,
            protocol: Protocol::Http1,
            server_name: None,
            method: Method::GET,
            path,
            headers,
            body,
        }
    }

    #[must_use]
    pub fn over(mut self, protocol: Protocol) -> Self {
        self.protocol = protocol;
        self
    }

    /// In TLS, to a server of that name.
    #[must_use]
    pub fn tls(mut self, server_name: &str) -> Self {
        self.server_name = Some(server_name.to_owned());
        self
    }

    #[must_use]
    pub fn method(mut self, method: Method) -> Self {
        self.method = method;
        self
    }

    #[must_use]
    pub fn path(mut self, path: &str) -> Self {
        path.clone_into(&mut self.path);
        self
    }

    #[must_use]
    pub fn host(self, host: &str) -> Self {
        self.header("host", host)
    }

    #[must_use]
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    #[must_use]
    pub fn body(mut self, body: impl Into<Bytes>) -> Self {
        self.body = body.into();
        self
    }

    fn request(&self) -> Result<Request<Full<Bytes>>> {
        let http2 = self.protocol != Protocol::Http1;
        let grpc = self.protocol == Protocol::Grpc;
        let given = self.headers.iter().find(|(name, _)| name == "host").map(|(_, value)| value.clone());
        let host = given.unwrap_or_else(|| self.address.to_string());
        let mut request = Request::builder().method(if grpc { Method::POST } else { self.method.clone() });
        // HTTP/2 has the host in the address of the request, HTTP/1.1 in a header.
        request = if http2 {
            let scheme = if self.server_name.is_some() { "https" } else { "http" };
            request.version(Version::HTTP_2).uri(format!("{scheme}://{host}{}", self.path))
        } else {
            request.uri(&self.path).header("host", host)
        };
        if grpc {
            request = request.header("content-type", "application/grpc").header("te", "trailers");
        }
        for (name, value) in self.headers.iter().filter(|(name, _)| name != "host") {
            request = request.header(name, value);
        }
        let body = if grpc { framed(&self.body) } else { self.body.clone() };
        request.body(Full::new(body)).map_err(Error::other)
    }
}

/// Who calls: from where, trusting whom, as whom.
#[derive(Clone, Default)]
pub struct Client {
    netns: Option<NetNs>,
    roots: String,
    pair: Option<Pair>,
}

impl Client {
    /// From this machine.
    pub fn new() -> Self {
        Self::default()
    }

    /// From inside a network.
    pub fn inside(netns: &NetNs) -> Self {
        Self { netns: Some(netns.clone()), ..Self::default() }
    }

    /// Trusts these roots (PEM) in TLS.
    #[must_use]
    pub fn trusting(mut self, roots: &str) -> Self {
        roots.clone_into(&mut self.roots);
        self
    }

    /// Shows this certificate in TLS.
    #[must_use]
    pub fn presenting(mut self, pair: Pair) -> Self {
        self.pair = Some(pair);
        self
    }

    /// Calls, and takes what comes back, whoever it is from. A bare TCP answer has the status 200.
    pub async fn call(&self, call: &Call) -> Result<Reply> {
        let stream = match &self.netns {
            Some(netns) => netns.connect(call.address).await?,
            None => {
                TcpStream::connect(call.address).await.during(format_args!("connect to {}", call.address))?
            }
        };
        let Some(name) = &call.server_name else { return exchange(stream, call).await };
        let alpn: &[&[u8]] = match call.protocol {
            Protocol::Http1 => &[b"http/1.1"],
            Protocol::Http2 | Protocol::Grpc => &[b"h2"],
            Protocol::Tcp => &[],
        };
        let config = tls::client(&self.roots, self.pair.as_ref(), alpn)?;
        let name = ServerName::try_from(name.clone()).map_err(Error::other)?;
        let stream = TlsConnector::from(Arc::new(config))
            .connect(name, stream)
            .await
            .during(format_args!("TLS with {}", call.address))?;
        exchange(stream, call).await
    }

    /// Calls an echo, which must say yes.
    pub async fn ask(&self, call: &Call) -> Result<Answer> {
        self.call(call).await?.successful()?.json()
    }
}

async fn exchange(stream: impl Stream, call: &Call) -> Result<Reply> {
    match call.protocol {
        Protocol::Http1 => wire::http1(stream, call.request()?).await,
        Protocol::Http2 => wire::http2(stream, call.request()?).await,
        Protocol::Grpc => {
            let mut reply = wire::http2(stream, call.request()?).await?;
            reply.body = reply.body.slice(FRAME.min(reply.body.len())..);
            Ok(reply)
        }
        Protocol::Tcp => line(stream, &call.body).await,
    }
}

async fn line(mut stream: impl Stream, body: &[u8]) -> Result<Reply> {
    stream.write_all(body).await.during("send a line")?;
    stream.write_all(b"\n").await.during("send a line")?;
    stream.flush().await.during("send a line")?;
    let mut line = String::new();
    if BufReader::new(stream).read_line(&mut line).await.during("read a line")? == 0 {
        return Err(Error::other("the connection was closed without an answer"));
    }
    let none = HeaderMap::new;
    Ok(Reply { status: StatusCode::OK, headers: none(), trailers: none(), body: line.into() })
}
