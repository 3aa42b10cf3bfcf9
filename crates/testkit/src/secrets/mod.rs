//! The secrets of a mesh: a throw-away authority, and what Istio's agent does for a proxy, without an agent.
//!
//! In: SPIFFE identities. Out: for each a Unix socket on which Envoy's secret discovery service answers for
//! `default` (a certificate of that identity), `ROOTCA`, `file-cert:CERT~KEY`, `file-root:PATH` and `file-root:system`. The socket
//! stands for the identity, as it does in a pod: whoever connects there is that workload. Configuration made by
//! Istio waits for these secrets without limit, so every Envoy that is given such configuration needs one.

mod source;

use std::{
    fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};

use mizzen_identity::sds;
use tokio::{net::UnixListener, sync::watch, task::AbortHandle};

use crate::{
    error::{During, Result},
    pki::{Authority, Leaf, Pair},
    run::run,
};

pub struct Secrets {
    shared: Arc<Shared>,
    folder: PathBuf,
    servers: Mutex<Vec<AbortHandle>>,
}

/// What all sockets have in common.
struct Shared {
    authority: Authority,
    /// Below which the files of proxies are.
    files: PathBuf,
    /// How often the certificates were replaced; every stream watches it.
    generation: watch::Sender<u64>,
    asked: Mutex<Vec<String>>,
}

impl Secrets {
    pub fn start() -> Result<Self> {
        Self::with_files(Path::new("/"))
    }

    /// The same where a folder stands for the root of every proxy's file system, as a pod has one of its own.
    pub fn with_files(files: &Path) -> Result<Self> {
        let shared = Shared {
            authority: Authority::new("test mesh")?,
            files: files.to_owned(),
            generation: watch::Sender::new(1),
            asked: Mutex::default(),
        };
        let folder = run().part_folder("secrets").during("make the folder of secrets")?;
        Ok(Self { shared: Arc::new(shared), folder, servers: Mutex::default() })
    }

    /// The socket for one identity, such as `spiffe://cluster.local/ns/shop/sa/cart`.
    pub fn identity(&self, spiffe: &str) -> Result<PathBuf> {
        let mut servers = self.servers.lock().unwrap_or_else(PoisonError::into_inner);
        // A number, not the name: the path of a socket has 107 characters and identities are long.
        let socket = self.folder.join(format!("{}.sock", servers.len()));
        let _context = run().runtime().enter();
        let listener = UnixListener::bind(&socket).during("open a socket for secrets")?;
        // Proxies run as another user, and connecting takes the right to write.
        fs::set_permissions(&socket, fs::Permissions::from_mode(0o666))
            .during("open a socket for secrets")?;
        let source = source::Source::new(Arc::clone(&self.shared), spiffe)?;
        let server = sds::serve(listener, source);
        servers.push(run().runtime().spawn(server).abort_handle());
        Ok(socket)
    }

    /// The socket for a service account of the trust domain `cluster.local`.
    pub fn service_account(&self, namespace: &str, name: &str) -> Result<PathBuf> {
        self.identity(&spiffe(namespace, name))
    }

    /// The root of trust, as PEM.
    pub fn root(&self) -> String {
        self.shared.authority.certificate()
    }

    /// A certificate for somebody who has no proxy: a client that wants in, a server that wants to be trusted.
    pub fn pair(&self, spiffe: &str) -> Result<Pair> {
        self.shared.pair(spiffe)
    }

    /// Every name that was asked for so far, known or not, in order and without repetition.
    pub fn asked(&self) -> Vec<String> {
        self.shared.asked.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Gives every connected proxy new certificates for its identity, from the same authority, and the files that
    /// it uses as they are now.
    pub fn rotate(&self) {
        self.shared.generation.send_modify(|generation| *generation += 1);
    }
}

impl Drop for Secrets {
    fn drop(&mut self) {
        // Streams that are open live on and keep what they have; nobody new is let in.
        for server in self.servers.lock().unwrap_or_else(PoisonError::into_inner).drain(..) {
            server.abort();
        }
    }
}

impl Shared {
    fn pair(&self, spiffe: &str) -> Result<Pair> {
        self.authority.leaf(&Leaf { uri: Some(spiffe), ..Leaf::default() })
    }

    fn file(&self, path: &str) -> Option<Vec<u8>> {
        fs::read(self.files.join(path.trim_start_matches('/'))).ok()
    }

    fn note(&self, name: &str) {
        let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        if !asked.iter().any(|known| known == name) {
            asked.push(name.to_owned());
        }
    }
}

/// The identity of a service account.
pub fn spiffe(namespace: &str, service_account: &str) -> String {
    format!("spiffe://cluster.local/ns/{namespace}/sa/{service_account}")
}
