//! How a server speaks TLS: of a Gateway, or of a Sidecar's ingress.

use crate::Findings;
use mizzen_api::proto::istio::networking::v1alpha3::{
    ServerTlsSettings,
    server_tls_settings::{TlSmode as Mode, TlsProtocol},
};
use mizzen_text::At;
use std::collections::BTreeSet;

/// What Envoy's TLS library can do; without the suites that need a shared key.
const CIPHERS: &[&str] = &[
    "ECDHE-ECDSA-AES128-GCM-SHA256",
    "ECDHE-RSA-AES128-GCM-SHA256",
    "ECDHE-ECDSA-AES256-GCM-SHA384",
    "ECDHE-RSA-AES256-GCM-SHA384",
    "ECDHE-ECDSA-CHACHA20-POLY1305",
    "ECDHE-RSA-CHACHA20-POLY1305",
    "ECDHE-ECDSA-AES128-SHA",
    "ECDHE-RSA-AES128-SHA",
    "ECDHE-ECDSA-AES256-SHA",
    "ECDHE-RSA-AES256-SHA",
    "AES128-GCM-SHA256",
    "AES256-GCM-SHA384",
    "AES128-SHA",
    "AES256-SHA",
    "DES-CBC3-SHA",
];

pub(crate) fn check(tls: &ServerTlsSettings, at: &At<'_>, found: &mut Findings) {
    ciphers(tls, at, found);
    let mode = tls.mode();
    match mode {
        Mode::IstioMutual => return own_certificates(tls, at, found),
        Mode::Passthrough | Mode::AutoPassthrough => {
            if !tls.ca_crl.is_empty() || given(tls).any(|(_, set)| set) {
                let mode = mode.as_str_name();
                found.warning(at, format!("{mode} mode does not use certificates, they will be ignored"));
            }
        }
        Mode::Simple | Mode::Mutual | Mode::OptionalMutual => {}
    }
    let by_name = !tls.credential_name.is_empty() || !tls.credential_names.is_empty();
    one_source(tls, at, found);
    if matches!(mode, Mode::Simple | Mode::Mutual | Mode::OptionalMutual) {
        if by_name {
            // Everything is in the secret; Istio does not look at the files any more, not even at a CRL.
            return;
        }
        files(tls, at, found);
    }
    if !tls.ca_crl.is_empty() {
        let at = at.field("caCrl");
        if !tls.credential_name.is_empty() {
            found.error(&at, "CRL is not supported with credentialName: it has to be in the credential");
        }
        if mode == Mode::Simple {
            found.error(&at, "CRL is not supported with SIMPLE TLS");
        }
    }
}

fn ciphers(tls: &ServerTlsSettings, at: &At<'_>, found: &mut Findings) {
    if matches!(tls.min_protocol_version(), TlsProtocol::Tlsv10 | TlsProtocol::Tlsv11)
        && tls.cipher_suites.is_empty()
    {
        found.warning(
            &at.field("minProtocolVersion"),
            "TLS version below TLSV1_2 require setting compatible ciphers (cipherSuites), as by default they no longer include compatible ciphers",
        );
    }
    let mut seen = BTreeSet::new();
    let mut invalid = BTreeSet::new();
    let mut duplicate = BTreeSet::new();
    for suite in &tls.cipher_suites {
        if !is_cipher(suite) {
            invalid.insert(suite.as_str());
        } else if !seen.insert(suite) {
            duplicate.insert(suite.as_str());
        }
    }
    let at = at.field("cipherSuites");
    for (what, suites) in [("invalid", invalid), ("duplicate", duplicate)] {
        if !suites.is_empty() {
            let suites: Vec<_> = suites.into_iter().collect();
            found.warning(&at, format!("ignoring {what} cipher suites: {}", suites.join(", ")));
        }
    }
}

fn is_cipher(suite: &str) -> bool {
    match suite.bytes().next() {
        None => true,
        // An operator of the library's own language for ciphers, which is let through.
        Some(first) if !char::from(first).is_alphanumeric() => true,
        Some(_) => suite == "ALL" || CIPHERS.contains(&suite),
    }
}

/// The fields that bring a certificate or its key, and which are used.
fn given(tls: &ServerTlsSettings) -> impl Iterator<Item = (&'static str, bool)> {
    [
        ("serverCertificate", !tls.server_certificate.is_empty()),
        ("privateKey", !tls.private_key.is_empty()),
        ("caCertificates", !tls.ca_certificates.is_empty()),
        ("tlsCertificates", !tls.tls_certificates.is_empty()),
        ("credentialName", !tls.credential_name.is_empty()),
        ("credentialNames", !tls.credential_names.is_empty()),
    ]
    .into_iter()
}

/// Istio brings the certificates, so none may be given.
fn own_certificates(tls: &ServerTlsSettings, at: &At<'_>, found: &mut Findings) {
    for (field, _) in given(tls).filter(|(_, set)| *set) {
        found.error(&at.field(field), format!("ISTIO_MUTUAL TLS cannot have associated {field}"));
    }
}

fn one_source(tls: &ServerTlsSettings, at: &At<'_>, found: &mut Findings) {
    let files = !tls.server_certificate.is_empty() && !tls.private_key.is_empty();
    let sources = [
        files,
        !tls.credential_name.is_empty(),
        !tls.credential_names.is_empty(),
        !tls.tls_certificates.is_empty(),
    ];
    if sources.into_iter().filter(|used| *used).count() > 1 {
        found.error(
            at,
            "only one of credentialName, credentialNames, serverCertificate/privateKey, tlsCertificates should be specified",
        );
    }
}

/// Certificates from files of the proxy.
fn files(tls: &ServerTlsSettings, at: &At<'_>, found: &mut Findings) {
    let prefix = if tls.mode() == Mode::Simple { "SIMPLE TLS" } else { "MUTUAL TLS" };
    if tls.mode() != Mode::Simple && tls.ca_certificates.is_empty() {
        found.error(&at.field("caCertificates"), format!("{prefix} requires a client CA bundle"));
    }
    let mut pair = |certificate: &str, key: &str, at: &At<'_>| {
        if certificate.is_empty() {
            found.error(&at.field("serverCertificate"), format!("{prefix} requires a server certificate"));
        }
        if key.is_empty() {
            found.error(&at.field("privateKey"), format!("{prefix} requires a private key"));
        }
    };
    if tls.tls_certificates.is_empty() {
        pair(&tls.server_certificate, &tls.private_key, at);
    }
    let list = at.field("tlsCertificates");
    for (index, both) in tls.tls_certificates.iter().enumerate() {
        pair(&both.server_certificate, &both.private_key, &list.index(index));
    }
    if tls.tls_certificates.len() > 2 {
        found.warning(&list, format!("{prefix} can support up to 2 server certificates"));
    }
}
