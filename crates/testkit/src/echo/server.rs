//! The server's connections: accepts them, takes off TLS, and gives them to HTTP or to lines.

use std::{net::SocketAddr, sync::Arc};

use hyper_util::{
    rt::{TokioExecutor, TokioIo},
    server::conn::auto,
};
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader},
    net::{TcpListener, TcpStream},
    task::JoinSet,
};
use tokio_rustls::{TlsAcceptor, server::TlsStream};

use super::{Answer, SeenTls, handler};
use crate::tls;
use crate::wire::Stream;

#[derive(Clone, Copy)]
pub(super) enum Speaks {
    Http,
    Lines,
}

pub(super) struct Server {
    pub(super) version: String,
    pub(super) speaks: Speaks,
    pub(super) tls: Option<TlsAcceptor>,
}

/// What is known of a connection before its first request.
#[derive(Clone)]
pub(super) struct Connection {
    pub(super) version: String,
    pub(super) peer: SocketAddr,
    pub(super) local: SocketAddr,
    pub(super) tls: Option<SeenTls>,
}

impl Server {
    pub(super) async fn run(self, listener: TcpListener) {
        let server = Arc::new(self);
        // Connections end with the server: the set aborts them when it is dropped.
        let mut connections = JoinSet::new();
        while let Ok((stream, peer)) = listener.accept().await {
            let server = Arc::clone(&server);
            // A client that breaks off is its own affair.
            connections.spawn(async move {
                let _ = server.connection(stream, peer).await;
            });
            while connections.try_join_next().is_some() {}
        }
    }

    async fn connection(&self, stream: TcpStream, peer: SocketAddr) -> std::io::Result<()> {
        let local = stream.local_addr()?;
        let mut connection = Connection { version: self.version.clone(), peer, local, tls: None };
        match &self.tls {
            None => self.speak(stream, connection).await,
            Some(acceptor) => {
                let stream = acceptor.accept(stream).await?;
                connection.tls = Some(seen(&stream));
                self.speak(stream, connection).await;
            }
        }
        Ok(())
    }

    async fn speak(&self, stream: impl Stream, connection: Connection) {
        match self.speaks {
            Speaks::Http => {
                let service =
                    hyper::service::service_fn(move |request| handler::answer(connection.clone(), request));
                let _ = auto::Builder::new(TokioExecutor::new())
                    .serve_connection(TokioIo::new(stream), service)
                    .await;
            }
            Speaks::Lines => {
                let _ = lines(stream, &connection).await;
            }
        }
    }
}

/// One line of JSON for each line that arrives.
async fn lines(stream: impl Stream, connection: &Connection) -> std::io::Result<()> {
    let (read, mut write) = tokio::io::split(stream);
    let mut lines = BufReader::new(read).lines();
    while let Some(line) = lines.next_line().await? {
        let answer = connection.answer("TCP", line);
        let mut bytes = serde_json::to_vec(&answer)?;
        bytes.push(b'\n');
        write.write_all(&bytes).await?;
        write.flush().await?;
    }
    write.shutdown().await
}

impl Connection {
    pub(super) fn answer(&self, protocol: &str, body: String) -> Answer {
        Answer {
            version: self.version.clone(),
            protocol: protocol.to_owned(),
            method: String::new(),
            path: String::new(),
            headers: Default::default(),
            peer: self.peer,
            local: self.local,
            tls: self.tls.clone(),
            body,
        }
    }
}

fn seen(stream: &TlsStream<TcpStream>) -> SeenTls {
    let (_, session) = stream.get_ref();
    SeenTls {
        sni: session.server_name().map(str::to_owned),
        alpn: session.alpn_protocol().map(|name| String::from_utf8_lossy(name).into_owned()),
        client: session.peer_certificates().and_then(|chain| tls::uri(chain.first()?)),
    }
}
