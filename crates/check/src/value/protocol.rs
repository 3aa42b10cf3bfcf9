//! What is spoken on a port, by the names that Istio gives it.

/// The name that Istio knows it by, in lower case; none when it is not known.
fn known(name: &str) -> Option<&'static str> {
    const NAMES: &[&str] = &[
        "tcp",
        "udp",
        "grpc",
        "grpc-web",
        "http",
        "http_proxy",
        "http2",
        "https",
        "tls",
        "mongo",
        "redis",
        "mysql",
    ];
    NAMES.iter().copied().find(|known| name.eq_ignore_ascii_case(known))
}

pub(crate) fn is_known(name: &str) -> bool {
    known(name).is_some()
}

/// Requests can be read.
pub(crate) fn is_http(name: &str) -> bool {
    matches!(known(name), Some("http" | "http2" | "http_proxy" | "grpc" | "grpc-web"))
}

/// Encrypted, with a handshake that can be read.
pub(crate) fn is_tls(name: &str) -> bool {
    matches!(known(name), Some("https" | "tls"))
}
