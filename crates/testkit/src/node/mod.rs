//! A real node: kubelet, containerd, runc, CNI bridge, kube-proxy and CoreDNS beside a real control plane, all in
//! one set of private namespaces. Root only.
//!
//! In: images. Out: clients and kubectl from outside, the node's network to dial pods and services from and to
//! listen in. Pods really run, with init containers, sidecars, probes and redirect rules; services have addresses.
//! The node reaches nobody outside, its ports and rules clash with nothing, and all of it ends with one process.

mod configuration;
pub mod images;
mod objects;
mod space;

use std::{
    net::{Ipv4Addr, SocketAddr, SocketAddrV4},
    path::{Path, PathBuf},
    process::Command,
};

use k8s_openapi::api::{
    apps::v1::Deployment,
    core::v1::{Node as Object, ServiceAccount},
};
use kube::{Api, Client};
use mizzen_image::Image;

use self::space::Space;
use crate::{
    Part,
    control_plane::{Access, ControlPlane, NodeIdentity, Settings},
    error::{During, Error, Result},
    needs,
    netns::{NetNs, Relay},
    run::run,
    tools,
    wait::{PATIENCE, Seen, until},
};

/// The node's name.
pub const NAME: &str = "node1";
/// The node's own address; kube-apiserver and the kubelet listen there.
pub const ADDRESS: Ipv4Addr = Ipv4Addr::new(10, 250, 0, 1);
/// CoreDNS's service.
pub const DNS: Ipv4Addr = Ipv4Addr::new(10, 96, 0, 10);
const POD_RANGE: &str = "10.244.0.0/24";

pub struct Node {
    // Dropped in this order: with the namespaces, everything in them is gone already.
    space: Space,
    parts: Vec<Part>,
    plane: ControlPlane,
    access: Access,
    kubeconfig: PathBuf,
    _relay: Relay,
}

impl Node {
    pub const NEEDS: &[&str] = &[
        needs::ROOT,
        "etcd",
        "kube-apiserver",
        "kube-controller-manager",
        "kube-scheduler",
        "kubelet",
        "kube-proxy",
        "kubectl",
        "coredns",
        "containerd",
        "ctr",
        "runc",
        "iptables",
        "ip",
        "unshare",
        "nsenter",
        "/usr/lib/cni/bridge",
    ];

    /// A node with nothing on it but CoreDNS.
    pub async fn start() -> Result<Self> {
        Self::start_with(Vec::new()).await
    }

    /// A node with these images on it. Ready when it returns: a pod can be made in namespace `default`, and names
    /// are resolved.
    pub async fn start_with(mut images: Vec<Image>) -> Result<Self> {
        let folder = run().part_folder("node").during("make the node's folder")?;
        let identity = NodeIdentity { name: NAME.to_owned(), address: ADDRESS };
        let space = Space::make(&folder, NAME, ADDRESS).await?;
        let plane = ControlPlane::prepare(Settings::with_node(folder.clone(), identity))?;
        configuration::write(&plane, &space.control_group())?;

        let relay = space.network().relay_out(plane.endpoint().into())?;
        let access = plane.access("admin", &format!("https://{}", relay.address()))?;
        let kubeconfig = folder.join("kubeconfig/outside");
        std::fs::write(&kubeconfig, access.kubeconfig()).during("write a kubeconfig")?;
        let mut node = Self { space, parts: Vec::new(), plane, access, kubeconfig, _relay: relay };

        node.part("etcd", &node.plane.etcd()?)?;
        let mut containerd = Command::new(tools::command("containerd")?);
        containerd.arg("--config").arg(folder.join("containerd.toml"));
        node.part("containerd", &containerd)?;
        node.part("kube-apiserver", &node.plane.apiserver()?)?;

        images.extend([images::pause(), images::coredns()?]);
        let load = async {
            node.until("containerd", async || Seen::from_result(images::ctr(&folder, &["version"]).await))
                .await?;
            for image in images {
                images::load(&folder, image).await?;
            }
            Ok(())
        };
        tokio::try_join!(load, node.api_server_is_ready())?;

        node.part("kube-controller-manager", &node.plane.controller_manager()?)?;
        node.part("kube-scheduler", &node.plane.scheduler()?)?;
        node.part("kubelet", &node.kubelet()?)?;
        let mut kube_proxy = Command::new(tools::command("kube-proxy")?);
        kube_proxy.arg(format!("--config={}", folder.join("kube-proxy.yaml").display()));
        node.part("kube-proxy", &kube_proxy)?;
        node.apply(include_str!("coredns.yaml")).await?;
        node.is_ready().await?;
        Ok(node)
    }

