//! An application for meshes: a server that answers with what it saw, and the client to call it.
//!
//! In: requests over HTTP/1.1, HTTP/2, gRPC and bare TCP, with and without TLS. Out: an [`Answer`] as JSON, which
//! tells what arrived after all the proxies in between. Both sides live in the test's process, also when their
//! sockets belong to another network namespace, so a test reads what happened without asking anybody.

mod answer;
mod client;
mod handler;
mod server;
#[cfg(test)]
mod tests;

use std::{net::SocketAddr, sync::Arc};

pub use answer::{Answer, SeenTls};
pub use client::{Call, Client, Protocol};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

use crate::{
    error::{During, Result},
    netns::NetNs,
    pki::{Authority, Leaf, Pair},
    run::run,
    tls,
};

/// The four ports of a server; 0 takes a free one.
#[derive(Clone, Copy, Debug, Default)]
pub struct Ports {
    /// HTTP/1.1, HTTP/2 with prior knowledge, gRPC.
    pub http: u16,
    /// The same in TLS.
    pub https: u16,
    /// One answer for each line that arrives.
    pub tcp: u16,
    /// The same in TLS.
    pub tls: u16,
}

/// What a server is started with.
#[derive(Clone, Default)]
pub struct Options {
    /// What its answers carry as version: `v1` of a service beside its `v2`.
    pub version: String,
    pub ports: Ports,
    /// Where it listens, on every address; by default on the loopback of this machine.
    pub netns: Option<NetNs>,
    /// Its certificate and, as PEM, whom it trusts with client certificates. By default both come from an authority of
    /// its own, which [`Echo::authority`] gives.
    pub certificate: Option<(Pair, String)>,
}

pub struct Echo {
    addresses: [SocketAddr; 4],
    authority: Option<Authority>,
    servers: Vec<tokio::task::AbortHandle>,
}

impl Echo {
    pub fn start() -> Result<Self> {
        Self::start_with(Options::default())
    }

    pub fn start_in(netns: &NetNs) -> Result<Self> {
        Self::start_with(Options { netns: Some(netns.clone()), ..Options::default() })
    }

    pub fn start_with(options: Options) -> Result<Self> {
        let (authority, (pair, roots)) = match options.certificate {
            Some(certificate) => (None, certificate),
            None => {
                let authority = Authority::new("echo")?;
                let names = &["echo", "localhost"];
                let pair = authority.leaf(&Leaf { common_name: "echo", dns: names, ..Leaf::default() })?;
                let roots = authority.certificate();
                (Some(authority), (pair, roots))
            }
        };
        let https = TlsAcceptor::from(Arc::new(tls::server(&pair, Some(&roots), &[b"h2", b"http/1.1"])?));
        let tls = TlsAcceptor::from(Arc::new(tls::server(&pair, Some(&roots), &[])?));
        let Ports { http: http_port, https: https_port, tcp: tcp_port, tls: tls_port } = options.ports;
        let plan = [
            (http_port, server::Speaks::Http, None),
            (https_port, server::Speaks::Http, Some(https)),
            (tcp_port, server::Speaks::Lines, None),
            (tls_port, server::Speaks::Lines, Some(tls)),
        ];
        let mut echo = Self { addresses: [SocketAddr::from(([0; 4], 0)); 4], authority, servers: Vec::new() };
        let _context = run().runtime().enter();
        for (address, (port, speaks, tls)) in echo.addresses.iter_mut().zip(plan) {
            let listener = listen(options.netns.as_ref(), port)?;
            *address = listener.local_addr().during("look at a port of echo")?;
            let server = server::Server { version: options.version.clone(), speaks, tls };
            echo.servers.push(run().runtime().spawn(server.run(listener)).abort_handle());
        }
        Ok(echo)
    }

    pub fn http(&self) -> SocketAddr {
        self.addresses[0]
    }

    pub fn https(&self) -> SocketAddr {
        self.addresses[1]
    }

    pub fn tcp(&self) -> SocketAddr {
        self.addresses[2]
    }

    pub fn tls(&self) -> SocketAddr {
        self.addresses[3]
    }

    /// Who signed its certificate and whose clients it trusts; `None` when it was given a certificate.
    pub fn authority(&self) -> Option<&Authority> {
        self.authority.as_ref()
    }
}

impl Drop for Echo {
    fn drop(&mut self) {
        for server in &self.servers {
            server.abort();
        }
    }
}

fn listen(netns: Option<&NetNs>, port: u16) -> Result<TcpListener> {
    if let Some(netns) = netns {
        return netns.listen(SocketAddr::from(([0, 0, 0, 0], port)));
    }
    let listener = std::net::TcpListener::bind(("127.0.0.1", port)).during("listen for echo")?;
    listener.set_nonblocking(true).during("listen for echo")?;
    TcpListener::from_std(listener).during("listen for echo")
}
