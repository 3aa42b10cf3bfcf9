//! Where the pods of a cluster are that runs none: kube-apiserver dials the address of a fake pod, which a webhook's Service has led
//! it to, and a process of this machine answers.
//!
//! In: a port of pods, and the process in their place. Out: the file that makes kube-apiserver send all that goes to pods through a socket
//! of this process (its egress `cluster`, by HTTP CONNECT), and every address that it has dialled. No address is given to any link, so it
//! takes no rights, and many clusters can have pods of the same addresses.

use std::{
    collections::BTreeMap,
    fs,
    net::SocketAddr,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};

use serde_json::json;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpStream, UnixListener, UnixStream},
    task::{AbortHandle, JoinSet},
};

use crate::{
    error::{During, Result},
    run::run,
};

/// The longest head of a request that is read.
const HEAD: usize = 4096;

pub struct Pods {
    file: PathBuf,
    state: Arc<State>,
    task: AbortHandle,
}

#[derive(Default)]
struct State {
    /// By port of the pods.
    processes: Mutex<BTreeMap<u16, SocketAddr>>,
    dialled: Mutex<Vec<SocketAddr>>,
}

impl Pods {
    pub fn start() -> Result<Self> {
        let folder = run().part_folder("pods").during("make the folder of the pods' socket")?;
        let socket = folder.join("pods.sock");
        let way = json!({ "proxyProtocol": "HTTPConnect", "transport": { "uds": { "udsName": socket } } });
        let selector = json!({
            "apiVersion": "apiserver.k8s.io/v1beta1", "kind": "EgressSelectorConfiguration",
            "egressSelections": [{ "name": "cluster", "connection": way }],
        });
        let file = folder.join("egress.json");
        fs::write(&file, selector.to_string()).during("write the way to the pods")?;
        let _context = run().runtime().enter();
        let listener = UnixListener::bind(&socket).during("open the pods' socket")?;
        let state = Arc::<State>::default();
        let task = run().runtime().spawn(serve(listener, Arc::clone(&state))).abort_handle();
        Ok(Self { file, state, task })
    }

    /// From now on a process answers at this port of every pod.
    pub fn answer(&self, port: u16, process: SocketAddr) {
        lock(&self.state.processes).insert(port, process);
    }

    /// From now on nobody does.
    pub fn silence(&self, port: u16) {
        lock(&self.state.processes).remove(&port);
    }

    /// Every address that kube-apiserver has dialled, in order.
    pub fn dialled(&self) -> Vec<SocketAddr> {
        lock(&self.state.dialled).clone()
    }

    /// For `--egress-selector-config-file`.
    pub(super) fn file(&self) -> &Path {
        &self.file
    }
}

impl Drop for Pods {
    fn drop(&mut self) {
        self.task.abort();
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

async fn serve(listener: UnixListener, state: Arc<State>) {
    // Connections end with the socket: the set aborts them when it is dropped.
    let mut connections = JoinSet::new();
    while let Ok((stream, _)) = listener.accept().await {
        let state = Arc::clone(&state);
        // Whoever hangs up has had enough.
        connections.spawn(async move { drop(carry(stream, &state).await) });
        while connections.try_join_next().is_some() {}
    }
}

async fn carry(mut near: UnixStream, state: &State) -> std::io::Result<()> {
    let Some(pod) = asked(&mut near).await? else { return Ok(()) };
    lock(&state.dialled).push(pod);
    let process = lock(&state.processes).get(&pod.port()).copied();
    let far = match process {
        Some(process) => TcpStream::connect(process).await.ok(),
        None => None,
    };
    let Some(mut far) = far else {
        return near.write_all(b"HTTP/1.1 502 Nobody is there\r\n\r\n").await;
    };
    near.write_all(b"HTTP/1.1 200 Connected\r\n\r\n").await?;
    tokio::io::copy_bidirectional(&mut near, &mut far).await.map(drop)
}

/// The address of `CONNECT address HTTP/1.1`. The caller says nothing further before it has its answer.
async fn asked(stream: &mut UnixStream) -> std::io::Result<Option<SocketAddr>> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        if head.len() > HEAD || stream.read_buf(&mut head).await? == 0 {
            return Ok(None);
        }
    }
    let head = String::from_utf8_lossy(&head);
    let mut words = head.split_whitespace();
    let connects = words.next() == Some("CONNECT");
    Ok(words.next().filter(|_| connects).and_then(|address| address.parse().ok()))
}
