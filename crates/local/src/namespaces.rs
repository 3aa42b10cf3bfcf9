//! `--capture netns`: a network of its own for each workload, as a pod has one, with the kernel's redirection into its sidecar. Needs root.
//!
//! Namespaces have no names: they live as long as this process holds them or a process is in them, so nothing of them is left behind. All are
//! joined by a bridge in one more, the switch, where the control plane and the gateway are; nothing leads outside but what is relayed.

use nix::sched::{CloneFlags, setns, unshare};
use std::{
    fs::File,
    io::{self, Write},
    net::{Ipv4Addr, SocketAddr},
    os::fd::AsRawFd,
    path::PathBuf,
    process::{Command, Stdio},
    sync::Arc,
    thread,
    time::Duration,
};
use tokio::{
    net::{TcpListener, TcpStream},
    sync::oneshot,
    task::JoinSet,
};

/// The group of sidecars, whose calls are left alone: Istio's.
pub(crate) const PROXY_GROUP: u32 = 1337;
/// The switch; workloads follow.
pub(crate) const SWITCH: Ipv4Addr = Ipv4Addr::new(10, 77, 0, 1);
/// A bridge without an address of its own takes that of a port, and changes it when one comes.
const HARDWARE: &str = "02:4d:5a:00:00:01";
const CONNECT: Duration = Duration::from_secs(2);

/// A network namespace. Cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct Namespace(Arc<File>);

/// All of a mesh: the switch and one for each workload, in their order.
#[derive(Clone, Debug)]
pub(crate) struct Namespaces {
    pub(crate) switch: Namespace,
    pub(crate) workloads: Vec<Namespace>,
}

