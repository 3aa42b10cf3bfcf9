//! One simulated proxy.

use std::{
    collections::HashSet,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Instant,
};

use anyhow::Result;
use bytes::Bytes;
use envoy_types::pb::envoy::{config::core::v3::Node, service::discovery::v3::DeltaDiscoveryRequest};
use memchr::memmem;
use mizzen_testkit::proxy::{Kind, mentions};
use prost::Message;
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tonic::{Request, client::Grpc, transport::Endpoint};

use super::{News, Report, codec::Raw};
use crate::world::MARK;

/// What one may take in one message.
const LIMIT: usize = 1 << 30;

/// The fields of a response that matter here.
#[derive(Message)]
struct Response {
    #[prost(message, repeated, tag = "2")]
    resources: Vec<Resource>,
    #[prost(string, tag = "4")]
    url: String,
    #[prost(string, tag = "5")]
    nonce: String,
    #[prost(string, repeated, tag = "6")]
    removed: Vec<String>,
}

#[derive(Message)]
struct Resource {
    #[prost(message, optional, tag = "2")]
    body: Option<Body>,
    #[prost(string, tag = "3")]
    name: String,
}

#[derive(Message)]
struct Body {
    #[prost(bytes = "bytes", tag = "2")]
    value: Bytes,
}

pub(super) struct Teller {
    pub(super) proxy: usize,
    pub(super) sender: mpsc::UnboundedSender<Report>,
    pub(super) bytes: Arc<AtomicU64>,
    pub(super) responses: Arc<AtomicU64>,
}

impl Teller {
    pub(super) fn tell(&self, news: News) {
        // Nobody listens any more: the fleet is being dropped.
        let _ = self.sender.send(Report { proxy: self.proxy, at: Instant::now(), news });
    }
}

pub(super) async fn run(endpoint: Endpoint, node: Node, teller: &Teller) -> Result<()> {
    let channel = endpoint.connect().await?;
    let mut client = Grpc::new(channel).max_decoding_message_size(LIMIT).max_encoding_message_size(LIMIT);
    client.ready().await?;
    let (requests, stream) = mpsc::channel(64);
    let mut first = ask(Kind::Clusters, Vec::new());
    first.node = Some(node);
    requests.send(first).await?;
    let path = http::uri::PathAndQuery::from_static(
        "/envoy.service.discovery.v3.AggregatedDiscoveryService/DeltaAggregatedResources",
    );
    let answer = client.streaming(Request::new(ReceiverStream::new(stream)), path, Raw).await?;
    let mut responses = answer.into_inner();
    let mut proxy = Proxy::default();
    while let Some(message) = responses.message().await? {
        teller.bytes.fetch_add(message.len() as u64, Ordering::Relaxed);
        teller.responses.fetch_add(1, Ordering::Relaxed);
        let marks = marks(&message);
        let response = Response::decode(message)?;
        let ack = DeltaDiscoveryRequest {
            type_url: response.url.clone(),
            response_nonce: response.nonce.clone(),
            ..Default::default()
        };
        requests.send(ack).await?;
        let Some(kind) = Kind::from_url(&response.url) else { continue };
        for mark in marks {
            teller.tell(News::Mark { mark, kind });
        }
        for request in proxy.take(kind, response) {
            requests.send(request).await?;
        }
        if !proxy.told && proxy.complete() {
            proxy.told = true;
            teller.tell(News::Complete);
        }
    }
    Ok(())
}

fn ask(kind: Kind, names: Vec<String>) -> DeltaDiscoveryRequest {
    DeltaDiscoveryRequest { type_url: kind.url(), resource_names_subscribe: names, ..Default::default() }
}

/// Marks are numbers behind a word that nothing else has, such as `mark-000017-`.
fn marks(message: &[u8]) -> Vec<u64> {
    let mut marks: Vec<u64> = memmem::find_iter(message, MARK.as_bytes())
        .filter_map(|at| {
            let digits = message.get(at + MARK.len()..at + MARK.len() + 6)?;
            std::str::from_utf8(digits).ok()?.parse().ok()
        })
        .collect();
    marks.sort_unstable();
    marks.dedup();
    marks
}

/// What a proxy remembers.
#[derive(Default)]
struct Proxy {
    endpoints: HashSet<String>,
    routes: HashSet<String>,
    /// Asked for and not answered.
    waiting: usize,
    listeners_asked: bool,
    listeners: bool,
    told: bool,
}

impl Proxy {
    fn take(&mut self, kind: Kind, response: Response) -> Vec<DeltaDiscoveryRequest> {
        let mut requests = Vec::new();
        match kind {
            Kind::Clusters | Kind::Listeners => {
                let names = response.resources.iter().filter_map(|resource| resource.body.as_ref());
                let names: Vec<String> = names.flat_map(|body| mentions(kind, &body.value)).collect();
                let (known, of) = match kind {
                    Kind::Clusters => (&mut self.endpoints, Kind::Endpoints),
                    _ => (&mut self.routes, Kind::Routes),
                };
                let new: Vec<String> = names.into_iter().filter(|name| known.insert(name.clone())).collect();
                self.listeners |= kind == Kind::Listeners;
                self.waiting += new.len();
                if !new.is_empty() {
                    requests.push(ask(of, new));
                }
                if kind == Kind::Clusters {
                    let gone: Vec<String> =
                        response.removed.into_iter().filter(|name| self.endpoints.remove(name)).collect();
                    if !gone.is_empty() {
                        let mut request = ask(Kind::Endpoints, Vec::new());
                        request.resource_names_unsubscribe = gone;
                        requests.push(request);
                    }
                }
            }
            Kind::Endpoints | Kind::Routes => {
                let answered = response.resources.len() + response.removed.len();
                self.waiting = self.waiting.saturating_sub(answered);
            }
        }
        if !self.listeners_asked && self.waiting == 0 {
            self.listeners_asked = true;
            requests.push(ask(Kind::Listeners, Vec::new()));
        }
        requests
    }

    fn complete(&self) -> bool {
        self.listeners && self.waiting == 0
    }
}
