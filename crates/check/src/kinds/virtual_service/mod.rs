//! VirtualService: which traffic to which hosts goes where.
//!
//! One without hosts is a delegate: a part of another one, which brings the hosts.

mod actions;
mod cors;
mod destinations;
mod fault;
mod gateways;
mod headers;
mod hosts;
mod http;
mod http_match;
mod l4;
mod overlap;
mod retry;
mod string_match;
#[cfg(test)]
mod tests;
mod unreachable;

use crate::{
    Findings,
    parts::export_to::{self, Exported},
    value::header::is_claim,
};
use gateways::Bound;
use mizzen_api::{
    Metadata,
    proto::istio::networking::v1alpha3::{StringMatch, VirtualService},
};
use mizzen_text::At;
use std::collections::BTreeMap;

/// Written by Istio on a VirtualService that it makes from a route of the Gateway API.
const SEMANTICS: &str = "internal.istio.io/route-semantics";

pub(crate) fn check(metadata: &Metadata, spec: &VirtualService, found: &mut Findings) {
    // Such a one names things that no user could.
    let converted = metadata.annotations.get(SEMANTICS).is_some_and(|value| value == "gateway");
    let bound = Bound::of(spec);
    let at = At::TOP.field("spec");
    if spec.hosts.is_empty() {
        delegate(spec, &at, found);
    }
    gateways::check(&spec.gateways, converted, &at.field("gateways"), found);
    if bound == Bound::Mesh {
        no_claims(spec, &at, found);
    }
    let hosts = hosts::check(spec, bound, &at.field("hosts"), found);
    if spec.http.is_empty() && spec.tls.is_empty() && spec.tcp.is_empty() {
        found.error(&at, "http, tcp or tls must be provided in virtual service");
    }
    let list = at.field("http");
    for (index, route) in spec.http.iter().enumerate() {
        http::check(route, spec.hosts.is_empty(), converted, &list.index(index), found);
    }
    let list = at.field("tls");
    for (index, route) in spec.tls.iter().enumerate() {
        l4::tls(route, spec, &hosts, converted, &list.index(index), found);
    }
    let list = at.field("tcp");
    for (index, route) in spec.tcp.iter().enumerate() {
        l4::tcp(route, converted, &list.index(index), found);
    }
    export_to::check(Exported::Other, &metadata.namespace, &spec.export_to, &at.field("exportTo"), found);
    unreachable::check(spec, &at, found);
}

/// What a delegate takes from the one that refers to it, or cannot have.
fn delegate(spec: &VirtualService, at: &At<'_>, found: &mut Findings) {
    for (field, what, empty) in [
        ("gateways", "gateways", spec.gateways.is_empty()),
        ("tls", "tls route", spec.tls.is_empty()),
        ("tcp", "tcp route", spec.tcp.is_empty()),
    ] {
        if !empty {
            found.error(
                &at.field(field),
                format!("delegate virtual service (one without hosts) must have no {what} specified"),
            );
        }
    }
}

/// Only a gateway knows the claims of a JWT before it routes.
fn no_claims(spec: &VirtualService, at: &At<'_>, found: &mut Findings) {
    let claims = |headers: &BTreeMap<String, StringMatch>, at: &At<'_>, found: &mut Findings| {
        for name in headers.keys().filter(|name| is_claim(name)) {
            found.error(
                &at.field(name),
                format!(
                    "JWT claim based routing (key: {name}) is only supported for gateway, not for the mesh"
                ),
            );
        }
    };
    let http = at.field("http");
    for (index, route) in spec.http.iter().enumerate() {
        let at = http.index(index);
        let matches = at.field("match");
        for (index, one) in route.r#match.iter().enumerate() {
            let at = matches.index(index);
            claims(&one.headers, &at.field("headers"), found);
            claims(&one.without_headers, &at.field("withoutHeaders"), found);
        }
    }
}
