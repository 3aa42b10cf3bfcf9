//! A source of resources that a test changes, served on a free port, and a client.

#![allow(
    dead_code,
    unreachable_pub,
    clippy::unwrap_used,
    reason = "each test uses what it needs; a test may fail by panic"
)]

use std::{
    collections::{BTreeMap, HashMap},
    net::SocketAddr,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
    time::{Duration, Instant},
};

use bytes::Bytes;
use mizzen_proto::envoy::{
    config::core::v3::Node,
    service::discovery::v3::{
        DeltaDiscoveryRequest, DeltaDiscoveryResponse,
        aggregated_discovery_service_client::AggregatedDiscoveryServiceClient,
    },
};
use mizzen_xds::{
    Generation, Generations, Options, Peer, Refused, Resource, ResourceSet, Server, Source, Subscription,
    Type,
};
use tokio::{
    net::TcpListener,
    sync::{mpsc, oneshot, watch},
    task::JoinHandle,
    time::timeout,
};
use tokio_stream::wrappers::ReceiverStream;
use tonic::{Status, Streaming, transport::Channel};

/// Longer than anything takes.
pub const PATIENCE: Duration = Duration::from_secs(30);

type Gate = Arc<Mutex<std::sync::mpsc::Receiver<()>>>;
type Resources = BTreeMap<Type, BTreeMap<String, Bytes>>;

/// What a node became.
pub struct Proxy {
    pub id: String,
}

#[derive(Clone)]
pub struct Fake {
    resources: Arc<Mutex<(u64, Resources)>>,
    newest: watch::Sender<Option<Arc<dyn Generation<Proxy>>>>,
    pub connected: Arc<AtomicUsize>,
    /// Building waits until the other end of this is dropped.
    pub gate: Arc<Mutex<Option<Gate>>>,
    /// Building fails.
    pub broken: Arc<Mutex<bool>>,
}

impl Fake {
    /// Not ready until something is put.
    pub fn new() -> Self {
        Self {
            resources: Arc::default(),
            newest: watch::Sender::new(None),
            connected: Arc::default(),
            gate: Arc::default(),
            broken: Arc::default(),
        }
    }

    pub fn put(&self, kind: Type, name: &str, body: impl Into<Bytes>) {
        let body = body.into();
        self.change(|all| {
            all.entry(kind).or_default().insert(name.to_owned(), body);
        });
    }

    pub fn remove(&self, kind: &Type, name: &str) {
        self.change(|all| {
            all.entry(kind.clone()).or_default().remove(name);
        });
    }

    pub fn change(&self, change: impl FnOnce(&mut Resources)) {
        let mut state = self.resources.lock().unwrap();
        change(&mut state.1);
        state.0 += 1;
        let world = World {
            number: state.0,
            version: state.0.to_string(),
            made: Instant::now(),
            resources: state.1.clone(),
            sets: Mutex::default(),
            gate: self.gate.lock().unwrap().clone(),
            broken: *self.broken.lock().unwrap(),
        };
        self.newest.send_replace(Some(Arc::new(world)));
    }
}

impl Source for Fake {
    type Client = Proxy;

    fn connect(&self, node: &Node, _: &Peer) -> Result<Arc<Proxy>, Refused> {
        if node.id.contains("malformed") {
            return Err(Refused::Malformed(format!("the node id {} is malformed", node.id)));
        }
        self.connected.fetch_add(1, Relaxed);
        Ok(Arc::new(Proxy { id: node.id.clone() }))
    }

    fn disconnect(&self, _: &Arc<Proxy>) {
        self.connected.fetch_sub(1, Relaxed);
    }

    fn generations(&self) -> Generations<Proxy> {
        self.newest.subscribe()
    }
}

struct World {
    number: u64,
    version: String,
    made: Instant,
    resources: Resources,
    sets: Mutex<HashMap<(Type, Subscription), Arc<ResourceSet>>>,
    gate: Option<Gate>,
    broken: bool,
}

impl Generation<Proxy> for World {
    fn number(&self) -> u64 {
        self.number
    }

    fn version(&self) -> &str {
        &self.version
    }

    fn made(&self) -> Instant {
        self.made
    }

