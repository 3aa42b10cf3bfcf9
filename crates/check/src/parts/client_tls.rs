//! How a client speaks TLS to a service.

use crate::Findings;
use mizzen_api::proto::istio::networking::v1alpha3::{
    ClientTlsSettings, client_tls_settings::TlSmode as Mode,
};
use mizzen_text::At;

const CONFIG_MAP: &str = "configmap://";

pub(crate) fn check(namespace: &str, tls: &ClientTlsSettings, at: &At<'_>, found: &mut Findings) {
    if let Some(reference) = tls.credential_name.strip_prefix(CONFIG_MAP) {
        found.verdict(&at.field("credentialName"), config_map(namespace, reference));
    }
    let mode = tls.mode();
    if tls.insecure_skip_verify == Some(true) {
        unverified(tls, at, found);
    }
    let by_name = matches!(mode, Mode::Simple | Mode::Mutual) && !tls.credential_name.is_empty();
    if by_name {
        for (field, file) in [
            ("clientCertificate", &tls.client_certificate),
            ("caCertificates", &tls.ca_certificates),
            ("privateKey", &tls.private_key),
            ("caCrl", &tls.ca_crl),
        ] {
            if !file.is_empty() {
                found.error(
                    &at.field(field),
                    format!("cannot specify {field} (client certificates, CA certificate or CA CRL) if credentialName is set"),
                );
            }
        }
    } else if mode == Mode::Mutual {
        if tls.client_certificate.is_empty() {
            found.error(&at.field("clientCertificate"), "client certificate required for mutual tls");
        }
        if tls.private_key.is_empty() {
            found.error(&at.field("privateKey"), "private key required for mutual tls");
        }
    }
}

/// What the server's certificate would be verified with must not be given when it is not verified. With MUTUAL a
/// credential may hold the client's own certificate only, so it is let through there.
fn unverified(tls: &ClientTlsSettings, at: &At<'_>, found: &mut Findings) {
    let mode = tls.mode();
    if !matches!(mode, Mode::Simple | Mode::Mutual) {
        return;
    }
    for (field, set) in [
        ("caCertificates", !tls.ca_certificates.is_empty()),
        ("credentialName", mode == Mode::Simple && !tls.credential_name.is_empty()),
        ("subjectAltNames", !tls.subject_alt_names.is_empty()),
    ] {
        if set {
            found.error(
                &at.field(field),
                format!("cannot specify {field} when insecureSkipVerify is set true"),
            );
        }
    }
}

/// `namespace/name`, in the object's own namespace.
fn config_map(namespace: &str, reference: &str) -> Result<(), String> {
    let mut parts = reference.split('/');
    let (of, name) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
    if of.is_empty() || name.is_empty() {
        return Err("invalid configmap:// credentialName: expected configmap://namespace/name".to_owned());
    }
    if of != namespace {
        return Err(format!(
            "invalid configmap:// credentialName: namespace must match the configuration namespace {namespace:?}"
        ));
    }
    Ok(())
}
