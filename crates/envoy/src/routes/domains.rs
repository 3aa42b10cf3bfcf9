//! The names by which a service may be asked for, as a sidecar's applications write them.

use super::environment::Place;
use mizzen_mesh::{Registry, Resolution, Service, ServiceKey};
use std::net::IpAddr;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Domain {
    pub(super) text: String,
    /// Made up from the whole name, so that it gives way to a service that is really called so.
    pub(super) expanded: bool,
}

/// `host:port`, as URLs have it.
pub(super) fn with_port(host: &str, port: u32) -> String {
    if host.contains(':') { format!("[{host}]:{port}") } else { format!("{host}:{port}") }
}

/// An IPv6 address stands in brackets.
pub(super) fn bracketed(host: &str) -> String {
    if host.contains(':') { format!("[{host}]") } else { host.to_owned() }
}

/// `port` if the names must have it, too.
pub(super) fn of_service(
    service: &Service,
    host: &str,
    aliases: &[ServiceKey],
    port: Option<u32>,
    place: &Place,
) -> Vec<Domain> {
    let mut out = Names { port, domains: Vec::with_capacity(8) };
    for host in std::iter::once(host).chain(aliases.iter().map(|alias| &*alias.host)) {
        out.push(host, false);
        out.expand(host, &place.domain);
    }
    if service.resolution == Resolution::Passthrough && service.registry == Registry::Kubernetes {
        // Each of a headless service's pods has a name below the service's.
        for index in 0..out.domains.len() {
            let text = format!("*.{}", out.domains[index].text);
            out.domains.push(Domain { text, expanded: false });
        }
    }
    for address in addresses(service, place) {
        out.push(address, false);
    }
    out.domains
}

/// All ways to write `host` for somebody in `domain`.
pub(crate) fn of_host(host: &str, domain: &str) -> impl Iterator<Item = String> {
    let mut out = Names { port: None, domains: Vec::with_capacity(5) };
    out.push(host, false);
    out.expand(host, domain);
    out.domains.into_iter().map(|domain| domain.text)
}

struct Names {
    port: Option<u32>,
    domains: Vec<Domain>,
}

impl Names {
    fn push(&mut self, name: &str, expanded: bool) {
        self.domains.push(Domain { text: bracketed(name), expanded });
        if let Some(port) = self.port {
            self.domains.push(Domain { text: with_port(name, port), expanded });
        }
    }

    /// Other ways to write `host` for somebody in `domain`.
    fn expand(&mut self, host: &str, domain: &str) {
        let absolute = format!("{host}.");
        if host.parse::<IpAddr>().is_err() {
            self.domains.push(Domain { text: absolute.clone(), expanded: true });
        }
        if let Some(port) = self.port {
            self.domains.push(Domain { text: with_port(&absolute, port), expanded: true });
        }
        match domain.find(".svc.") {
            Some(at) => {
                if host.ends_with(&domain[at..]) {
                    self.expand_kubernetes(host, &domain[..at]);
                }
            }
            None => self.expand_shared(host, domain),
        }
    }

    /// `name.namespace.svc…`: short within the namespace, and without the cluster's domain for all.
    fn expand_kubernetes(&mut self, host: &str, namespace: &str) {
        let Some(end) = host.find(".svc.").filter(|end| *end > 0) else { return };
        let Some((name, rest)) = host[..end].split_once('.') else { return };
        let (short, service) = (&host[..end], format!("{}.svc", &host[..end]));
        if rest == namespace {
            self.push(name, true);
            self.push(&service, true);
            self.push(short, true);
        } else {
            self.push(short, true);
            self.push(&service, true);
        }
    }

    /// Outside of Kubernetes: what is left of the name before the part that it shares with the domain.
    fn expand_shared(&mut self, host: &str, domain: &str) {
        let parts: Vec<&str> = host.split('.').collect();
        let shared =
            parts.iter().rev().zip(domain.split('.').rev()).take_while(|(one, other)| *one == other).count();
        if shared == 0 {
            return;
        }
        let (unique, rest) = parts.split_at(parts.len() - shared);
        let name = unique.join(".");
        self.push(&name, true);
        if let ([_, _], [first, ..]) = (unique, rest) {
            self.push(&format!("{name}.{first}"), true);
        }
    }
}

/// The service's addresses that this proxy's applications may use as a host.
fn addresses<'a>(service: &'a Service, place: &Place) -> Vec<&'a str> {
    let usable = |address: &&str| match address.parse::<IpAddr>() {
        Ok(IpAddr::V4(_)) => place.v4,
        Ok(IpAddr::V6(_)) => place.v6,
        Err(_) => false,
    };
    let mut own = service.addresses.iter().map(AsRef::as_ref).filter(|address| *address != "0.0.0.0");
    if service.registry == Registry::Kubernetes {
        return own.filter(usable).collect();
    }
    if service.addresses.is_empty() {
        // The first kind that it can use, not both.
        let allocated =
            service.allocated.iter().map(AsRef::as_ref).filter(|_| place.allocated).filter(usable);
        return allocated.min_by_key(|address: &&str| address.contains(':')).into_iter().collect();
    }
    // Of a ServiceEntry's addresses each is a service of its own to istiod, and the last one has the name.
    own.next_back().into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::{Names, with_port};

    fn forms(host: &str, domain: &str, port: Option<u32>) -> Vec<String> {
        let mut names = Names { port, domains: Vec::new() };
        names.expand(host, domain);
        names.domains.into_iter().map(|domain| domain.text).collect()
    }

    #[test]
    fn names_are_as_short_as_the_asker_s_place_allows() {
        let mine = "ns.svc.cluster.local";
        for (host, domain, expected) in [
            ("a.ns.svc.cluster.local", mine, vec!["a.ns.svc.cluster.local.", "a", "a.ns.svc", "a.ns"]),
            ("a.other.svc.cluster.local", mine, vec!["a.other.svc.cluster.local.", "a.other", "a.other.svc"]),
            ("a.ns.svc.other.domain", mine, vec!["a.ns.svc.other.domain."]),
            ("example.com", mine, vec!["example.com."]),
            ("10.0.0.1", mine, vec![]),
            (".svc.cluster.local", mine, vec![".svc.cluster.local."]),
            ("a.svc.cluster.local", mine, vec!["a.svc.cluster.local."]),
            ("foo.local.campus.net", "local.campus.net", vec!["foo.local.campus.net.", "foo"]),
            (
                "foo.local.campus.net",
                "remote.campus.net",
                vec!["foo.local.campus.net.", "foo.local", "foo.local.campus"],
            ),
            ("foo.local.campus.net", "example.com", vec!["foo.local.campus.net."]),
            ("foo.local.campus.net", "", vec!["foo.local.campus.net."]),
        ] {
            assert_eq!(forms(host, domain, None), expected, "{host} from {domain}");
        }
    }

    #[test]
    fn with_a_port_each_name_stands_twice() {
        let seen = forms("a.b.svc.cluster.local", "ns.svc.cluster.local", Some(80));
        let expected =
            ["a.b.svc.cluster.local.", "a.b.svc.cluster.local.:80", "a.b", "a.b:80", "a.b.svc", "a.b.svc:80"];
        assert_eq!(seen, expected);
        assert_eq!(with_port("fd00::1", 80), "[fd00::1]:80");
    }
}
