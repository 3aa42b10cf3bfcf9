//! Loopback addresses: Linux answers to all of 127.0.0.0/8 without being told, so each workload can have some of its own.
//!
//! A mesh has two neighbouring networks of 254 addresses: one where workloads are reached, one where they reach others. Which ones
//! follows from the mesh's folder, so that they stay the same from run to run.

use crate::claim::Claim;
use sha2::{Digest, Sha256};
use std::{
    io,
    net::{Ipv4Addr, SocketAddr, TcpListener},
    path::Path,
};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Addresses {
    second: u8,
    third: u8,
}

/// Networks that are tried before we give up.
const ATTEMPTS: u8 = 8;

/// Somebody else has a port on every address.
#[derive(Debug, thiserror::Error)]
#[error("{address} cannot be opened for {of}: {source}")]
pub(crate) struct NoRoom {
    pub(crate) address: SocketAddr,
    pub(crate) of: String,
    pub(crate) source: io::Error,
}

impl Addresses {
    /// The first of several networks, chosen by the folder, that no other mesh has and on which everything that is needed is free.
    pub(crate) fn find(
        folder: &Path,
        needed: impl Fn(&Self) -> Vec<(SocketAddr, String)>,
    ) -> Result<(Self, Claim), NoRoom> {
        let digest = Sha256::digest(folder.as_os_str().as_encoded_bytes());
        let mut attempt = 0;
        loop {
            // 127.0 and 127.1 are where people put things by hand.
            let second = 64 + (digest[0].wrapping_add(attempt) % 128);
            let addresses = Self { second, third: (digest[1] / 4) * 4 };
            let control_plane = addresses.control_plane();
            let free = Claim::network(control_plane)
                .map_err(|source| NoRoom {
                    address: (control_plane, 0).into(),
                    of: "this mesh".to_owned(),
                    source,
                })
                .and_then(|claim| {
                    let taken = needed(&addresses).into_iter().find_map(|(address, of)| {
                        is_free(address).err().map(|source| NoRoom { address, of, source })
                    });
                    taken.map_or(Ok(claim), Err)
                });
            attempt += 1;
            match free {
                Ok(claim) => return Ok((addresses, claim)),
                Err(taken) if attempt == ATTEMPTS => return Err(taken),
                Err(_) => {}
            }
        }
    }

    pub(crate) fn control_plane(&self) -> Ipv4Addr {
        self.at(0, 1)
    }

    /// Where a workload is reached.
    pub(crate) fn workload(&self, number: usize) -> Ipv4Addr {
        self.at(0, host(number))
    }

    /// Where it reaches others.
    pub(crate) fn local(&self, number: usize) -> Ipv4Addr {
        self.at(1, host(number))
    }

    fn at(&self, network: u8, host: u8) -> Ipv4Addr {
        Ipv4Addr::new(127, self.second, self.third + network, host)
    }
}

/// Configurations with more are refused before anybody asks.
fn host(number: usize) -> u8 {
    u8::try_from(number + 2).unwrap_or(u8::MAX - 1)
}

pub(crate) fn is_free(address: SocketAddr) -> io::Result<()> {
    TcpListener::bind(address).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_has_the_same_addresses_each_time_and_another_one_others() {
        let find = |folder: &str| Addresses::find(Path::new(folder), |_| Vec::new()).unwrap().0;
        assert_eq!(find("/a"), find("/a"));
        assert_ne!(find("/a"), find("/b"));
        let addresses = find("/a");
        assert_ne!(addresses.workload(0), addresses.local(0));
        assert_ne!(addresses.workload(0), addresses.control_plane());
    }

    #[test]
    fn a_network_that_somebody_uses_is_passed_by() {
        let (first, claim) = Addresses::find(Path::new("/c"), |_| Vec::new()).unwrap();
        let port = TcpListener::bind((first.control_plane(), 0)).unwrap();
        let port = (port.local_addr().unwrap().port(), port);
        let needed =
            |addresses: &Addresses| vec![((addresses.control_plane(), port.0).into(), "a test".to_owned())];
        let (second, _) = Addresses::find(Path::new("/c"), |_| Vec::new()).unwrap();
        assert_ne!(first, second, "another mesh has it");
        drop(claim);
        let (second, _) = Addresses::find(Path::new("/c"), needed).unwrap();
        assert_ne!(first, second);
    }

    #[test]
    fn a_port_that_is_taken_everywhere_is_named() {
        let everywhere = TcpListener::bind((Ipv4Addr::UNSPECIFIED, 0)).unwrap();
        let port = everywhere.local_addr().unwrap().port();
        let needed =
            |addresses: &Addresses| vec![((addresses.workload(0), port).into(), "port 1 of web".to_owned())];
        let refused = Addresses::find(Path::new("/d"), needed).unwrap_err();
        assert!(refused.to_string().contains("port 1 of web") && refused.address.port() == port, "{refused}");
    }
}
