//! The names of things, which users' patches and dashboards know.

use std::fmt::Write;

pub const BLACK_HOLE: &str = "BlackHoleCluster";
pub const PASSTHROUGH: &str = "PassthroughCluster";
pub const INBOUND_PASSTHROUGH: &str = "InboundPassthroughCluster";
pub const VIRTUAL_OUTBOUND: &str = "virtualOutbound";
pub const VIRTUAL_INBOUND: &str = "virtualInbound";

/// `outbound|80|v1|reviews.default.svc.cluster.local`
pub fn outbound(port: u32, subset: &str, host: &str) -> String {
    let mut name = String::with_capacity(16 + subset.len() + host.len());
    // Writing to a String cannot fail.
    let _ = write!(name, "outbound|{port}|{subset}|{host}");
    name
}

/// `inbound|8080||`
pub fn inbound(port: u32) -> String {
    format!("inbound|{port}||")
}

/// The parts of an outbound cluster's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outbound<'a> {
    pub port: u32,
    pub subset: &'a str,
    pub host: &'a str,
}

pub fn parse_outbound(name: &str) -> Option<Outbound<'_>> {
    let mut parts = name.splitn(4, '|');
    if parts.next()? != "outbound" {
        return None;
    }
    Some(Outbound { port: parts.next()?.parse().ok()?, subset: parts.next()?, host: parts.next()? })
}

/// The server name that a mutual TLS connection to a cluster asks for:
/// `outbound_.80_.v1_.reviews.default.svc.cluster.local`
pub fn sni(port: u32, subset: &str, host: &str) -> String {
    format!("outbound_.{port}_.{subset}_.{host}")
}
