//! Which filter chains a port needs, by what it speaks and whether it takes mutual TLS.

use crate::listeners::chain::{PLAIN_HTTP, RAW, TLS};
use mizzen_mesh::{Protocol, config::MtlsMode};

/// What a chain does with what it takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Does {
    Http,
    Tcp,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct InboundMatch {
    /// Empty: any.
    pub(super) protocols: &'static [&'static str],
    /// `tls` or `raw_buffer`
    pub(super) transport: &'static str,
    pub(super) does: Does,
    /// It is the mesh's own TLS, and ends here.
    pub(super) terminates: bool,
}

/// HTTP, as proxies of the mesh announce it.
const MESH_HTTP: &[&str] = &["istio-http/1.0", "istio-http/1.1", "istio-h2"];
/// Anything else.
const MESH_TCP: &[&str] = &["istio-peer-exchange", "istio"];
const MESH: &[&str] = &["istio", "istio-peer-exchange", "istio-http/1.0", "istio-http/1.1", "istio-h2"];

const fn mutual(protocols: &'static [&'static str], does: Does) -> InboundMatch {
    InboundMatch { protocols, transport: TLS, does, terminates: true }
}

const fn plain(protocols: &'static [&'static str], does: Does) -> InboundMatch {
    InboundMatch { protocols, transport: RAW, does, terminates: false }
}

/// TLS that is not the mesh's, and is none of the proxy's business.
const FOREIGN: InboundMatch =
    InboundMatch { protocols: &[], transport: TLS, does: Does::Tcp, terminates: false };

pub(super) fn matches(protocol: Protocol, mode: MtlsMode) -> &'static [InboundMatch] {
    use Does::{Http, Tcp};
    use MtlsMode::{Disable, Permissive, Strict};
    #[derive(Clone, Copy)]
    enum Speaks {
        Http,
        Tcp,
        Unknown,
    }
    let speaks = match protocol {
        protocol if protocol.is_http() => Speaks::Http,
        // Not found out: it has no chains of HTTP.
        protocol if protocol.is_tcp() || protocol == Protocol::Udp => Speaks::Tcp,
        _ => Speaks::Unknown,
    };
    match (speaks, mode) {
        (Speaks::Http, Strict) => const { &[mutual(&[], Http)] },
        (Speaks::Http, Permissive) => const { &[mutual(MESH, Http), plain(&[], Http)] },
        (Speaks::Http, Disable) => const { &[plain(&[], Http)] },
        (Speaks::Tcp, Strict) => const { &[mutual(&[], Tcp)] },
        (Speaks::Tcp, Permissive) => const { &[mutual(MESH, Tcp), FOREIGN, plain(&[], Tcp)] },
        (Speaks::Tcp, Disable) => const { &[plain(&[], Tcp)] },
        (Speaks::Unknown, Strict) => const { &[mutual(MESH_HTTP, Http), mutual(&[], Tcp)] },
        (Speaks::Unknown, Permissive) => {
            const {
                &[
                    mutual(MESH_HTTP, Http),
                    plain(&PLAIN_HTTP, Http),
                    mutual(MESH_TCP, Tcp),
                    plain(&[], Tcp),
                    FOREIGN,
                ]
            }
        }
        (Speaks::Unknown, Disable) => const { &[plain(&PLAIN_HTTP, Http), plain(&[], Tcp)] },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strict_ports_take_no_plain_text_and_disabled_ones_no_mutual_tls() {
        for protocol in
            [Protocol::Http, Protocol::Grpc, Protocol::Tcp, Protocol::Mongo, Protocol::Unsupported]
        {
            assert!(matches(protocol, MtlsMode::Strict).iter().all(|chain| chain.terminates), "{protocol:?}");
            assert!(
                matches(protocol, MtlsMode::Disable).iter().all(|chain| chain.transport == RAW),
                "{protocol:?}"
            );
        }
    }

    #[test]
    fn a_permissive_port_of_unknown_protocol_has_five_chains() {
        let chains = matches(Protocol::Unsupported, MtlsMode::Permissive);
        let seen: Vec<_> =
            chains.iter().map(|chain| (chain.transport, chain.does, chain.terminates)).collect();
        assert_eq!(
            seen,
            [
                (TLS, Does::Http, true),
                (RAW, Does::Http, false),
                (TLS, Does::Tcp, true),
                (RAW, Does::Tcp, false),
                (TLS, Does::Tcp, false),
            ]
        );
    }

    #[test]
    fn no_two_chains_of_a_port_have_the_same_match() {
        for protocol in [Protocol::Http, Protocol::Tcp, Protocol::Unsupported] {
            for mode in [MtlsMode::Strict, MtlsMode::Permissive, MtlsMode::Disable] {
                let chains = matches(protocol, mode);
                for (index, chain) in chains.iter().enumerate() {
                    let same = |other: &&InboundMatch| {
                        (other.protocols, other.transport) == (chain.protocols, chain.transport)
                    };
                    assert!(!chains[..index].iter().any(|other| same(&other)), "{protocol:?} {mode:?}");
                }
            }
        }
    }
}