    fn kubelet(&self) -> Result<Command> {
        let folder = self.folder();
        let mut command = Command::new(tools::command("kubelet")?);
        command.args([
            format!("--config={}", folder.join("kubelet.yaml").display()),
            format!("--kubeconfig={}", self.plane.kubeconfig_file("kubelet").display()),
            format!("--root-dir={}", folder.join("kubelet").display()),
            format!("--cert-dir={}", folder.join("kubelet-certs").display()),
            format!("--hostname-override={NAME}"),
            format!("--node-ip={ADDRESS}"),
        ]);
        Ok(command)
    }

    fn part(&mut self, name: &str, command: &Command) -> Result<()> {
        self.parts.push(self.space.start(name, command)?);
        Ok(())
    }

    /// Waits for something of this node; gives up early when one of its processes ends.
    async fn until<T>(&self, what: &str, mut probe: impl AsyncFnMut() -> Seen<T>) -> Result<T> {
        let outcome = until(what, PATIENCE, async || match self.ended() {
            Some(error) => Seen::Never(error.to_string()),
            None => probe().await,
        });
        outcome.await.map_err(|error| {
            let logs: Vec<_> = self.parts.iter().map(|part| part.log_file().display().to_string()).collect();
            Error::other(format_args!("{error}\n  logs:\n  {}", logs.join("\n  ")))
        })
    }

    /// An error about the first process of the node that is gone, if one is.
    fn ended(&self) -> Option<Error> {
        let ended = |part: &Part| Some(part.error(format_args!("it ended ({})", part.ended()?)));
        self.space.ended().or_else(|| self.parts.iter().find_map(ended))
    }

    async fn api_server_is_ready(&self) -> Result<()> {
        let client = self.client()?;
        self.until("kube-apiserver to be ready", async || {
            match http::Request::get("/readyz").body(Vec::new()) {
                Ok(request) => Seen::from_result(client.request_text(request).await.map(drop)),
                Err(error) => Seen::Never(error.to_string()),
            }
        })
        .await
    }

    /// Each of these is needed by the first pod of a test, and comes in its own time.
    async fn is_ready(&self) -> Result<()> {
        let client = self.client()?;
        let nodes = Api::<Object>::all(client.clone());
        self.until("the node to be ready", async || match nodes.get(NAME).await {
            Ok(node) => {
                let conditions = node.status.and_then(|status| status.conditions).unwrap_or_default();
                let ready = conditions.into_iter().find(|condition| condition.type_ == "Ready");
                let yes = ready.as_ref().is_some_and(|condition| condition.status == "True");
                Seen::when(yes, || ready.and_then(|condition| condition.message).unwrap_or_default())
            }
            Err(error) => Seen::NotYet(error.to_string()),
        })
        .await?;
        let accounts = Api::<ServiceAccount>::namespaced(client.clone(), "default");
        self.until("the default service account", async || Seen::from_result(accounts.get("default").await))
            .await?;
        let deployments = Api::<Deployment>::namespaced(client, "kube-system");
        self.until("CoreDNS to be ready", async || match deployments.get("coredns").await {
            Ok(object) => {
                let status = object.status.unwrap_or_default();
                Seen::when(status.available_replicas.unwrap_or(0) > 0, || format!("{status:?}"))
            }
            Err(error) => Seen::NotYet(error.to_string()),
        })
        .await?;
        // kube-proxy follows a moment later.
        let dns = SocketAddr::from((DNS, 53));
        self.until("CoreDNS's service to answer", async || Seen::from_result(self.netns().connect(dns).await))
            .await
            .map(drop)
    }

    /// Its network: dial pods and services from here, and listen here for what the API server shall call.
    pub fn netns(&self) -> &NetNs {
        self.space.network()
    }

    /// The administrator's way in, from outside the node.
    pub fn access(&self) -> &Access {
        &self.access
    }

    /// A client with all rights, bound to the runtime of the caller.
    pub fn client(&self) -> Result<Client> {
        self.access.client()
    }

    /// The administrator's kubeconfig for processes outside the node.
    pub fn kubeconfig_file(&self) -> &Path {
        &self.kubeconfig
    }

    /// Where kube-apiserver is reached from inside: by pods and by what runs in [`Node::netns`].
    pub fn inside(&self) -> SocketAddrV4 {
        self.plane.endpoint()
    }

    /// Certificates, kubeconfigs and commands; its authority signs for webhooks too.
    pub fn control_plane(&self) -> &ControlPlane {
        &self.plane
    }

    /// One of its processes: `kubelet`, `kube-proxy`, …
    pub fn process(&self, name: &str) -> Option<&Part> {
        self.parts.iter().find(|part| part.name() == name)
    }

    fn folder(&self) -> &Path {
        &self.plane.settings().folder
    }
}
