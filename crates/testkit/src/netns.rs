//! A private network namespace without a name, a mount or a process to hold it.
//!
//! In: nothing, or the id of a process whose network is meant. Out: a place to run closures and commands in, sockets
//! of that place for the test's own runtime, and relays between it and this machine's loopback. The namespace is
//! held by one open file of this process, so the kernel takes it away when the last user is gone, however it went.
//! Threads enter it one by one: a socket belongs for good to the namespace in which it was made, whoever uses it.

use std::{
    fs::File,
    io,
    net::{SocketAddr, TcpListener},
    os::fd::AsRawFd,
    path::PathBuf,
    process::Command,
    sync::Arc,
    thread,
};

use nix::sched::{CloneFlags, setns, unshare};
use tokio::{
    net::{TcpSocket, TcpStream},
    task::{AbortHandle, JoinSet},
};

use crate::{
    error::{During, Error, Result},
    needs,
    part::Part,
    run::{MARK, run},
    tools,
};

#[derive(Clone)]
pub struct NetNs {
    handle: Arc<File>,
}

impl NetNs {
    pub const NEEDS: &[&str] = &[needs::ROOT, "ip"];

    /// A new, empty network, in which only the loopback is up.
    pub fn new() -> Result<Self> {
        let made = in_a_thread(|| {
            unshare(CloneFlags::CLONE_NEWNET)?;
            File::open(OWN)
        });
        let namespace = Self { handle: Arc::new(made.during("make a network namespace (needs root)")?) };
        namespace.ip("link set lo up")?;
        Ok(namespace)
    }

    /// The network in which a process lives.
    pub fn of_pid(pid: u32) -> Result<Self> {
        let file =
            File::open(format!("/proc/{pid}/ns/net")).during(format_args!("network of process {pid}"))?;
        Ok(Self { handle: Arc::new(file) })
    }

    /// Runs a closure inside, on a thread of its own, and waits for it. Entering costs less than a millisecond;
    /// keep what blocks longer out of asynchronous code.
    ///
    /// # Panics
    /// Where the closure does, with its message.
    pub fn run<T: Send>(&self, inside: impl FnOnce() -> T + Send) -> Result<T> {
        in_a_thread(|| {
            setns(&*self.handle, CloneFlags::CLONE_NEWNET)?;
            Ok(inside())
        })
        .during("enter a network namespace")
    }

    /// Starts a process inside.
    pub fn start(&self, name: &str, command: Command) -> Result<Part> {
        self.run(|| Part::start(name, command))?
    }

    /// Runs a short command inside to its end; gives its output.
    pub fn exec(&self, command: &mut Command) -> Result<String> {
        command.env(MARK, run().folder());
        let words = format!("{command:?}");
        let output = self.run(|| command.output())?.during(format_args!("start {words}"))?;
        if output.status.success() {
            return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
        }
        let said = String::from_utf8_lossy(&output.stderr);
        Err(Error::Other(format!("{words} ({}): {}", output.status, said.trim())))
    }

    /// `ip` with these words, inside: `ns.ip("addr add 10.0.0.1/24 dev eth0")`.
    pub fn ip(&self, words: &str) -> Result<String> {
        self.exec(Command::new(tools::command("ip")?).args(words.split_whitespace()))
    }

    /// A path by which other programs, such as `ip link set … netns`, find this namespace while we live.
    pub fn path(&self) -> PathBuf {
        format!("/proc/{}/fd/{}", std::process::id(), self.handle.as_raw_fd()).into()
    }

    /// Connects from inside; the stream is used by the caller's runtime.
    pub async fn connect(&self, address: SocketAddr) -> Result<TcpStream> {
        let socket = self.socket(address)?;
        socket.connect(address).await.during(format_args!("connect to {address} inside a namespace"))
    }

    /// Listens inside, for the caller's runtime.
    pub fn listen(&self, address: SocketAddr) -> Result<tokio::net::TcpListener> {
        let listen = || {
            let socket = self.socket(address)?;
            socket.set_reuseaddr(true).during("reuse an address")?;
            socket.bind(address).and_then(|()| socket.listen(1024)).during("take the port")
        };
        listen().map_err(|error| Error::Other(format!("listen on {address} inside a namespace: {error}")))
    }

    /// A port of this machine's loopback behind which an address inside answers.
    pub fn relay_out(&self, inside: SocketAddr) -> Result<Relay> {
        let loopback = SocketAddr::from(([127, 0, 0, 1], 0));
        let listener = TcpListener::bind(loopback).during("open a relay")?;
        listener.set_nonblocking(true).during("open a relay")?;
        let _context = run().runtime().enter();
        let listener = tokio::net::TcpListener::from_std(listener).during("open a relay")?;
        let namespace = self.clone();
        Relay::start(listener, move || {
            let namespace = namespace.clone();
            async move { namespace.connect(inside).await }
        })
    }

    /// An address inside behind which one of this machine answers. Port 0 takes a free one.
    pub fn relay_in(&self, inside: SocketAddr, outside: SocketAddr) -> Result<Relay> {
        let _context = run().runtime().enter();
        Relay::start(self.listen(inside)?, move || async move {
            TcpStream::connect(outside).await.during(format_args!("connect to {outside}"))
        })
    }

    fn socket(&self, address: SocketAddr) -> Result<TcpSocket> {
        let new = if address.is_ipv4() { TcpSocket::new_v4 } else { TcpSocket::new_v6 };
        self.run(new)?.during("make a socket inside a namespace")
    }
}

/// The calling thread's network; `/proc/self` would be the one of the whole process.
const OWN: &str = "/proc/thread-self/ns/net";

/// A thread that changed its namespace must not be used for anything else afterwards: each has one job.
fn in_a_thread<T: Send>(job: impl FnOnce() -> io::Result<T> + Send) -> io::Result<T> {
    thread::scope(|scope| {
        let thread = thread::Builder::new().name("netns".to_owned()).spawn_scoped(scope, job)?;
        thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

/// Carries connections from where it listens to the other side, until dropped.
pub struct Relay {
    address: SocketAddr,
    task: AbortHandle,
}

impl Relay {
    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    fn start<D>(listener: tokio::net::TcpListener, dial: impl Fn() -> D + Send + 'static) -> Result<Self>
    where
        D: Future<Output = Result<TcpStream>> + Send + 'static,
    {
        let address = listener.local_addr().during("open a relay")?;
        let serve = async move {
            // Connections end with the relay: the set aborts them when it is dropped.
            let mut connections = JoinSet::new();
            loop {
                let Ok((mut near, _)) = listener.accept().await else { break };
                let far = dial();
                connections.spawn(async move {
                    // A far side that refuses shows as a connection that closes, as it would without a relay.
                    if let Ok(mut far) = far.await {
                        let _ = tokio::io::copy_bidirectional(&mut near, &mut far).await;
                    }
                });
                while connections.try_join_next().is_some() {}
            }
        };
        Ok(Self { address, task: run().runtime().spawn(serve).abort_handle() })
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        self.task.abort();
    }
}
