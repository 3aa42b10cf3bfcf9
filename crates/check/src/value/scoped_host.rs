//! `namespace/dnsName`: the hosts that a Gateway serves and that a Sidecar imports.

use super::{
    Verdict,
    host::{is_ip, no_partial_wildcard, wildcard_domain},
    label::is_dns_label,
};

/// Whose host it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HostOf {
    /// The namespace may be left out, and the name may be an address.
    Gateway,
    /// A Gateway made from one of the Gateway API's: the namespace may be `~`, for nobody.
    ConvertedGateway,
    Sidecar,
}

pub(crate) fn scoped_host(of: HostOf, text: &str) -> Verdict {
    let Some((namespace, name)) = text.split_once('/') else {
        return if of == HostOf::Sidecar {
            Err(format!("host must be of form namespace/dnsName, not {text:?}"))
        } else {
            dns_name(of, text)
        };
    };
    if namespace.is_empty() || name.is_empty() {
        return Err(format!("config namespace and dnsName in host entry cannot be empty: {text:?}"));
    }
    if !is_namespace(of, namespace) {
        let whose = if of == HostOf::Sidecar { "sidecar" } else { "gateway" };
        return Err(format!(
            "invalid namespace value {namespace:?} in {whose}: *, . or the name of a namespace is allowed"
        ));
    }
    dns_name(of, name)
}

fn is_namespace(of: HostOf, text: &str) -> bool {
    // A Sidecar leaves out what has ~ before it.
    let name = if of == HostOf::Sidecar { text.strip_prefix('~').unwrap_or(text) } else { text };
    matches!(name, "*" | ".")
        || (of == HostOf::ConvertedGateway && name == "~")
        || (of == HostOf::Sidecar && name.is_empty())
        || is_dns_label(name)
}

fn dns_name(of: HostOf, name: &str) -> Verdict {
    if name != "*" && !name.contains('.') {
        return Err(format!("short names (non FQDN) are not allowed: {name:?}"));
    }
    if of == HostOf::Sidecar || !is_ip(name) {
        wildcard_domain(name)?;
    }
    no_partial_wildcard(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_namespace_before_a_host() {
        use HostOf::{ConvertedGateway, Gateway, Sidecar};
        for (of, host) in [
            (Gateway, "*"),
            (Gateway, "a.b"),
            (Gateway, "./*.a.b"),
            (Gateway, "ns/1.2.3.4"),
            (ConvertedGateway, "~/a.b"),
            (Sidecar, "*/a.b"),
            (Sidecar, "~ns/*"),
            (Sidecar, "~/*"),
        ] {
            assert_eq!(scoped_host(of, host), Ok(()), "{of:?} {host}");
        }
        for (of, host) in [
            (Gateway, ""),
            (Gateway, "a"),
            (Gateway, "*-a.b"),
            (Gateway, "~/a.b"),
            (Gateway, "/a.b"),
            (Gateway, "ns/"),
            (Gateway, "n_s/a.b"),
            (Gateway, "::1"),
            (Sidecar, "a.b"),
            (Sidecar, "ns/1.2.3.4"),
        ] {
            assert!(scoped_host(of, host).is_err(), "{of:?} {host}");
        }
    }
}
