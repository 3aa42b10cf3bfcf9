//! Short names made whole, as seen from the namespace of the object that has them.

use std::net::IpAddr;

/// The gateway that stands for all sidecars. It is nobody's, so it has no namespace.
pub const MESH: &str = "mesh";

/// `reviews` → `reviews.default.svc.cluster.local`. Whatever has a dot, a wildcard or an address is whole.
pub(super) fn whole_host(host: &str, namespace: &str, domain: &str) -> String {
    if host.is_empty() || host == "*" || host.contains('.') || host.parse::<IpAddr>().is_ok() {
        return host.to_owned();
    }
    let mut whole = host.to_owned();
    if !namespace.is_empty() {
        whole = whole + "." + namespace;
    }
    if !domain.is_empty() {
        whole = whole + ".svc." + domain;
    }
    whole
}

/// `gateway`, `./gateway`, and of old `gateway.namespace.svc.cluster.local` → `namespace/gateway`.
pub(super) fn whole_gateway(name: &str, namespace: &str) -> String {
    if name == MESH {
        return name.to_owned();
    }
    if let Some((before, after)) = name.split_once('/') {
        return if before == "." { format!("{namespace}/{after}") } else { name.to_owned() };
    }
    match name.split_once('.') {
        None => format!("{namespace}/{name}"),
        Some((gateway, rest)) => format!("{}/{gateway}", rest.split('.').next().unwrap_or(rest)),
    }
}

#[cfg(test)]
mod tests {
    use super::{whole_gateway, whole_host};

    #[test]
    fn a_name_without_a_dot_is_of_the_namespace() {
        for (short, whole) in [
            ("reviews", "reviews.default.svc.cluster.local"),
            ("reviews.prod", "reviews.prod"),
            ("*", "*"),
            ("*.com", "*.com"),
            ("::1", "::1"),
            ("1.2.3.4", "1.2.3.4"),
            ("", ""),
        ] {
            assert_eq!(whole_host(short, "default", "cluster.local"), whole);
        }
        assert_eq!(whole_host("a", "", "cluster.local"), "a.svc.cluster.local");
        assert_eq!(whole_host("a", "b", ""), "a.b");
    }

    #[test]
    fn a_gateway_is_named_with_its_namespace() {
        for (short, whole) in [
            ("mesh", "mesh"),
            ("ingress", "default/ingress"),
            ("./ingress", "default/ingress"),
            ("other/ingress", "other/ingress"),
            ("ingress.other", "other/ingress"),
            ("ingress.other.svc.cluster.local", "other/ingress"),
            ("", "default/"),
            (".", "/"),
        ] {
            assert_eq!(whole_gateway(short, "default"), whole);
        }
    }
}
