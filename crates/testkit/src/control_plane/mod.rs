//! Kubernetes' control plane on paper: what must be on disk before it starts, and how each process is started.
//!
//! In: [`Settings`] (addresses, ports, a folder). Out: certificates and kubeconfigs in that folder, and one
//! [`Command`](std::process::Command) a process. Nothing is started here, because the two users start
//! differently: [`ApiServer`](crate::ApiServer) on this machine's loopback, the node inside its own namespaces.

mod access;
mod certificates;
mod commands;
mod kubeconfig;

use std::{
    net::{Ipv4Addr, SocketAddrV4},
    path::{Path, PathBuf},
};

use crate::{
    error::{During, Result},
    pki::Authority,
    ports,
};

pub use access::Access;
pub use kubeconfig::{Credentials, kubeconfig};

/// Services get their addresses here; `kubernetes.default` is the first of them.
pub const SERVICE_RANGE: &str = "10.96.0.0/16";
pub const KUBERNETES_SERVICE: Ipv4Addr = Ipv4Addr::new(10, 96, 0, 1);

#[derive(Clone)]
pub struct Settings {
    /// Everything is written here; it exists.
    pub folder: PathBuf,
    /// Where kube-apiserver listens.
    pub listen: Ipv4Addr,
    /// The address by which others know kube-apiserver: in its certificate, in the kubeconfigs, and, unless it is
    /// loopback (no endpoint may be), as the endpoint of `kubernetes.default`.
    pub address: Ipv4Addr,
    pub ports: Ports,
    /// Certificates and kubeconfigs of a kubelet and a kube-proxy, if there is a node.
    pub node: Option<NodeIdentity>,
    /// The file that says by which way kube-apiserver reaches pods, if it is not their addresses.
    pub pods: Option<PathBuf>,
}

#[derive(Clone)]
pub struct NodeIdentity {
    pub name: String,
    pub address: Ipv4Addr,
}

#[derive(Clone, Copy)]
pub struct Ports {
    pub etcd: u16,
    pub etcd_peer: u16,
    pub apiserver: u16,
    pub controller_manager: u16,
    pub scheduler: u16,
}

impl Ports {
    /// Those that everybody knows, for a network of one's own.
    pub const USUAL: Self =
        Self { etcd: 2379, etcd_peer: 2380, apiserver: 6443, controller_manager: 10257, scheduler: 10259 };

    /// Free ones of this machine.
    pub fn free() -> Result<Self> {
        let [etcd, etcd_peer, apiserver, controller_manager, scheduler] = ports::free()?;
        Ok(Self { etcd, etcd_peer, apiserver, controller_manager, scheduler })
    }
}

impl Settings {
    /// A control plane on this machine's loopback.
    pub fn loopback(folder: PathBuf, ports: Ports) -> Self {
        Self {
            folder,
            listen: Ipv4Addr::LOCALHOST,
            address: Ipv4Addr::LOCALHOST,
            ports,
            node: None,
            pods: None,
        }
    }

    /// A control plane with one node, in a network of its own: the usual ports, all addresses.
    pub fn with_node(folder: PathBuf, node: NodeIdentity) -> Self {
        let address = node.address;
        Self {
            folder,
            listen: Ipv4Addr::UNSPECIFIED,
            address,
            ports: Ports::USUAL,
            node: Some(node),
            pods: None,
        }
    }
}

/// A control plane whose files are written.
pub struct ControlPlane {
    settings: Settings,
    authority: Authority,
    token: String,
}

impl ControlPlane {
    /// Makes the certificates (`certs/`) and kubeconfigs (`kubeconfig/`).
    pub fn prepare(settings: Settings) -> Result<Self> {
        for folder in ["certs", "kubeconfig"] {
            std::fs::create_dir_all(settings.folder.join(folder))
                .during("make the control plane's folders")?;
        }
        let authority = Authority::new("mizzen-testkit")?;
        let token = certificates::write(&settings, &authority)?;
        let plane = Self { settings, authority, token };
        plane.write_kubeconfigs()?;
        Ok(plane)
    }

    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// The one authority: for servers, clients, kubelets and, if a test likes, webhooks.
    pub fn authority(&self) -> &Authority {
        &self.authority
    }

    /// The administrator's bearer token, for who stands behind something that ends TLS.
    pub fn token(&self) -> &str {
        &self.token
    }

    /// Where kube-apiserver is reached.
    pub fn endpoint(&self) -> SocketAddrV4 {
        SocketAddrV4::new(self.settings.address, self.settings.ports.apiserver)
    }

    pub fn url(&self) -> String {
        format!("https://{}", self.endpoint())
    }

    /// A file of `certs/`: `ca.crt`, `sa.key`, `kubelet.crt`, …
    pub fn certificate_file(&self, name: &str) -> PathBuf {
        self.settings.folder.join("certs").join(name)
    }

    /// A kubeconfig: `admin`, `controller-manager`, `scheduler`; with a node also `kubelet` and `proxy`.
    pub fn kubeconfig_file(&self, name: &str) -> PathBuf {
        self.settings.folder.join("kubeconfig").join(name)
    }

    fn folder(&self) -> &Path {
        &self.settings.folder
    }
}
