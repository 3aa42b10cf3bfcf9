//! What is spoken on a port, by the names that Istio gives it.

use super::Verdict;

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

/// The name that Istio knows it by, in lower case; none when it is not known.
fn known(name: &str) -> Option<&'static str> {
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

/// Carried by TCP, and not understood beyond that or encrypted.
pub(crate) fn is_tcp(name: &str) -> bool {
    matches!(known(name), Some("tcp" | "https" | "tls" | "mongo" | "redis" | "mysql"))
}

/// What Envoy can resolve by the name in the request or in the handshake.
pub(crate) fn names_its_host(name: &str) -> bool {
    matches!(known(name), Some("http" | "http2" | "grpc" | "tls"))
}

/// A known name, or none: then Envoy finds out by looking.
pub(crate) fn protocol(name: &str) -> Verdict {
    if name.is_empty() || is_known(name) {
        Ok(())
    } else {
        Err(format!("unsupported protocol {name:?}: use one of {}", NAMES.join(", ").to_uppercase()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_protocol_is_known_in_any_case() {
        for name in ["", "HTTP", "http2", "Grpc-Web", "HTTP_PROXY", "mongo"] {
            assert!(protocol(name).is_ok(), "{name}");
        }
        for name in ["hbone", "http/1.1", " http"] {
            assert!(protocol(name).is_err(), "{name}");
        }
    }

    #[test]
    fn encrypted_is_still_tcp() {
        assert!(is_tcp("TLS") && is_tcp("https") && is_tcp("Redis"));
        assert!(!is_tcp("http") && !is_tcp("udp") && !is_tcp(""));
        assert!(names_its_host("TLS") && !names_its_host("https"));
    }
}
