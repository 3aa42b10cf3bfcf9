//! Free ports of this machine.

use std::net::{Ipv4Addr, TcpListener};

use crate::error::{During, Result};

/// Distinct free loopback ports. They are free when this returns; whoever takes one in between makes the part
/// that wanted it fail at its start, with its log, and not silently talk to a stranger.
pub fn free<const N: usize>() -> Result<[u16; N]> {
    // All are held until all are known, so that no two are the same.
    let mut held = Vec::with_capacity(N);
    let mut ports = [0; N];
    for port in &mut ports {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).during("look for a free port")?;
        *port = listener.local_addr().during("look for a free port")?.port();
        held.push(listener);
    }
    Ok(ports)
}
