//! A filter chain of an outbound listener before it is built: when it is taken, and where it leads.

use super::address::Range;
use mizzen_mesh::{
    ByPointer, Protocol, Service,
    config::{DestinationRule, L4Routes},
};
use mizzen_proto::envoy::config::listener::v3::FilterChainMatch;
use std::sync::Arc;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Chain {
    pub(super) when: Match,
    pub(super) to: To,
}

/// Nothing said: always.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Match {
    /// Of TLS; a star is any.
    pub(super) server_names: Vec<Arc<str>>,
    /// The destination's address.
    pub(super) subnets: Vec<Arc<str>>,
    /// Plain HTTP, as the first bytes tell.
    pub(super) http: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum To {
    /// HTTP routes; those of the port, or those of one service on it.
    Http {
        web: bool,
        only: Option<ByPointer<Service>>,
    },
    /// The service's own cluster.
    Service {
        service: ByPointer<Service>,
        protocol: Protocol,
        rule: Option<ByPointer<DestinationRule>>,
    },
    Routed(Box<Routed>),
}

/// What a VirtualService says about bytes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Routed {
    pub(super) by: ByPointer<L4Routes>,
    /// The chain names its VirtualService.
    pub(super) named: bool,
    /// At least one, with weights.
    pub(super) clusters: Vec<(Arc<str>, u32)>,
    /// There was no other: its weight does not matter.
    pub(super) single: bool,
    /// Of the first.
    pub(super) host: Arc<str>,
    pub(super) subset: Arc<str>,
    pub(super) service: Option<ByPointer<Service>>,
    pub(super) rule: Option<ByPointer<DestinationRule>>,
    pub(super) protocol: Protocol,
    /// Of the port that the connection came to.
    pub(super) port_name: Arc<str>,
}

/// Whether HTTP, the names, the ranges.
pub(super) type Identity = (bool, Vec<Arc<str>>, Vec<Range>);

impl Match {
    pub(super) fn http() -> Self {
        Self { http: true, ..Self::default() }
    }

    fn any_name(&self) -> bool {
        self.server_names.is_empty() || self.server_names.iter().any(|name| &**name == "*")
    }

    pub(super) fn is_always(&self) -> bool {
        self.any_name() && !self.http && self.subnets.is_empty()
    }

    /// The same for any two that a proxy could not tell apart.
    pub(super) fn identity(&self) -> Identity {
        let mut names: Vec<_> = self.server_names.iter().filter(|name| &***name != "*").cloned().collect();
        names.sort();
        names.dedup();
        let ranges = self.subnets.iter().filter_map(|text| Range::parse(text));
        let mut ranges: Vec<_> = ranges.filter(|range| !range.is_everything()).map(Range::masked).collect();
        ranges.sort();
        ranges.dedup();
        (self.http, names, ranges)
    }

    pub(super) fn message(&self) -> FilterChainMatch {
        let sorted = |texts: &[Arc<str>]| {
            let mut texts: Vec<String> = texts.iter().map(|text| text.to_string()).collect();
            texts.sort();
            texts
        };
        let ranges = sorted(&self.subnets);
        let ranges =
            ranges.iter().filter_map(|text| Range::parse(text)).filter(|range| !range.is_everything());
        FilterChainMatch {
            server_names: if self.any_name() { Vec::new() } else { sorted(&self.server_names) },
            prefix_ranges: ranges.map(Range::message).collect(),
            application_protocols: if self.http { PLAIN_HTTP.map(str::to_owned).into() } else { Vec::new() },
            transport_protocol: if self.http { RAW.to_owned() } else { String::new() },
            ..FilterChainMatch::default()
        }
    }
}

/// What Envoy's HTTP inspector calls what it finds.
pub(super) const PLAIN_HTTP: [&str; 2] = ["http/1.1", "h2c"];
pub(super) const RAW: &str = "raw_buffer";
pub(super) const TLS: &str = "tls";

#[cfg(test)]
mod tests {
    use super::*;

    fn when(names: &[&str], subnets: &[&str]) -> Match {
        let owned = |texts: &[&str]| texts.iter().map(|&text| text.into()).collect();
        Match { server_names: owned(names), subnets: owned(subnets), http: false }
    }

    #[test]
    fn matches_that_a_proxy_cannot_tell_apart_have_one_identity() {
        for (a, b, same) in [
            (when(&["a", "b"], &[]), when(&["b", "a"], &[]), true),
            (when(&["a", "*"], &[]), when(&["a"], &[]), true),
            (when(&["*"], &[]), when(&[], &[]), true),
            (when(&[], &["10.1.0.0/8"]), when(&[], &["10.2.0.0/8"]), true),
            (when(&[], &["0.0.0.0"]), when(&[], &[]), true),
            (when(&[], &["nonsense"]), when(&[], &[]), true),
            (when(&[], &["10.0.0.1"]), when(&[], &["10.0.0.2"]), false),
            (when(&["a"], &[]), when(&["b"], &[]), false),
            (Match::http(), when(&[], &[]), false),
        ] {
            assert_eq!(a.identity() == b.identity(), same, "{a:?} {b:?}");
        }
    }

    #[test]
    fn a_match_is_written_in_order_and_without_what_is_no_condition() {
        let message = when(&["b.com", "a.com"], &["10.0.0.0/8", "1.2.3.4", "0.0.0.0", "nonsense"]).message();
        assert_eq!(message.server_names, ["a.com", "b.com"]);
        let ranges: Vec<_> =
            message.prefix_ranges.iter().map(|range| range.address_prefix.as_str()).collect();
        assert_eq!(ranges, ["1.2.3.4", "10.0.0.0"]);
        assert!(when(&["*", "a.com"], &["1.2.3.4"]).message().server_names.is_empty());
    }
}
