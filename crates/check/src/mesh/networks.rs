//! MeshNetworks: which endpoints are in which network, and the gateways into it.

use crate::{
    Findings,
    value::{Verdict, host, label::is_dns_label, number},
};
use mizzen_api::proto::istio::mesh::v1alpha1::{
    MeshNetworks, Network,
    network::{istio_network_gateway::Gw, network_endpoints::Ne},
};
use mizzen_text::At;

pub(super) fn check(networks: &MeshNetworks, found: &mut Findings) {
    let at = At::TOP.field("networks");
    for (name, network) in &networks.networks {
        one(network, &at.field(name), found);
    }
}

fn one(network: &Network, at: &At<'_>, found: &mut Findings) {
    let list = at.field("endpoints");
    for (index, endpoints) in network.endpoints.iter().enumerate() {
        let at = list.index(index);
        match &endpoints.ne {
            Some(Ne::FromCidr(block)) => found.verdict(&at.field("fromCidr"), host::subnet(block)),
            Some(Ne::FromRegistry(name)) if !is_dns_label(name) => {
                found.error(&at.field("fromRegistry"), format!("invalid registry name: {name:?}"));
            }
            Some(Ne::FromRegistry(_)) | None => {}
        }
    }
    let list = at.field("gateways");
    for (index, gateway) in network.gateways.iter().enumerate() {
        let at = list.index(index);
        match &gateway.gw {
            Some(Gw::RegistryServiceName(name)) => {
                found.verdict(&at.field("registryServiceName"), host::fqdn(name));
            }
            Some(Gw::Address(address)) => found.verdict(&at.field("address"), reachable(address)),
            None => {}
        }
        found.verdict(&at.field("port"), number::port(gateway.port));
    }
}

/// Host names are resolved by the control plane, which Istio does unless it is told not to
/// (`RESOLVE_HOSTNAME_GATEWAYS`).
fn reachable(address: &str) -> Verdict {
    if host::is_ip(address) || host::fqdn(address).is_ok() {
        Ok(())
    } else {
        Err(format!("{address} is not a valid IP address or DNS name"))
    }
}