    fn ready(&self, _: &Proxy, kind: &Type, subscription: &Subscription) -> Option<Arc<ResourceSet>> {
        self.sets.lock().unwrap().get(&(kind.clone(), subscription.clone())).cloned()
    }

    fn build(&self, _: &Proxy, kind: &Type, subscription: &Subscription) -> Arc<ResourceSet> {
        assert!(!self.broken, "broken by the test");
        if let Some(gate) = &self.gate {
            let _ = gate.lock().unwrap().recv();
        }
        let all = self.resources.get(kind).into_iter().flatten();
        let resources =
            all.map(|(name, body)| Arc::new(Resource::new(name.as_str(), body.clone()))).collect();
        let set = Arc::new(ResourceSet::new(kind.clone(), subscription.clone(), resources));
        self.sets.lock().unwrap().insert((kind.clone(), subscription.clone()), set.clone());
        set
    }
}

/// A server that runs until it is dropped or stopped.
pub struct Running {
    pub server: Server<Fake>,
    pub address: SocketAddr,
    stop: Option<oneshot::Sender<()>>,
    task: JoinHandle<()>,
}

pub async fn serve(fake: &Fake, options: Options) -> Running {
    serve_at(fake, options, ([127, 0, 0, 1], 0).into()).await
}

pub async fn serve_at(fake: &Fake, options: Options, address: SocketAddr) -> Running {
    let listener = TcpListener::bind(address).await.unwrap();
    let address = listener.local_addr().unwrap();
    let server = Server::new(fake.clone(), options);
    let (stop, stopped) = oneshot::channel::<()>();
    let serving = server.clone();
    let task = tokio::spawn(async move {
        serving
            .serve(listener, async {
                let _ = stopped.await;
            })
            .await;
    });
    Running { server, address, stop: Some(stop), task }
}

impl Running {
    /// Returns when everything has ended.
    pub async fn stop(mut self) {
        drop(self.stop.take());
        timeout(PATIENCE, self.task).await.unwrap().unwrap();
    }

    pub async fn client(&self) -> AggregatedDiscoveryServiceClient<Channel> {
        let channel =
            Channel::from_shared(format!("http://{}", self.address)).unwrap().connect().await.unwrap();
        AggregatedDiscoveryServiceClient::new(channel)
            .max_decoding_message_size(usize::MAX)
            .max_encoding_message_size(usize::MAX)
    }

    pub async fn delta(&self) -> Delta {
        self.try_delta().await.unwrap()
    }

    pub async fn try_delta(&self) -> Result<Delta, Status> {
        let (requests, receiver) = mpsc::channel(1_000);
        let responses = self.client().await.delta_aggregated_resources(ReceiverStream::new(receiver)).await?;
        Ok(Delta { requests, responses: responses.into_inner() })
    }
}

/// A delta stream.
pub struct Delta {
    pub requests: mpsc::Sender<DeltaDiscoveryRequest>,
    pub responses: Streaming<DeltaDiscoveryResponse>,
}

impl Delta {
    pub async fn send(&self, request: DeltaDiscoveryRequest) {
        self.requests.send(request).await.unwrap();
    }

    /// The next response, or why the stream ended; a clean end is `OK`.
    pub async fn next(&mut self) -> Result<DeltaDiscoveryResponse, Status> {
        let next = timeout(PATIENCE, self.responses.message()).await.expect("nothing came");
        next?.ok_or_else(|| Status::ok("the end"))
    }

    pub async fn ack(&self, response: &DeltaDiscoveryResponse) {
        let (type_url, response_nonce) = (response.type_url.clone(), response.nonce.clone());
        self.send(DeltaDiscoveryRequest { type_url, response_nonce, ..Default::default() }).await;
    }
}

pub fn node(id: &str) -> Option<Node> {
    Some(Node { id: id.to_owned(), ..Default::default() })
}

pub fn ask(kind: &Type, names: &[&str]) -> DeltaDiscoveryRequest {
    DeltaDiscoveryRequest {
        node: node("sidecar~10.0.0.1~a.b~b.svc.cluster.local"),
        type_url: kind.url().to_owned(),
        resource_names_subscribe: names.iter().map(|name| (*name).to_owned()).collect(),
        ..Default::default()
    }
}

/// Waits until it is so.
pub async fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let started = Instant::now();
    while !is_so() {
        assert!(started.elapsed() < PATIENCE, "{what}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}
