//! Routes of connections: by the name in a TLS handshake, or by addresses alone.

use super::{
    destinations, gateways,
    hosts::{Hosts, check_sni},
};
use crate::{
    Findings,
    parts::tags,
    value::{host::subnet, number::port},
};
use mizzen_api::proto::istio::networking::v1alpha3::{TcpRoute, TlsRoute, VirtualService};
use mizzen_text::At;
use std::collections::BTreeMap;

pub(super) fn tls(
    route: &TlsRoute,
    spec: &VirtualService,
    hosts: &Hosts<'_>,
    converted: bool,
    at: &At<'_>,
    found: &mut Findings,
) {
    let matches = at.field("match");
    if route.r#match.is_empty() {
        found.error(&matches, "TLS route must have at least one match condition");
    }
    for (index, one) in route.r#match.iter().enumerate() {
        let at = matches.index(index);
        let names = at.field("sniHosts");
        if one.sni_hosts.is_empty() {
            found.error(&names, "TLS match must have at least one SNI host");
        }
        for (index, name) in one.sni_hosts.iter().enumerate() {
            check_sni(name, spec, hosts, &names.index(index), found);
        }
        connection(&one.destination_subnets, one.port, &one.source_labels, &at, found);
        gateways::check(&one.gateways, false, &at.field("gateways"), found);
    }
    let list = at.field("route");
    if route.route.is_empty() {
        found.error(&list, "TLS route is required");
    }
    destinations::l4(&route.route, converted, &list, found);
}

pub(super) fn tcp(route: &TcpRoute, converted: bool, at: &At<'_>, found: &mut Findings) {
    let matches = at.field("match");
    for (index, one) in route.r#match.iter().enumerate() {
        let at = matches.index(index);
        connection(&one.destination_subnets, one.port, &one.source_labels, &at, found);
        let mut own = Findings::default();
        gateways::check(&one.gateways, false, &at.field("gateways"), &mut own);
        found.extend_errors(own);
    }
    let list = at.field("route");
    if route.route.is_empty() {
        found.error(&list, "TCP route is required");
    }
    destinations::l4(&route.route, converted, &list, found);
}

/// What both are matched by.
fn connection(
    subnets: &[String],
    number: u32,
    labels: &BTreeMap<String, String>,
    at: &At<'_>,
    found: &mut Findings,
) {
    let list = at.field("destinationSubnets");
    for (index, text) in subnets.iter().enumerate() {
        found.verdict(&list.index(index), subnet(text));
    }
    if number != 0 {
        found.verdict(&at.field("port"), port(number));
    }
    tags::check(labels, &at.field("sourceLabels"), found);
}
