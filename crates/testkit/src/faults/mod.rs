//! Trouble on demand: a TLS proxy in front of an API server.
//!
//! In: requests of a client that was made by [`Faults::client`] or from [`Faults::kubeconfig_file`]. Out: the API
//! server's answers, or what the test has asked for: refusals, delays, lost answers, cut watches, no server at
//! all. It knows nothing of who asks: clients bring bearer tokens, which pass through, so that the API server
//! decides by its own rules.

mod body;
mod door;
mod relay;
mod rule;
mod status;

use std::{
    path::PathBuf,
    sync::{Arc, atomic::Ordering},
};

use kube::Client;
use tokio::sync::Mutex;
use tokio_rustls::{TlsAcceptor, TlsConnector};

use self::{door::Door, relay::Relay};
use crate::{
    ApiServer,
    control_plane::{Access, ControlPlane, Credentials},
    error::{During, Result},
    pki::Leaf,
    tls,
};

pub use rule::{Fault, Injected, Verb};

pub struct Faults {
    access: Access,
    kubeconfig: PathBuf,
    relay: Arc<Relay>,
    door: Mutex<Door>,
}

impl ApiServer {
    /// A proxy in front of this server; a test may have its own.
    pub async fn faults(&self) -> Result<Faults> {
        Faults::in_front_of(self.control_plane())
    }
}

impl Faults {
    fn in_front_of(plane: &ControlPlane) -> Result<Self> {
        let relay = Arc::new(Relay::new(plane.endpoint(), connector(plane)?));
        let door = Door::open(acceptor(plane)?, Arc::clone(&relay))?;
        let access = Access {
            url: format!("https://{}", door.address()),
            authority: plane.authority().certificate(),
            credentials: Credentials::Token(plane.token().to_owned()),
        };
        let kubeconfig = plane.kubeconfig_file(&format!("faults-{}", door.address().port()));
        std::fs::write(&kubeconfig, access.kubeconfig()).during("write a kubeconfig")?;
        Ok(Self { access, kubeconfig, relay, door: Mutex::new(door) })
    }

    /// The administrator's way in, through the proxy.
    pub fn access(&self) -> &Access {
        &self.access
    }

    pub fn client(&self) -> Result<Client> {
        self.access.client()
    }

    pub fn client_as(&self, user: &str, groups: &[&str]) -> Result<Client> {
        self.access.client_as(user, groups)
    }

    pub fn kubeconfig_file(&self) -> PathBuf {
        self.kubeconfig.clone()
    }

    /// Puts a fault in place. Faults are asked in the order in which they came; the first that answers wins.
    pub fn inject(&self, fault: Fault) -> Injected {
        let injected = Injected::new(fault);
        self.relay.faults().push(injected.clone());
        injected
    }

    /// Takes one fault away.
    pub fn remove(&self, fault: &Injected) {
        self.relay.faults().retain(|other| !other.is(fault));
    }

    /// Takes all faults away.
    pub fn clear(&self) {
        self.relay.faults().clear();
        self.relay.broken.store(false, Ordering::SeqCst);
    }

    /// Refuses connections, and closes those that are open, until [`Faults::resume`].
    pub async fn stop(&self) -> Result<()> {
        self.door.lock().await.shut().await
    }

    pub async fn resume(&self) -> Result<()> {
        self.door.lock().await.reopen()
    }

    /// Cuts every open watch in the middle, and says how many there were.
    pub fn cut_watches(&self) -> usize {
        let open = self.open_watches();
        self.relay.watches.send_modify(|generation| *generation += 1);
        open
    }

    /// Watches that are open now.
    pub fn open_watches(&self) -> usize {
        self.relay.open_watches()
    }

    /// How many requests of this kind have come, met by a fault or not.
    pub fn seen(&self, verb: Verb) -> u64 {
        self.relay.seen(verb)
    }
}

fn acceptor(plane: &ControlPlane) -> Result<TlsAcceptor> {
    let leaf = Leaf {
        common_name: "faults",
        dns: &["localhost"],
        ip: &[std::net::Ipv4Addr::LOCALHOST.into()],
        ..Leaf::default()
    };
    let config = tls::server(&plane.authority().leaf(&leaf)?, None, &[b"h2", b"http/1.1"])?;
    Ok(TlsAcceptor::from(Arc::new(config)))
}

fn connector(plane: &ControlPlane) -> Result<TlsConnector> {
    let config = tls::client(&plane.authority().certificate(), None, &[])?;
    Ok(TlsConnector::from(Arc::new(config)))
}
