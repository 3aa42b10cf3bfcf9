//! One request: counted, met by faults, handed to the API server, its answer handed back.
//!
//! Every request has its own connection to the API server. That costs a (resumed) handshake, and buys that a cut
//! answer, an endless watch or an upgraded connection concerns nobody else.

use std::{
    net::SocketAddrV4,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering},
    },
};

use bytes::Bytes;
use http::{HeaderMap, Request, Response, StatusCode, Uri, header, uri::PathAndQuery};
use http_body_util::{BodyExt, Full, combinators::BoxBody};
use hyper::{body::Incoming, client::conn::http1, upgrade};
use hyper_util::rt::TokioIo;
use rustls::pki_types::ServerName;
use tokio::{net::TcpStream, sync::watch};
use tokio_rustls::TlsConnector;

use super::{
    body::Cuttable,
    rule::{Effect, Injected, Verb},
    status,
};

pub(super) type BoxError = Box<dyn std::error::Error + Send + Sync>;
type Answer = Response<BoxBody<Bytes, BoxError>>;

pub(super) struct Relay {
    server: SocketAddrV4,
    connector: TlsConnector,
    faults: Mutex<Vec<Injected>>,
    seen: [AtomicU64; 3],
    /// Its changes cut the watches.
    pub(super) watches: watch::Sender<u64>,
    open_watches: Arc<AtomicUsize>,
    /// Its changes close the connections.
    pub(super) connections: watch::Sender<u64>,
    pub(super) stopped: AtomicBool,
    /// By a fault.
    pub(super) broken: AtomicBool,
}

impl Relay {
    pub(super) fn new(server: SocketAddrV4, connector: TlsConnector) -> Self {
        Self {
            server,
            connector,
            faults: Mutex::default(),
            seen: Default::default(),
            watches: watch::Sender::new(0),
            open_watches: Arc::default(),
            connections: watch::Sender::new(0),
            stopped: AtomicBool::new(false),
            broken: AtomicBool::new(false),
        }
    }

    pub(super) fn seen(&self, verb: Verb) -> u64 {
        self.seen[verb as usize].load(Ordering::SeqCst)
    }

    pub(super) fn open_watches(&self) -> usize {
        self.open_watches.load(Ordering::SeqCst)
    }

    pub(super) fn faults(&self) -> std::sync::MutexGuard<'_, Vec<Injected>> {
        self.faults.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// An error ends the connection (HTTP/1.1) or the stream (HTTP/2) without an answer.
    pub(super) async fn handle(self: Arc<Self>, request: Request<Incoming>) -> Result<Answer, BoxError> {
        if self.stopped.load(Ordering::SeqCst) || self.broken.load(Ordering::SeqCst) {
            return Err("stopped".into());
        }
        let verb = Verb::of(request.method(), request.uri());
        let path = request.uri().path().to_owned();
        self.seen[verb as usize].fetch_add(1, Ordering::SeqCst);

        let mut lost = false;
        // A list of its own: a fault may wait, and others may be put in place meanwhile.
        let faults = self.faults().clone();
        for fault in faults {
            match fault.meets(verb, &path) {
                None => {}
                Some(Effect::Delay(by)) => tokio::time::sleep(by).await,
                Some(Effect::LoseAnswer) => lost = true,
                Some(Effect::BreakOff) => {
                    self.broken.store(true, Ordering::SeqCst);
                    lost = true;
                }
                Some(effect) => {
                    if let Some(answer) = status::answer(&effect, &path) {
                        // Read it all, as the API server would have done before it refuses.
                        request.into_body().collect().await?;
                        return Ok(answer.map(|bytes| Full::new(bytes).map_err(Into::into).boxed()));
                    }
                }
            }
        }
        // Before the request leaves: a watch that the API server has opened can be cut from then on.
        let watches = self.watches.subscribe();
        let answer = self.forward(request).await?;
        if lost {
            answer.into_body().collect().await?;
            return Err("the answer was lost, as asked for by a test".into());
        }
        if verb == Verb::Watch && answer.status() == StatusCode::OK {
            return Ok(
                answer.map(|body| Cuttable::new(body, watches, Arc::clone(&self.open_watches)).boxed())
            );
        }
        Ok(answer.map(|body| body.map_err(Into::into).boxed()))
    }

    async fn forward(&self, mut request: Request<Incoming>) -> Result<Response<Incoming>, BoxError> {
        let stream = TcpStream::connect(self.server).await?;
        stream.set_nodelay(true)?;
        let name = ServerName::IpAddress(std::net::IpAddr::from(*self.server.ip()).into());
        let stream = self.connector.connect(name, stream).await?;
        let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
        tokio::spawn(connection.with_upgrades());

        let upgrades = request.headers().contains_key(header::UPGRADE);
        let client = upgrades.then(|| upgrade::on(&mut request));
        if !upgrades {
            strip(request.headers_mut());
        }
        let path = request.uri().path_and_query().cloned().unwrap_or(PathAndQuery::from_static("/"));
        *request.uri_mut() = Uri::from(path);
        *request.version_mut() = http::Version::HTTP_11;
        request.headers_mut().insert(header::HOST, self.server.to_string().parse()?);

        let mut answer = sender.send_request(request).await?;
        match client {
            Some(client) if answer.status() == StatusCode::SWITCHING_PROTOCOLS => {
                let server = upgrade::on(&mut answer);
                tokio::spawn(pass(client, server, self.connections.subscribe()));
            }
            _ => strip(answer.headers_mut()),
        }
        Ok(answer)
    }
}

/// Both directions of an upgraded connection, until one side or the proxy ends it.
async fn pass(client: upgrade::OnUpgrade, server: upgrade::OnUpgrade, mut closed: watch::Receiver<u64>) {
    let (Ok(client), Ok(server)) = tokio::join!(client, server) else { return };
    let (mut client, mut server) = (TokioIo::new(client), TokioIo::new(server));
    tokio::select! {
        _ = tokio::io::copy_bidirectional(&mut client, &mut server) => {}
        _ = closed.changed() => {}
    }
}

/// What belongs to one connection and not to the next.
fn strip(headers: &mut HeaderMap) {
    for name in ["connection", "keep-alive", "proxy-connection", "te", "transfer-encoding", "upgrade"] {
        headers.remove(name);
    }
}
