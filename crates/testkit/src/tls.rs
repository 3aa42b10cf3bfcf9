//! TLS for servers and clients of this process, from PEM texts, with the one crypto provider.

use std::sync::Arc;

use rustls::{
    ClientConfig, RootCertStore, ServerConfig,
    crypto::{CryptoProvider, aws_lc_rs},
    pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject},
    server::WebPkiClientVerifier,
};
use x509_parser::{extensions::GeneralName, prelude::FromDer, prelude::X509Certificate};

use crate::{
    error::{Error, Result},
    pki::Pair,
};

/// A server. With roots it also takes clients with a certificate of theirs; it never insists on one.
pub(crate) fn server(pair: &Pair, roots: Option<&str>, alpn: &[&[u8]]) -> Result<ServerConfig> {
    let builder = ServerConfig::builder_with_provider(provider())
        .with_safe_default_protocol_versions()
        .map_err(Error::other)?;
    let builder = match roots {
        None => builder.with_no_client_auth(),
        Some(roots) => builder.with_client_cert_verifier(
            WebPkiClientVerifier::builder_with_provider(Arc::new(trusted(roots)?), provider())
                .allow_unauthenticated()
                .build()
                .map_err(Error::other)?,
        ),
    };
    let mut config = builder.with_single_cert(chain(pair)?, key(pair)?).map_err(Error::other)?;
    config.alpn_protocols = alpn.iter().map(|name| name.to_vec()).collect();
    Ok(config)
}

pub(crate) fn client(roots: &str, pair: Option<&Pair>, alpn: &[&[u8]]) -> Result<ClientConfig> {
    let builder = ClientConfig::builder_with_provider(provider())
        .with_safe_default_protocol_versions()
        .map_err(Error::other)?
        .with_root_certificates(trusted(roots)?);
    let mut config = match pair {
        None => builder.with_no_client_auth(),
        Some(pair) => builder.with_client_auth_cert(chain(pair)?, key(pair)?).map_err(Error::other)?,
    };
    config.alpn_protocols = alpn.iter().map(|name| name.to_vec()).collect();
    Ok(config)
}

/// The URI in a certificate: a workload's identity.
pub(crate) fn uri(certificate: &CertificateDer<'_>) -> Option<String> {
    let (_, certificate) = X509Certificate::from_der(certificate).ok()?;
    let names = certificate.subject_alternative_name().ok()??;
    names.value.general_names.iter().find_map(|name| match name {
        GeneralName::URI(uri) => Some((*uri).to_owned()),
        _ => None,
    })
}

fn provider() -> Arc<CryptoProvider> {
    Arc::new(aws_lc_rs::default_provider())
}

fn trusted(pem: &str) -> Result<RootCertStore> {
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_slice_iter(pem.as_bytes()) {
        roots.add(certificate.map_err(Error::other)?).map_err(Error::other)?;
    }
    Ok(roots)
}

fn chain(pair: &Pair) -> Result<Vec<CertificateDer<'static>>> {
    CertificateDer::pem_slice_iter(pair.certificate.as_bytes())
        .collect::<Result<_, _>>()
        .map_err(Error::other)
}

fn key(pair: &Pair) -> Result<PrivateKeyDer<'static>> {
    PrivateKeyDer::from_pem_slice(pair.key.as_bytes()).map_err(Error::other)
}
