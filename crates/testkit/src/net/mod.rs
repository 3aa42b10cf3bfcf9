//! A private network with workloads and no node.
//!
//! In: names of workloads. Out: for each a network namespace with an address of its own, joined to all others by a
//! bridge in one more namespace, the switch. Nothing leads outside; what runs on the test's machine is let in by
//! [`Net::relay`]. A workload is what a pod is for a mesh: an address, redirect rules, a proxy under its own user.
//! Two sidecars must never share a network: both would bind the same ports and answer for each other.

mod workload;

use std::{
    net::{Ipv4Addr, SocketAddr},
    sync::{Arc, Mutex, PoisonError},
};

pub use workload::Workload;

use crate::{
    error::{Error, Result},
    netns::{NetNs, Relay},
};

#[derive(Clone)]
pub struct Net {
    switch: Arc<Switch>,
}

struct Switch {
    netns: NetNs,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    workloads: u8,
    relays: Vec<Relay>,
}

/// A bridge without an address of its own takes the lowest of its ports, another one when a workload comes; what those who
/// were there before send to the old one is dropped until they ask again, half a minute later.
const HARDWARE: &str = "02:4d:5a:00:00:01";
/// The switch itself; workloads follow.
const FIRST: u8 = 1;
const PREFIX: u8 = 24;

fn address(number: u8) -> Ipv4Addr {
    Ipv4Addr::new(10, 77, 0, number)
}

impl Net {
    pub const NEEDS: &[&str] = NetNs::NEEDS;

    pub fn start() -> Result<Self> {
        let netns = NetNs::new()?;
        netns.ip(&format!("link add switch address {HARDWARE} type bridge"))?;
        netns.ip(&format!("addr add {}/{PREFIX} dev switch", address(FIRST)))?;
        netns.ip("link set switch up")?;
        Ok(Self { switch: Arc::new(Switch { netns, state: Mutex::default() }) })
    }

    /// A new workload; the name is for logs and errors.
    pub fn workload(&self, name: &str) -> Result<Workload> {
        let number = {
            let mut state = self.switch.state.lock().unwrap_or_else(PoisonError::into_inner);
            let number = FIRST + 1 + state.workloads;
            if number == u8::MAX {
                return Err(Error::Other(format!("no address left in this network for {name}")));
            }
            state.workloads += 1;
            number
        };
        let netns = NetNs::new()?;
        let switch = &self.switch.netns;
        let inside = netns.path();
        switch.ip(&format!("link add w{number} type veth peer name eth0 netns {}", inside.display()))?;
        switch.ip(&format!("link set w{number} master switch up"))?;
        netns.ip(&format!("addr add {}/{PREFIX} dev eth0", address(number)))?;
        netns.ip("link set eth0 up")?;
        // Services have addresses that exist nowhere: redirect rules see only what has a route.
        netns.ip(&format!("route add default via {}", address(FIRST)))?;
        Ok(Workload::new(self.clone(), name, netns, address(number)))
    }

    /// Lets workloads reach a server of this machine; gives the address at which they do.
    pub fn relay(&self, outside: SocketAddr) -> Result<SocketAddr> {
        let inside = SocketAddr::from((address(FIRST), outside.port()));
        let relay = self.switch.netns.relay_in(inside, outside)?;
        let mut state = self.switch.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.relays.push(relay);
        Ok(inside)
    }

    /// The network in which the switch is, with a leg in every workload's: a place to look from.
    pub fn switch(&self) -> &NetNs {
        &self.switch.netns
    }
}
