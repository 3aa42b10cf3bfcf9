//! The hosts of a VirtualService, and which names they cover.

use super::gateways::{Bound, names_mesh};
use crate::{
    Findings,
    value::{
        Verdict,
        host::{is_ip, wildcard_domain},
    },
};
use mizzen_api::proto::istio::networking::v1alpha3::VirtualService;
use mizzen_text::At;
use std::collections::HashMap;

/// What the SNI of a gateway between clusters begins with: `outbound_.80_._.host.ns.svc`.
const BETWEEN_CLUSTERS: &str = "outbound_";
const LONGEST: usize = 255;

/// The hosts, by what they cover, so that a name is looked up in as many steps as it has characters.
#[derive(Default)]
pub(super) struct Hosts<'a> {
    exact: HashMap<&'a str, usize>,
    /// By what is behind the `*`.
    wildcards: HashMap<&'a str, usize>,
}

impl<'a> Hosts<'a> {
    fn insert(&mut self, index: usize, host: &'a str) {
        match host.strip_prefix('*') {
            Some(suffix) => self.wildcards.entry(suffix).or_insert(index),
            None => self.exact.entry(host).or_insert(index),
        };
    }

    /// The hosts that cover all of what a name stands for.
    fn covering<'b>(&self, name: &'b str) -> impl Iterator<Item = usize> + use<'_, 'a, 'b> {
        let (exact, tail) = match name.strip_prefix('*') {
            Some(tail) => (None, tail),
            None => (self.exact.get(name), name),
        };
        // No host is longer than a domain name, so no longer tail can be one's.
        let from = tail.len().saturating_sub(LONGEST);
        let tails = (from..=tail.len()).filter_map(|start| tail.get(start..));
        exact.copied().into_iter().chain(tails.filter_map(|tail| self.wildcards.get(tail).copied()))
    }

    pub(super) fn cover(&self, name: &str) -> bool {
        self.covering(name).next().is_some()
    }
}

pub(super) fn check<'a>(
    spec: &'a VirtualService,
    bound: Bound,
    at: &At<'_>,
    found: &mut Findings,
) -> Hosts<'a> {
    let by_sni = spec.tls.iter().flat_map(|route| &route.r#match).any(|one| !one.sni_hosts.is_empty());
    let mut all = Hosts::default();
    let mut good = Hosts::default();
    for (index, host) in spec.hosts.iter().enumerate() {
        all.insert(index, host);
        let verdict = match bound {
            Bound::Mesh if host == "*" => {
                Err("wildcard host * is not allowed for virtual services bound to the mesh gateway"
                    .to_owned())
            }
            _ if is_ip(host) => Ok(()),
            Bound::Mesh => wildcard_domain(host),
            Bound::Gateways => behind_gateway(by_sni, host),
        };
        if verdict.is_ok() {
            good.insert(index, host);
        }
        found.verdict(&at.index(index), verdict);
    }
    for (index, host) in spec.hosts.iter().enumerate() {
        // Of two that are equal only the first is in the index, so the later one is told.
        let other = good.covering(host).find(|other| *other != index);
        if let Some(other) = other.and_then(|other| spec.hosts.get(other)) {
            found.error(&at.index(index), format!("duplicate hosts in virtual service: {host} & {other}"));
        }
    }
    all
}

/// A host or SNI of what only gateways route by.
fn behind_gateway(by_sni: bool, name: &str) -> Verdict {
    if !by_sni || name.len() > LONGEST || !name.starts_with(BETWEEN_CLUSTERS) {
        return wildcard_domain(name);
    }
    let mut parts = name.split('_').skip(1);
    let port = parts.next().unwrap_or_default();
    let host = parts.nth(1).unwrap_or_default();
    if port.bytes().any(|byte| byte.is_ascii_digit()) && host.bytes().any(|byte| byte.is_ascii_alphabetic()) {
        return Ok(());
    }
    Err(format!("domain name {name:?} invalid: should follow the format outbound_.<PORT>_._.<HOSTNAME>"))
}

/// One of the names by which a TLS route is chosen.
pub(super) fn check_sni(
    name: &str,
    spec: &VirtualService,
    hosts: &Hosts<'_>,
    at: &At<'_>,
    found: &mut Findings,
) {
    let verdict = if names_mesh(spec) { wildcard_domain(name) } else { behind_gateway(true, name) };
    match verdict {
        Err(_) if is_ip(name) => found.warning(
            at,
            format!(
                "using an IP address ({name:?}) goes against SNI spec and most clients do not support this"
            ),
        ),
        Err(why) => found.error(at, why),
        Ok(()) if hosts.cover(name) => {}
        Ok(()) => found.error(
            at,
            format!(
                "SNI host {name:?} is not a compatible subset of any of the virtual service hosts: {}",
                some(&spec.hosts)
            ),
        ),
    }
}

/// Enough of a list to recognise it.
fn some(names: &[String]) -> String {
    const SHOWN: usize = 10;
    let shown: Vec<_> = names.iter().take(SHOWN).map(String::as_str).collect();
    let more = if names.len() > SHOWN { ", …" } else { "" };
    format!("[{}{more}]", shown.join(", "))
}
