//! Ports and networks that a mesh has taken, before anybody listens there.
//!
//! Between finding a port free and an Envoy opening it some time passes, and two Envoys may even open the same one without a word
//! (they share it). So each mesh says what it has taken by a socket with a name and no file, which the kernel takes away with the process.

use std::{
    io,
    net::Ipv4Addr,
    os::{
        linux::net::SocketAddrExt,
        unix::net::{SocketAddr, UnixDatagram},
    },
};

/// As long as it lives, nobody else has it.
#[derive(Debug)]
pub(crate) struct Claim(#[expect(dead_code, reason = "it is held, not read")] UnixDatagram);

impl Claim {
    /// A port of this machine, on whatever address.
    pub(crate) fn port(port: u16) -> io::Result<Self> {
        Self::named(&format!("port-{port}"))
    }

    /// The network of loopback addresses that begins with this one.
    pub(crate) fn network(first: Ipv4Addr) -> io::Result<Self> {
        Self::named(&format!("network-{first}"))
    }

    fn named(what: &str) -> io::Result<Self> {
        let address = SocketAddr::from_abstract_name(format!("mizzen-up-{what}"))?;
        UnixDatagram::bind_addr(&address).map(Self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_claimed_is_claimed_once_and_given_back() {
        let first = Claim::port(7).unwrap();
        assert!(Claim::port(7).is_err() && Claim::port(8).is_ok());
        drop(first);
        assert!(Claim::port(7).is_ok());
    }
}
