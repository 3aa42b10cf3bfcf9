//! `spiffe://cluster.local/ns/shop/sa/cart`: the name of a workload, made of its trust domain, namespace and service account.

use std::{fmt, str::FromStr};

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Spiffe {
    pub trust_domain: String,
    pub namespace: String,
    pub service_account: String,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not of the form spiffe://TRUST-DOMAIN/ns/NAMESPACE/sa/SERVICE-ACCOUNT")]
pub struct NoSpiffe(String);

impl Spiffe {
    pub fn new(trust_domain: &str, namespace: &str, service_account: &str) -> Self {
        Self {
            trust_domain: trust_domain.to_owned(),
            namespace: namespace.to_owned(),
            service_account: service_account.to_owned(),
        }
    }
}

impl fmt::Display for Spiffe {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { trust_domain, namespace, service_account } = self;
        write!(out, "spiffe://{trust_domain}/ns/{namespace}/sa/{service_account}")
    }
}

impl FromStr for Spiffe {
    type Err = NoSpiffe;

    fn from_str(text: &str) -> Result<Self, NoSpiffe> {
        let parts: Option<Vec<&str>> = text.strip_prefix("spiffe://").map(|rest| rest.split('/').collect());
        match parts.as_deref() {
            Some([domain, "ns", namespace, "sa", account])
                if [domain, namespace, account].iter().all(|part| !part.is_empty()) =>
            {
                Ok(Self::new(domain, namespace, account))
            }
            _ => Err(NoSpiffe(text.chars().take(200).collect())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_read_as_it_is_written() {
        let name = Spiffe::new("cluster.local", "shop", "cart");
        assert_eq!(name.to_string(), "spiffe://cluster.local/ns/shop/sa/cart");
        assert_eq!(name.to_string().parse(), Ok(name));
    }

    #[test]
    fn what_is_no_name_is_refused() {
        for text in [
            "",
            "spiffe://",
            "spiffe://a/ns//sa/b",
            "http://a/ns/b/sa/c",
            "spiffe://a/ns/b/sa/c/d",
            "spiffe://a/sa/b/ns/c",
        ] {
            assert!(text.parse::<Spiffe>().is_err(), "{text}");
        }
    }
}
