//! Listener filters: where a connection was going, and what its first bytes tell.

use super::message::{any, listener_filter, number};
use mizzen_proto::envoy::{
    config::listener::v3::{
        ListenerFilter, ListenerFilterChainMatchPredicate,
        listener_filter_chain_match_predicate::{MatchSet, Rule},
    },
    extensions::filters::listener::{
        http_inspector::v3::HttpInspector, original_dst::v3::OriginalDst, original_src::v3::OriginalSrc,
        proxy_protocol::v3::ProxyProtocol, tls_inspector::v3::TlsInspector,
    },
    r#type::v3::Int32Range,
};
use std::collections::BTreeMap;

pub(super) fn tls() -> ListenerFilter {
    let config = TlsInspector { initial_read_buffer_size: number(512), ..TlsInspector::default() };
    listener_filter("envoy.filters.listener.tls_inspector", any(&config))
}

pub(super) fn http() -> ListenerFilter {
    listener_filter("envoy.filters.listener.http_inspector", any(&HttpInspector::default()))
}

pub(super) fn original_destination() -> ListenerFilter {
    listener_filter("envoy.filters.listener.original_dst", any(&OriginalDst::default()))
}

/// Keeps the client's address on the way to the workload; the mark tells the redirection to leave it alone.
pub(super) fn original_source() -> ListenerFilter {
    listener_filter(
        "envoy.filters.listener.original_src",
        any(&OriginalSrc { mark: 1337, ..OriginalSrc::default() }),
    )
}

pub(super) fn proxy_protocol() -> ListenerFilter {
    listener_filter("envoy.filters.listener.proxy_protocol", any(&ProxyProtocol::default()))
}

/// Which inspectors a port needs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Needs {
    pub(super) tls: bool,
    pub(super) http: bool,
}

/// The inspectors of a listener of many ports, each kept from the ports that do not need it: a server that speaks first would
/// wait for it. Port 0 stands for all that are not named.
pub(super) fn by_port(needs: &BTreeMap<u32, Needs>) -> Vec<ListenerFilter> {
    let mut filters = Vec::new();
    let ports = |wanted: &dyn Fn(&Needs) -> bool| -> Vec<u32> {
        needs.iter().filter(|(_, needs)| wanted(needs)).map(|(&port, _)| port).collect()
    };
    let with_tls = ports(&|needs| needs.tls);
    if !with_tls.is_empty() {
        let mut filter = tls();
        if needs.get(&0).is_some_and(|needs| needs.tls) {
            filter.filter_disabled = any_of(&ports(&|needs| !needs.tls));
        } else {
            filter.filter_disabled = any_of(&with_tls)
                .map(|rule| ListenerFilterChainMatchPredicate { rule: Some(Rule::NotMatch(Box::new(rule))) });
        }
        filters.push(filter);
    }
    if needs.values().any(|needs| needs.http) {
        let filter_disabled = any_of(&ports(&|needs| !needs.http));
        filters.push(ListenerFilter { filter_disabled, ..http() });
    }
    filters
}

fn any_of(ports: &[u32]) -> Option<ListenerFilterChainMatchPredicate> {
    let range = |&port: &u32| {
        let start = i32::try_from(port).unwrap_or(i32::MAX - 1);
        ListenerFilterChainMatchPredicate {
            rule: Some(Rule::DestinationPortRange(Int32Range { start, end: start + 1 })),
        }
    };
    match ports {
        [] => None,
        [one] => Some(range(one)),
        several => Some(ListenerFilterChainMatchPredicate {
            rule: Some(Rule::OrMatch(MatchSet { rules: several.iter().map(range).collect() })),
        }),
    }
}
