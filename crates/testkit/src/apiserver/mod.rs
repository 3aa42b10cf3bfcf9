//! A real API server: etcd and kube-apiserver on free loopback ports, with RBAC and the usual admission on.
//!
//! In: nothing. Out: clients, kubeconfigs, `kubectl`, namespaces. One is enough for all tests of a binary
//! ([`ApiServer::shared`]), each in a namespace of its own; a test that stops the server starts its own.

pub(crate) mod kubectl;
mod namespaces;
mod pods;

use std::{
    path::PathBuf,
    sync::{Mutex, MutexGuard, PoisonError, atomic::AtomicU32},
    time::Duration,
};

use k8s_openapi::api::core::v1::Namespace;
use kube::{Api, Client, Config};
pub use pods::Pods;
use tokio::sync::OnceCell;

use crate::{
    Controllers, Part,
    control_plane::{Access, ControlPlane, Ports, Settings},
    error::{During, Error, Result},
    run::run,
    wait::{self, Seen},
};

/// For one question to a server that may not be there.
const PROBE: Duration = Duration::from_secs(3);

pub struct ApiServer {
    plane: ControlPlane,
    access: Access,
    etcd: Part,
    /// `None` while it is stopped.
    server: Mutex<Option<Part>>,
    namespaces: AtomicU32,
    controllers: OnceCell<Controllers>,
}

impl ApiServer {
    pub const NEEDS: &[&str] = &["etcd", "kube-apiserver", "kubectl"];

    /// The one of this test binary.
    ///
    /// # Panics
    /// If it does not start: no test that asked for it can go on.
    #[expect(clippy::panic, reason = "an API server that does not start is the test's failure")]
    pub async fn shared() -> &'static Self {
        static SHARED: OnceCell<ApiServer> = OnceCell::const_new();
        match SHARED.get_or_try_init(Self::start).await {
            Ok(server) => server,
            Err(error) => panic!("the shared API server: {error}"),
        }
    }

    /// One for the caller alone; it ends when dropped.
    pub async fn start() -> Result<Self> {
        Self::start_on(Ports::free).await
    }

    /// The same, with processes of this machine in the place of pods.
    pub async fn start_with(pods: &Pods) -> Result<Self> {
        Self::attempt(Ports::free, Some(pods)).await
    }

    /// The same on chosen ports; asked for others once, if one was taken in between.
    pub async fn start_on(ports: impl FnMut() -> Result<Ports>) -> Result<Self> {
        Self::attempt(ports, None).await
    }

    async fn attempt(mut ports: impl FnMut() -> Result<Ports>, pods: Option<&Pods>) -> Result<Self> {
        let first = Self::prepare(ports()?, pods)?;
        match first.up().await {
            Ok(()) => Ok(first),
            Err(error) if first.port_was_taken() => {
                tracing::warn!(%error, "a port was taken in between: once more, with others");
                drop(first);
                let second = Self::prepare(ports()?, pods)?;
                second.up().await?;
                Ok(second)
            }
            Err(error) => Err(error),
        }
    }

    fn prepare(ports: Ports, pods: Option<&Pods>) -> Result<Self> {
        let folder = run().part_folder("apiserver").during("make the API server's folder")?;
        let pods = pods.map(|pods| pods.file().to_owned());
        let plane = ControlPlane::prepare(Settings { pods, ..Settings::loopback(folder, ports) })?;
        let access = plane.access("admin", &plane.url())?;
        let etcd = Part::start("etcd", plane.etcd()?)?;
        Ok(Self {
            plane,
            access,
            etcd,
            server: Mutex::default(),
            namespaces: AtomicU32::new(1),
            controllers: OnceCell::new(),
        })
    }

    /// Starts kube-apiserver (etcd runs) and waits until it serves.
    async fn up(&self) -> Result<()> {
        let server = Part::start("kube-apiserver", self.plane.apiserver()?)?;
        let (pid, log) = (server.pid(), server.log_file().to_owned());
        tracing::info!(pid, log = %log.display(), "kube-apiserver on {}", self.url());
        *self.server() = Some(server);
        let client = self.client()?;
        let ready = wait::until("kube-apiserver to be ready", wait::PATIENCE, async || {
            if let Some(end) = self.end() {
                return Seen::Never(end);
            }
            // Bounded: whoever took the port may accept and never answer, and then the end above goes unseen.
            match tokio::time::timeout(PROBE, serves(client.clone())).await {
                Ok(answer) => Seen::from_result(answer),
                Err(_) => Seen::NotYet("no answer".to_owned()),
            }
        });
        ready.await.map_err(|error| {
            let server = self.server();
            server.as_ref().map_or_else(|| Error::other(&error), |part| part.error(&error))
        })
    }

    /// Which of the two processes is gone, if one is.
    fn end(&self) -> Option<String> {
        if let Some(status) = self.etcd.ended() {
            return Some(format!("etcd ended ({status}), see {}", self.etcd.log_file().display()));
        }
        self.server().as_ref().and_then(Part::ended).map(|status| format!("kube-apiserver ended ({status})"))
    }

    fn port_was_taken(&self) -> bool {
        let server = self.server().as_ref().map(Part::log).unwrap_or_default();
        [self.etcd.log(), server].iter().any(|log| log.contains("address already in use"))
    }

    /// Ends kube-apiserver at once; etcd and its data stay.
    pub fn stop(&self) {
        self.server().take();
    }

    /// Ends kube-apiserver, if it runs, and starts it again on the same port.
    pub async fn restart(&self) -> Result<()> {
        self.stop();
        self.up().await
    }

    /// Adds kube-controller-manager, kube-scheduler and kwok; once, however often it is asked for.
    pub async fn controllers(&self) -> Result<&Controllers> {
        self.controllers.get_or_try_init(|| Controllers::start(self)).await
    }

    /// Where it listens.
    pub fn url(&self) -> String {
        self.plane.url()
    }

    /// The administrator's way in.
    pub fn access(&self) -> &Access {
        &self.access
    }

    pub fn config(&self) -> Result<Config> {
        self.access.config()
    }

    /// A client with all rights, bound to the runtime of the caller.
    pub fn client(&self) -> Result<Client> {
        self.access.client()
    }

    /// A client with the rights of that user and those groups, and no others.
    pub fn client_as(&self, user: &str, groups: &[&str]) -> Result<Client> {
        self.access.client_as(user, groups)
    }

    /// The administrator's kubeconfig, for `kubectl`, istiod and other processes.
    pub fn kubeconfig_file(&self) -> PathBuf {
        self.plane.kubeconfig_file("admin")
    }

    /// Certificates, kubeconfigs and commands; its authority signs for webhooks too.
    pub fn control_plane(&self) -> &ControlPlane {
        &self.plane
    }

    fn server(&self) -> MutexGuard<'_, Option<Part>> {
        self.server.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn serves(client: Client) -> Result<()> {
    client.request_text(http::Request::get("/readyz").body(Vec::new()).map_err(Error::other)?).await?;
    // The server makes this one itself, a moment after it says that it is ready.
    Api::<Namespace>::all(client).get("default").await?;
    Ok(())
}
