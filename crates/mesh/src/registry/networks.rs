//! MeshNetworks: which network an address is in.

use mizzen_api::proto::istio::mesh::v1alpha1::{MeshNetworks, network::network_endpoints::Ne};
use std::net::IpAddr;

#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Networks {
    /// Of the whole cluster.
    cluster: Option<String>,
    /// The widest first.
    ranges: Vec<(Range, String)>,
}

impl Networks {
    pub(super) fn new(networks: &MeshNetworks, cluster: &str) -> Self {
        let mut all = Self::default();
        for (name, network) in &networks.networks {
            for endpoints in network.endpoints.iter().filter_map(|endpoints| endpoints.ne.as_ref()) {
                match endpoints {
                    Ne::FromCidr(text) => {
                        all.ranges.extend(Range::parse(text).map(|range| (range, name.clone())));
                    }
                    Ne::FromRegistry(registry) if registry == cluster => all.cluster = Some(name.clone()),
                    Ne::FromRegistry(_) => {}
                }
            }
        }
        all.ranges.sort_by_key(|(range, _)| range.length);
        all
    }

    /// Empty if none is known.
    pub(super) fn of(&self, address: &str) -> &str {
        if let Some(cluster) = &self.cluster {
            return cluster;
        }
        if self.ranges.is_empty() {
            return "";
        }
        let Ok(address) = address.parse() else { return "" };
        self.ranges.iter().find(|(range, _)| range.contains(address)).map_or("", |(_, name)| name)
    }
}

/// `10.0.0.0/8`
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Range {
    pub(super) address: IpAddr,
    pub(super) length: u8,
}

impl Range {
    pub(super) fn parse(text: &str) -> Option<Self> {
        let (address, length) = text.split_once('/')?;
        // A sign or a leading zero is no length.
        if length.starts_with('+') || (length.len() > 1 && length.starts_with('0')) {
            return None;
        }
        let range = Self { address: address.parse().ok()?, length: length.parse().ok()? };
        (range.length <= range.bits()).then_some(range)
    }

    pub(super) fn bits(self) -> u8 {
        if self.address.is_ipv4() { 32 } else { 128 }
    }

    fn contains(self, address: IpAddr) -> bool {
        let (mine, theirs) = match (self.address, address) {
            (IpAddr::V4(mine), IpAddr::V4(theirs)) => {
                (u128::from(mine.to_bits()), u128::from(theirs.to_bits()))
            }
            (IpAddr::V6(mine), IpAddr::V6(theirs)) => (mine.to_bits(), theirs.to_bits()),
            _ => return false,
        };
        (mine ^ theirs).checked_shr(u32::from(self.bits() - self.length)).unwrap_or(0) == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mizzen_api::proto::istio::mesh::v1alpha1::{Network, network::NetworkEndpoints};

    fn mk_networks(networks: &[(&str, Ne)]) -> MeshNetworks {
        let network = |ne: &Ne| Network {
            endpoints: vec![NetworkEndpoints { ne: Some(ne.clone()) }, NetworkEndpoints { ne: None }],
            gateways: Vec::new(),
        };
        MeshNetworks {
            networks: networks.iter().map(|(name, ne)| ((*name).to_owned(), network(ne))).collect(),
        }
    }

    #[test]
    fn an_address_is_in_the_widest_range_that_has_it() {
        let cidr = |text: &str| Ne::FromCidr(text.to_owned());
        let networks = Networks::new(
            &mk_networks(&[
                ("narrow", cidr("10.1.0.0/16")),
                ("wide", cidr("10.0.0.0/8")),
                ("six", cidr("fd00::/8")),
                ("all-of-six", cidr("2001::1/128")),
                ("broken", cidr("10.0.0.0/33")),
            ]),
            "Kubernetes",
        );
        for (address, network) in [
            ("10.1.2.3", "wide"),
            ("10.9.0.1", "wide"),
            ("11.0.0.1", ""),
            ("fd12::1", "six"),
            ("2001::1", "all-of-six"),
            ("2001::2", ""),
            ("a.example.com", ""),
            ("", ""),
        ] {
            assert_eq!(networks.of(address), network, "{address}");
        }
    }

    #[test]
    fn a_cluster_can_be_in_one_network_as_a_whole() {
        let registry = |name: &str| Ne::FromRegistry(name.to_owned());
        let networks = mk_networks(&[("a", registry("Kubernetes")), ("b", registry("other"))]);
        assert_eq!(Networks::new(&networks, "Kubernetes").of("1.2.3.4"), "a");
        assert_eq!(Networks::new(&networks, "third").of("1.2.3.4"), "");
    }

    #[test]
    fn what_is_no_range_is_none() {
        for text in
            ["", "/", "1.2.3.4", "1.2.3.4/", "1.2.3.4/+8", "1.2.3.4/08", "1.2.3.4/33", "::/129", "a/8"]
        {
            assert_eq!(Range::parse(text), None, "{text}");
        }
        assert!(Range::parse("0.0.0.0/0").is_some_and(|range| range.contains("9.9.9.9".parse().unwrap())));
    }
}