#[derive(Debug, thiserror::Error)]
pub enum NoNamespaces {
    #[error("network namespaces need root")]
    Root,
    #[error("`{program}` is needed for network namespaces, and is not here")]
    Program { program: &'static str },
    #[error("a network namespace cannot be set up: {0}")]
    Failed(#[from] io::Error),
}

impl Namespaces {
    pub(crate) fn new(workloads: &[Ipv4Addr]) -> Result<Self, NoNamespaces> {
        if !nix::unistd::geteuid().is_root() {
            return Err(NoNamespaces::Root);
        }
        for program in ["ip", "iptables-restore"] {
            let found = Command::new(program).arg("-V").stdout(Stdio::null()).stderr(Stdio::null()).status();
            if found.is_err_and(|error| error.kind() == io::ErrorKind::NotFound) {
                return Err(NoNamespaces::Program { program });
            }
        }
        let switch = Namespace::new()?;
        switch.ip(&format!("link add switch address {HARDWARE} type bridge"))?;
        switch.ip(&format!("addr add {SWITCH}/24 dev switch"))?;
        switch.ip("link set switch up")?;
        let mut made = Vec::new();
        for (number, address) in workloads.iter().enumerate() {
            let namespace = Namespace::new()?;
            let inside = namespace.path();
            switch.ip(&format!("link add w{number} type veth peer name eth0 netns {}", inside.display()))?;
            switch.ip(&format!("link set w{number} master switch up"))?;
            namespace.ip(&format!("addr add {address}/24 dev eth0"))?;
            namespace.ip("link set eth0 up")?;
            // Services have addresses that exist nowhere: redirection sees only what has a route.
            namespace.ip(&format!("route add default via {SWITCH}"))?;
            namespace.feed("iptables-restore", REDIRECT)?;
            made.push(namespace);
        }
        Ok(Self { switch, workloads: made })
    }
}

/// Everything in and out goes through the sidecar, but for what the sidecar itself sends; by Istio's rules.
const REDIRECT: &str = "\
*nat
:MESH_INBOUND - [0:0]
:MESH_OUTPUT - [0:0]
-A PREROUTING -p tcp -j MESH_INBOUND
-A OUTPUT -p tcp -j MESH_OUTPUT
-A MESH_INBOUND -p tcp -m multiport --dports 15008,15020,15021,15090 -j RETURN
-A MESH_INBOUND -p tcp -j REDIRECT --to-ports 15006
-A MESH_OUTPUT -s 127.0.0.6/32 -o lo -j RETURN
-A MESH_OUTPUT ! -d 127.0.0.1/32 -o lo -p tcp -m tcp ! --dport 15008 -m owner --gid-owner 1337 -j REDIRECT --to-ports 15006
-A MESH_OUTPUT -o lo -m owner ! --gid-owner 1337 -j RETURN
-A MESH_OUTPUT -m owner --gid-owner 1337 -j RETURN
-A MESH_OUTPUT -d 127.0.0.1/32 -j RETURN
-A MESH_OUTPUT -p tcp -j REDIRECT --to-ports 15001
COMMIT
";

impl Namespace {
    fn new() -> io::Result<Self> {
        // A thread can leave its namespace, a process with several threads cannot.
        let file = aside(|| {
            unshare(CloneFlags::CLONE_NEWNET)?;
            File::open("/proc/thread-self/ns/net")
        })?;
        let namespace = Self(Arc::new(file));
        namespace.ip("link set lo up")?;
        Ok(namespace)
    }

    /// Where other processes find it, as long as this one lives.
    pub(crate) fn path(&self) -> PathBuf {
        format!("/proc/{}/fd/{}", std::process::id(), self.0.as_raw_fd()).into()
    }

    fn inside<T: Send>(&self, work: impl FnOnce() -> io::Result<T> + Send) -> io::Result<T> {
        aside(|| {
            setns(&*self.0, CloneFlags::CLONE_NEWNET)?;
            work()
        })
    }

    fn ip(&self, words: &str) -> io::Result<()> {
        self.inside(|| done(Command::new("ip").args(words.split_whitespace()).stdin(Stdio::null()), ""))
    }

    fn feed(&self, program: &str, text: &str) -> io::Result<()> {
        self.inside(|| done(Command::new(program).stdin(Stdio::piped()), text))
    }

    pub(crate) async fn connect(&self, address: SocketAddr) -> io::Result<TcpStream> {
        let (send, receive) = oneshot::channel();
        let namespace = self.clone();
        thread::Builder::new().name("connect".to_owned()).spawn(move || {
            let connected = setns(&*namespace.0, CloneFlags::CLONE_NEWNET)
                .map_err(io::Error::from)
                .and_then(|()| std::net::TcpStream::connect_timeout(&address, CONNECT));
            // Whoever asked may be gone.
            let _ = send.send(connected);
        })?;
        let stream = receive.await.map_err(io::Error::other)??;
        stream.set_nonblocking(true)?;
        TcpStream::from_std(stream)
    }
}

/// In a thread of its own, which ends with it.
fn aside<T: Send>(work: impl FnOnce() -> io::Result<T> + Send) -> io::Result<T> {
    thread::scope(|scope| {
        let thread = thread::Builder::new().spawn_scoped(scope, work)?;
        thread.join().unwrap_or_else(|_| Err(io::Error::other("the thread has failed")))
    })
}

fn done(command: &mut Command, text: &str) -> io::Result<()> {
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn()?;
    if let Some(mut input) = child.stdin.take() {
        input.write_all(text.as_bytes())?;
    }
    let output = child.wait_with_output()?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    Err(io::Error::other(format!("{command:?}: {said}")))
}

/// Lets callers on this machine in, for ever.
pub(crate) async fn relay(outside: TcpListener, namespace: Namespace, inside: SocketAddr) {
    let mut callers = JoinSet::new();
    loop {
        let accepted = tokio::select! {
            accepted = outside.accept() => accepted,
            Some(_) = callers.join_next(), if !callers.is_empty() => continue,
        };
        let Ok((mut caller, _)) = accepted else {
            tokio::time::sleep(Duration::from_millis(20)).await;
            continue;
        };
        let namespace = namespace.clone();
        callers.spawn(async move {
            if let Ok(mut stream) = namespace.connect(inside).await {
                let _ = tokio::io::copy_bidirectional(&mut caller, &mut stream).await;
            }
        });
    }
}
