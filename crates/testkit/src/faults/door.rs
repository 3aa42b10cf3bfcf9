//! The proxy's port: open, or shut so that connections are refused. While it is shut the port stays bound, so
//! that nobody else gets it.

use std::{
    net::{Ipv4Addr, SocketAddrV4},
    sync::{Arc, atomic::Ordering},
};

use hyper::service::service_fn;
use hyper_util::{
    rt::{TokioExecutor, TokioIo},
    server::conn::auto,
};
use tokio::{
    net::{TcpListener, TcpSocket, TcpStream},
    task::JoinHandle,
};
use tokio_rustls::TlsAcceptor;

use super::relay::Relay;
use crate::{
    error::{During, Result},
    run::run,
};

pub(super) struct Door {
    address: SocketAddrV4,
    acceptor: TlsAcceptor,
    relay: Arc<Relay>,
    state: State,
}

enum State {
    Open(JoinHandle<()>),
    Shut(TcpSocket),
    /// Only while it changes from one to the other, or when that failed.
    Between,
}

impl Door {
    pub(super) fn open(acceptor: TlsAcceptor, relay: Arc<Relay>) -> Result<Self> {
        let socket = hold(SocketAddrV4::new(Ipv4Addr::LOCALHOST, 0))?;
        let port = socket.local_addr().during("bind the fault proxy's port")?.port();
        let address = SocketAddrV4::new(Ipv4Addr::LOCALHOST, port);
        let mut door = Self { address, acceptor, relay, state: State::Shut(socket) };
        door.reopen()?;
        Ok(door)
    }

    pub(super) fn address(&self) -> SocketAddrV4 {
        self.address
    }

    /// Refuses connections and closes those that are open.
    pub(super) async fn shut(&mut self) -> Result<()> {
        let State::Open(task) = &mut self.state else { return Ok(()) };
        self.relay.stopped.store(true, Ordering::SeqCst);
        task.abort();
        // The listener is gone when the task is.
        let _ = task.await;
        self.state = State::Between;
        self.relay.connections.send_modify(|generation| *generation += 1);
        self.state = State::Shut(hold(self.address)?);
        Ok(())
    }

    pub(super) fn reopen(&mut self) -> Result<()> {
        let socket = match std::mem::replace(&mut self.state, State::Between) {
            State::Shut(socket) => socket,
            State::Between => hold(self.address)?,
            open @ State::Open(_) => {
                self.state = open;
                return Ok(());
            }
        };
        let _runtime = run().runtime().enter();
        let listener = socket.listen(1024).during("listen on the fault proxy's port")?;
        self.relay.stopped.store(false, Ordering::SeqCst);
        let task = accept(listener, self.acceptor.clone(), Arc::clone(&self.relay));
        self.state = State::Open(run().runtime().spawn(task));
        Ok(())
    }
}

impl Drop for Door {
    fn drop(&mut self) {
        self.relay.stopped.store(true, Ordering::SeqCst);
        self.relay.connections.send_modify(|generation| *generation += 1);
        if let State::Open(task) = &self.state {
            task.abort();
        }
    }
}

fn hold(address: SocketAddrV4) -> Result<TcpSocket> {
    let what = "bind the fault proxy's port";
    let socket = TcpSocket::new_v4().during(what)?;
    // Connections of before may linger on the port.
    socket.set_reuseaddr(true).during(what)?;
    socket.bind(address.into()).during(what)?;
    Ok(socket)
}

async fn accept(listener: TcpListener, acceptor: TlsAcceptor, relay: Arc<Relay>) {
    loop {
        match listener.accept().await {
            Ok((stream, _)) => {
                tokio::spawn(serve(stream, acceptor.clone(), Arc::clone(&relay)));
            }
            Err(error) => {
                tracing::warn!(%error, "the fault proxy cannot accept");
                tokio::time::sleep(std::time::Duration::from_millis(100)).await;
            }
        }
    }
}

/// One connection of a client, until it ends or all are closed.
async fn serve(stream: TcpStream, acceptor: TlsAcceptor, relay: Arc<Relay>) {
    let mut closed = relay.connections.subscribe();
    let served = async {
        stream.set_nodelay(true)?;
        let stream = acceptor.accept(stream).await?;
        let service = service_fn(|request| Arc::clone(&relay).handle(request));
        auto::Builder::new(TokioExecutor::new())
            .serve_connection_with_upgrades(TokioIo::new(stream), service)
            .await
    };
    tokio::select! {
        outcome = served => if let Err(error) = outcome {
            tracing::debug!(%error, "a connection of the fault proxy ended");
        },
        _ = closed.changed() => {}
    }
}
