//! Throw-away certificates: one authority, as many leaves as a cluster or a mesh wants.

use std::{net::IpAddr, path::Path};

use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DistinguishedName, DnType, ExtendedKeyUsagePurpose,
    IsCa, KeyPair, KeyUsagePurpose, SanType,
};

use crate::error::{During, Error, Result};

/// A certificate and its key, as PEM.
#[derive(Clone)]
pub struct Pair {
    pub certificate: String,
    pub key: String,
}

impl Pair {
    /// Writes `NAME.crt` and `NAME.key`.
    pub fn write(&self, folder: &Path, name: &str) -> Result<()> {
        std::fs::write(folder.join(format!("{name}.crt")), &self.certificate)
            .during("write a certificate")?;
        std::fs::write(folder.join(format!("{name}.key")), &self.key).during("write a key")
    }
}

pub struct Authority {
    issuer: CertifiedIssuer<'static, KeyPair>,
}

/// What a leaf is for.
#[derive(Default)]
pub struct Leaf<'a> {
    pub common_name: &'a str,
    pub organization: Option<&'a str>,
    pub dns: &'a [&'a str],
    pub ip: &'a [IpAddr],
    pub uri: Option<&'a str>,
}

impl Authority {
    pub fn new(common_name: &str) -> Result<Self> {
        let mut params = CertificateParams::default();
        params.distinguished_name.push(DnType::CommonName, common_name);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages =
            vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign, KeyUsagePurpose::DigitalSignature];
        Ok(Self { issuer: CertifiedIssuer::self_signed(params, KeyPair::generate()?)? })
    }

    /// Its own certificate and key.
    pub fn pair(&self) -> Pair {
        Pair { certificate: self.issuer.pem(), key: self.issuer.key().serialize_pem() }
    }

    pub fn certificate(&self) -> String {
        self.issuer.pem()
    }

    /// A new key with a certificate for both sides of a connection.
    pub fn leaf(&self, leaf: &Leaf<'_>) -> Result<Pair> {
        let mut params = CertificateParams::default();
        // A workload's identity is in its URI alone; Envoy refuses a common name that is there and empty.
        params.distinguished_name = DistinguishedName::new();
        if !leaf.common_name.is_empty() {
            params.distinguished_name.push(DnType::CommonName, leaf.common_name);
        }
        if let Some(organization) = leaf.organization {
            params.distinguished_name.push(DnType::OrganizationName, organization);
        }
        let text = |value: &str| rcgen::string::Ia5String::try_from(value).map_err(Error::from);
        for name in leaf.dns {
            params.subject_alt_names.push(SanType::DnsName(text(name)?));
        }
        for address in leaf.ip {
            params.subject_alt_names.push(SanType::IpAddress(*address));
        }
        if let Some(uri) = leaf.uri {
            params.subject_alt_names.push(SanType::URI(text(uri)?));
        }
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature, KeyUsagePurpose::KeyEncipherment];
        params.extended_key_usages =
            vec![ExtendedKeyUsagePurpose::ServerAuth, ExtendedKeyUsagePurpose::ClientAuth];
        params.use_authority_key_identifier_extension = true;
        let key = KeyPair::generate()?;
        let certificate = params.signed_by(&key, &self.issuer)?;
        Ok(Pair { certificate: certificate.pem(), key: key.serialize_pem() })
    }
}
