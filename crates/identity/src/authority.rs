//! A certificate authority that lives in memory: its key is made with it and is never written anywhere.

use crate::Spiffe;
use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DistinguishedName, DnType, ExtendedKeyUsagePurpose,
    IsCa, KeyPair, KeyUsagePurpose, SanType, string::Ia5String,
};
use std::time::{Duration, SystemTime};

/// Clocks that are a little behind must accept what was issued just now.
const BACKDATED: Duration = Duration::from_secs(120);
/// How long the authority itself is good.
const ROOT_LIFETIME: Duration = Duration::from_secs(10 * 365 * 24 * 3600);

/// Why there is no certificate.
#[derive(Debug, thiserror::Error)]
#[error("no certificate can be made for {of}")]
pub struct NotIssued {
    of: String,
    source: rcgen::Error,
}

pub struct Authority {
    issuer: CertifiedIssuer<'static, KeyPair>,
}

/// A key with a certificate for both sides of a connection. Says nothing of the key when it is printed.
#[derive(Clone)]
pub struct Certificate {
    pub identity: Spiffe,
    /// PEM, the leaf first.
    pub chain: String,
    /// PEM.
    pub key: String,
    pub from: SystemTime,
    pub until: SystemTime,
}

impl std::fmt::Debug for Certificate {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { identity, from, until, .. } = self;
        write!(out, "Certificate {{ {identity}, {from:?} to {until:?} }}")
    }
}

impl Authority {
    pub fn new(name: &str, now: SystemTime) -> Result<Self, NotIssued> {
        let mut params = CertificateParams::default();
        params.distinguished_name = DistinguishedName::new();
        params.distinguished_name.push(DnType::OrganizationName, name);
        params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
        params.not_before = (now - BACKDATED).into();
        params.not_after = (now + ROOT_LIFETIME).into();
        let issuer = KeyPair::generate().and_then(|key| CertifiedIssuer::self_signed(params, key));
        Ok(Self { issuer: issuer.map_err(|source| NotIssued { of: name.to_owned(), source })? })
    }

    /// Its own certificate, which proves all others: PEM.
    pub fn root(&self) -> String {
        self.issuer.pem()
    }

    pub fn issue(
        &self,
        identity: &Spiffe,
        now: SystemTime,
        lifetime: Duration,
    ) -> Result<Certificate, NotIssued> {
        let (from, until) = (now - BACKDATED, now + lifetime);
        let made = || {
            let mut params = CertificateParams::default();
            // The identity is in the URI alone; Envoy refuses a common name that is there and empty.
            params.distinguished_name = DistinguishedName::new();
            params.subject_alt_names = vec![SanType::URI(Ia5String::try_from(identity.to_string())?)];
            params.key_usages = vec![KeyUsagePurpose::DigitalSignature, KeyUsagePurpose::KeyEncipherment];
            params.extended_key_usages =
                vec![ExtendedKeyUsagePurpose::ServerAuth, ExtendedKeyUsagePurpose::ClientAuth];
            params.use_authority_key_identifier_extension = true;
            params.not_before = from.into();
            params.not_after = until.into();
            let key = KeyPair::generate()?;
            let certificate = params.signed_by(&key, &self.issuer)?;
            Ok((certificate.pem(), key.serialize_pem()))
        };
        let (chain, key) = made().map_err(|source| NotIssued { of: identity.to_string(), source })?;
        Ok(Certificate { identity: identity.clone(), chain, key, from: now, until })
    }
}

impl Certificate {
    /// When half of its life is over, as Istio's agent does it.
    pub fn renew_at(&self) -> SystemTime {
        let life = self.until.duration_since(self.from).unwrap_or_default();
        self.from + life / 2
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use x509_parser::{parse_x509_certificate, pem::parse_x509_pem, prelude::GeneralName};

    #[test]
    fn a_certificate_says_who_it_is_for_and_until_when_and_is_signed_by_its_authority() {
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_800_000_000);
        let authority = Authority::new("test", now).unwrap();
        let identity = Spiffe::new("cluster.local", "shop", "cart");
        let issued = authority.issue(&identity, now, Duration::from_secs(3600)).unwrap();
        let (_, leaf) = parse_x509_pem(issued.chain.as_bytes()).unwrap();
        let (_, root) =
            parse_x509_pem(authority.root().as_bytes()).map(|(rest, pem)| (rest.to_vec(), pem)).unwrap();
        let (_, leaf) = parse_x509_certificate(&leaf.contents).unwrap();
        let (_, root) = parse_x509_certificate(&root.contents).unwrap();
        assert_eq!(leaf.issuer(), root.subject());
        assert!(root.is_ca() && !leaf.is_ca());
        let names = leaf.subject_alternative_name().unwrap().unwrap().value.general_names.clone();
        assert_eq!(names, [GeneralName::URI("spiffe://cluster.local/ns/shop/sa/cart")]);
        assert_eq!(leaf.validity().not_after.timestamp(), 1_800_003_600);
        assert_eq!(issued.renew_at(), now + Duration::from_secs(1800));
    }

    #[test]
    fn a_key_is_not_printed() {
        let now = SystemTime::now();
        let authority = Authority::new("test", now).unwrap();
        let issued = authority.issue(&Spiffe::new("a", "b", "c"), now, Duration::from_secs(60)).unwrap();
        assert!(!format!("{issued:?}").contains("KEY"));
    }
}
