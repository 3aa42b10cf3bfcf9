//! A proxy that shares its machine's network with others, as under `mizzen up`: nothing is redirected to it, and it listens on
//! an address of its own where it would otherwise have a loopback interface, or every address, to itself.
//!
//! Two keys of its metadata say so. Only Mizzen writes and reads them; without them everything is as in Istio.

use mizzen_mesh::{Attributes, Interception, ProxyKind};
use std::{
    collections::BTreeMap,
    net::{IpAddr, SocketAddr},
    sync::Arc,
};

/// Where to listen: a sidecar for its own workload, where Istio would use 127.0.0.1; a gateway for everybody, where Istio would
/// use every address.
pub const LOCAL_ADDRESS: &str = "MIZZEN_LOCAL_ADDRESS";

/// Where the workload really listens, by the port that services name: `{"9080": "127.0.0.1:31001"}`.
pub const APP_ADDRESSES: &str = "MIZZEN_APP_ADDRESSES";

/// The address, if this proxy has one. What is no address counts as none.
pub(crate) fn address(proxy: &Attributes) -> Option<Arc<str>> {
    let alone = proxy.kind() == ProxyKind::Router || proxy.interception() == Interception::None;
    let address = if alone { proxy.metadata(LOCAL_ADDRESS) } else { None };
    address.filter(|text| text.parse::<IpAddr>().is_ok())
}

pub(crate) fn apps(proxy: &Attributes) -> BTreeMap<u32, SocketAddr> {
    let text = proxy.metadata(APP_ADDRESSES);
    let listed: BTreeMap<String, String> =
        text.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default();
    listed.iter().filter_map(|(port, address)| Some((port.parse().ok()?, address.parse().ok()?))).collect()
}
