//! The parts of the process, put together, and its end.

use crate::{
    builder::{Builder, Published},
    http,
    listen::listen,
    metrics::Metrics,
    objects::Objects,
    options::Options,
    replay::Replay,
    serve::{Proxies, Watching, verify},
    sources::{
        Known, Sources,
        mesh_config::{Keeper, Part},
    },
};
use mizzen_cluster::NoClient;
use mizzen_mesh::{Settings, Snapshot};
use mizzen_xds::{Connection, Server, Statistics};
use std::{
    future::Future,
    io,
    sync::{Arc, Mutex, PoisonError},
};
use tokio::{net::TcpListener, sync::watch, task::JoinSet};

/// Why a control plane did not start.
#[derive(Debug, thiserror::Error)]
pub enum Failed {
    #[error(transparent)]
    Client(#[from] NoClient),
    #[error("cannot listen on {address} ({flag})")]
    Listen { flag: &'static str, address: String, source: io::Error },
    #[error("cannot start a thread")]
    Thread(#[source] io::Error),
}

/// What pages and metrics look at.
pub(crate) struct Process {
    pub(crate) options: Options,
    pub(crate) sources: Arc<[Arc<Known>]>,
    pub(crate) objects: Arc<Objects>,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) proxies: Proxies,
    snapshot: Mutex<Option<Arc<Snapshot>>>,
    server: Option<Server<Proxies>>,
    watching: Mutex<Watching>,
}

impl Process {
    /// Nothing before everything has been read once.
    pub(crate) fn snapshot(&self) -> Option<Arc<Snapshot>> {
        self.snapshot.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn connections(&self) -> Vec<Connection> {
        self.server.as_ref().map(Server::connections).unwrap_or_default()
    }

    pub(crate) fn statistics(&self) -> Option<Arc<Statistics>> {
        self.server.as_ref().map(|server| Arc::clone(server.statistics()))
    }

    fn publish(&self, published: &Published) {
        *self.snapshot.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::clone(&published.snapshot));
        self.proxies.publish(published);
        if let Some(cold) = &published.cold {
            let mut last = self.watching.lock().unwrap_or_else(PoisonError::into_inner);
            verify(&self.proxies, &self.metrics, &self.connections(), published, cold, &mut last);
        }
    }
}

/// Runs until `end`, then ends everything in good order.
pub async fn run(options: Options, end: impl Future<Output = ()>) -> Result<(), Failed> {
    // First of all, so that a port that is taken is told at once.
    let grpc = socket("--grpcAddr", options.grpc.as_deref()).await?;
    let http = socket("--httpAddr", options.http.as_deref()).await?;
    let monitoring = socket("--monitoringAddr", options.monitoring.as_deref()).await?;

    let settings = Settings {
        domain: options.domain.as_str().into(),
        cluster: options.cluster.as_str().into(),
        revision: options.revision.as_str().into(),
        namespace: options.namespace.as_str().into(),
        ..Settings::default()
    };
    let (mut sources, told) = Sources::new();
    start_sources(&options, &mut sources, &settings).await?;
    let (known, tasks) = sources.complete();

    let (ending, ended) = watch::channel(false);
    let (metrics, objects) = (Arc::new(Metrics::default()), Arc::new(Objects::default()));
    let proxies = Proxies::new(options.proxies.clone(), Arc::clone(&metrics));
    let server = grpc.is_some().then(|| Server::new(proxies.clone(), options.streams.clone()));
    let builder = Builder {
        told,
        sources: Arc::clone(&known),
        replay: options.verify.then(|| Replay::new(settings.clone())),
        settings,
        objects: Arc::clone(&objects),
        metrics: Arc::clone(&metrics),
    };
    let (snapshot, watching) = (Mutex::default(), Mutex::default());
    let process =
        Arc::new(Process { options, sources: known, objects, metrics, proxies, snapshot, server, watching });

    let publisher = Arc::clone(&process);
    let publish = move |published| publisher.publish(&published);
    let builder = builder.start(publish).map_err(Failed::Thread)?;

    let mut serving = JoinSet::new();
    for (listener, door) in [(http, http::Door::Http), (monitoring, http::Door::Monitoring)] {
        if let Some(listener) = listener {
            serving.spawn(http::serve(listener, door, Arc::clone(&process), over(ended.clone())));
        }
    }
    if let (Some(listener), Some(server)) = (grpc, process.server.clone()) {
        let shutdown = over(ended.clone());
        serving.spawn(async move { server.serve(listener, shutdown).await });
    }
    drop(ended);

    end.await;
    tracing::info!("ending");
    // The receivers may be gone already.
    let _ = ending.send(true);
    // Sources first: without them the builder ends.
    drop(tasks);
    let grace = process.options.grace;
    let all = async { while serving.join_next().await.is_some() {} };
    if tokio::time::timeout(grace, all).await.is_err() {
        tracing::warn!(seconds = grace.as_secs(), "streams that did not end in time are cut");
    }
    drop(serving);
    let _ = tokio::task::spawn_blocking(move || builder.join()).await;
    Ok(())
}

/// Returns when it is over.
async fn over(mut ended: watch::Receiver<bool>) {
    // A sender that is gone says the same.
    let _ = ended.wait_for(|ended| *ended).await;
}

async fn socket(flag: &'static str, address: Option<&str>) -> Result<Option<TcpListener>, Failed> {
    let Some(address) = address else { return Ok(None) };
    let listener = listen(address).await.map_err(|source| Failed::Listen {
        flag,
        address: address.to_owned(),
        source,
    })?;
    match listener.local_addr() {
        Ok(address) => tracing::info!(%address, "{flag}"),
        Err(_) => tracing::info!(address, "{flag}"),
    }
    Ok(Some(listener))
}

async fn start_sources(options: &Options, sources: &mut Sources, settings: &Settings) -> Result<(), Failed> {
    let client = match options.needs_cluster() {
        true => Some(mizzen_cluster::connect(&options.access).await?),
        false => None,
    };
    let keeper = Keeper::new(settings.clone());
    let mut from_map = Vec::new();
    for (part, path) in [(Part::Mesh, &options.mesh_config), (Part::Networks, &options.networks_config)] {
        if path.exists() || client.is_none() {
            sources.settings_file(part, path.clone(), keeper.clone());
        } else {
            from_map.push(part);
        }
    }
    if let (Some(client), false) = (&client, from_map.is_empty()) {
        sources.settings_map(client, &options.namespace, &options.revision, &from_map, keeper);
    }
    if !options.config_dirs.is_empty() {
        sources.files(options.config_dirs.clone(), !options.registry);
    }
    if let Some(client) = client {
        if options.registry {
            sources.registry(&client);
        }
        if options.config_dirs.is_empty() {
            sources.configuration(&client, &options.revision);
        }
    }
    Ok(())
}
