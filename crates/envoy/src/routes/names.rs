//! The names of a router's server, and which of a VirtualService's they share.

use mizzen_mesh::Host;
use std::collections::HashMap;

/// A server's names, ready to be compared with many VirtualServices'.
pub(super) struct Hosts<'a> {
    whole: HashMap<&'a str, Vec<Option<&'a str>>>,
    wildcards: Vec<(Option<&'a str>, &'a str)>,
}

impl<'a> Hosts<'a> {
    /// Names are `host`, or `namespace/host` for the VirtualServices of a namespace alone.
    pub(super) fn new(names: &'a [String]) -> Self {
        let mut hosts = Self { whole: HashMap::new(), wildcards: Vec::new() };
        for name in names {
            let (namespace, name) = match name.split_once('/') {
                Some(("*", name)) => (None, name),
                Some((namespace, name)) => (Some(namespace), name),
                None => (None, name.as_str()),
            };
            if Host(name).is_wildcard() {
                hosts.wildcards.push((namespace, name));
            } else {
                hosts.whole.entry(name).or_default().push(namespace);
            }
        }
        hosts
    }

    /// The names that both have, the narrower one of each pair, for a VirtualService in `namespace`.
    pub(super) fn common(&self, hosts: &'a [String], namespace: &str) -> Vec<&'a str> {
        let for_it = |of: &Option<&str>| of.is_none_or(|of| of == namespace);
        let wildcards = || self.wildcards.iter().filter(|(of, _)| for_it(of)).map(|(_, name)| *name);
        let mut out: Vec<&'a str> = Vec::new();
        let mut add = |name: &'a str| {
            if !out.contains(&name) {
                out.push(name);
            }
        };
        for host in hosts {
            let host = host.as_str();
            if Host(host).is_wildcard() {
                for (name, of) in &self.whole {
                    if of.iter().any(for_it) && Host(host).covers(Host(name)) {
                        add(name);
                    }
                }
                for name in wildcards() {
                    if Host(host).covers(Host(name)) {
                        add(name);
                    } else if Host(name).covers(Host(host)) {
                        add(host);
                    }
                }
            } else {
                let named = self.whole.get(host).is_some_and(|of| of.iter().any(for_it));
                if named || wildcards().any(|name| Host(name).covers(Host(host))) {
                    add(host);
                }
            }
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::Hosts;

    #[test]
    fn the_narrower_of_two_names_is_common() {
        for (server, hosts, namespace, common) in [
            (&["foo.com", "bar.com"][..], &["*.com"][..], "a", &["bar.com", "foo.com"][..]),
            (&["foo.com", "*.net"], &["*.com", "bar.net"], "a", &["bar.net", "foo.com"]),
            (&["foo.com", "*.net"], &["*.bar.net"], "a", &["*.bar.net"]),
            (&["foo.com"], &["bar.com"], "a", &[]),
            (&["*"], &["*"], "a", &["*"]),
            (&["*"], &["a", "*.b", "a"], "a", &["*.b", "a"]),
            (&["a/foo.com", "b/bar.com", "*/x.com"], &["*"], "a", &["foo.com", "x.com"]),
            (&["b/*"], &["foo.com"], "a", &[]),
            (&[], &["foo.com"], "a", &[]),
        ] {
            let own = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
            let (server, hosts) = (own(server), own(hosts));
            let names = Hosts::new(&server);
            let mut seen = names.common(&hosts, namespace);
            seen.sort_unstable();
            assert_eq!(seen, common, "{server:?} {hosts:?}");
        }
    }
}
