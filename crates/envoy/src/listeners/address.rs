//! Where listeners listen: families, addresses and ranges.

use super::message::number;
use mizzen_proto::envoy::config::{
    core::v3::{Address, CidrRange, Pipe, SocketAddress, address, socket_address::PortSpecifier},
    listener::v3::AdditionalAddress,
};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The families of a proxy's addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Families {
    V4,
    V6,
    Both,
}

impl Families {
    pub(crate) fn new((v4, v6): (bool, bool)) -> Self {
        match (v4, v6) {
            (true, true) => Self::Both,
            (false, true) => Self::V6,
            _ => Self::V4,
        }
    }

    /// Everything; the first names the listener.
    pub(crate) fn wildcards(self) -> &'static [&'static str] {
        match self {
            Self::V4 => &["0.0.0.0"],
            Self::V6 => &["::"],
            Self::Both => &["0.0.0.0", "::"],
        }
    }

    pub(crate) fn wildcard(self) -> &'static str {
        self.wildcards()[0]
    }

    pub(crate) fn localhosts(self) -> &'static [&'static str] {
        match self {
            Self::V4 => &["127.0.0.1"],
            Self::V6 => &["::1"],
            Self::Both => &["127.0.0.1", "::1"],
        }
    }

    /// Whether a proxy of these families can use `address`; a range counts by its address.
    pub(crate) fn can_use(self, address: &str) -> bool {
        match self {
            Self::V4 => !address.contains(':'),
            Self::V6 => address.contains(':'),
            Self::Both => true,
        }
    }
}

/// `0.0.0.0_80`
pub(super) fn name(bind: &str, port: u32) -> String {
    format!("{bind}_{port}")
}

/// A socket, or without a port the path of a Unix one.
pub(super) fn address(bind: &str, port: u32) -> Address {
    let address = if port == 0 {
        let path = bind.strip_prefix("unix://").unwrap_or(bind);
        address::Address::Pipe(Pipe { path: path.to_owned(), ..Pipe::default() })
    } else {
        address::Address::SocketAddress(SocketAddress {
            address: bind.to_owned(),
            port_specifier: Some(PortSpecifier::PortValue(port)),
            ..SocketAddress::default()
        })
    };
    Address { address: Some(address) }
}

pub(super) fn additional<S: AsRef<str>>(binds: &[S], port: u32) -> Vec<AdditionalAddress> {
    let additional = |bind: &S| AdditionalAddress {
        address: Some(address(bind.as_ref(), port)),
        ..AdditionalAddress::default()
    };
    binds.iter().filter(|bind| !bind.as_ref().is_empty()).map(additional).collect()
}

/// An address with the length of its prefix; an address alone is a range of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Range {
    address: IpAddr,
    length: u8,
}

impl Range {
    pub(super) fn parse(text: &str) -> Option<Self> {
        let (address, length) = match text.split_once('/') {
            Some((address, length)) => (address.parse().ok()?, Some(length)),
            None => (text.parse().ok()?, None),
        };
        let whole = if matches!(address, IpAddr::V4(_)) { 32 } else { 128 };
        let length = match length {
            Some(text) => text.parse().ok().filter(|&length| length <= whole)?,
            None => whole,
        };
        Some(Self { address, length })
    }

    /// `0.0.0.0` stands for everything, and then it is no condition.
    pub(super) fn is_everything(self) -> bool {
        self.address == IpAddr::V4(Ipv4Addr::UNSPECIFIED)
    }

    /// 10.1.2.3/8 and 10.9.9.9/8 are the same range.
    pub(super) fn masked(self) -> Self {
        let address = match self.address {
            IpAddr::V4(v4) => {
                let mask = u32::MAX.checked_shl(32 - u32::from(self.length)).unwrap_or(0);
                IpAddr::V4(Ipv4Addr::from_bits(v4.to_bits() & mask))
            }
            IpAddr::V6(v6) => {
                let mask = u128::MAX.checked_shl(128 - u32::from(self.length)).unwrap_or(0);
                IpAddr::V6(Ipv6Addr::from_bits(v6.to_bits() & mask))
            }
        };
        Self { address, ..self }
    }

    pub(super) fn message(self) -> CidrRange {
        CidrRange { address_prefix: self.address.to_string(), prefix_len: number(self.length.into()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_compared_without_what_stands_behind_the_prefix() {
        let range = |text| Range::parse(text).unwrap().masked();
        assert_eq!(range("10.1.2.3/8"), range("10.9.9.9/8"));
        assert_eq!(range("10.1.2.3"), range("10.1.2.3/32"));
        assert_eq!(range("1.2.3.4/0"), range("0.0.0.0/0"));
        assert_eq!(range("fd00::1/0"), range("::/0"));
        assert_ne!(range("10.1.2.3/8"), range("10.1.2.3/9"));
    }

    #[test]
    fn what_is_no_range_is_nothing() {
        for text in ["", "*", "10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/", "/8", "fd00::/129", "host"] {
            assert_eq!(Range::parse(text), None, "{text:?}");
        }
    }

    #[test]
    fn without_a_port_a_bind_is_a_path() {
        let Some(address::Address::Pipe(pipe)) = address("unix:///var/run/x", 0).address else {
            panic!("no pipe")
        };
        assert_eq!(pipe.path, "/var/run/x");
    }
}
