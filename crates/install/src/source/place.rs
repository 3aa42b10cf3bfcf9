//! What a user wrote for `--manifests` → what kind of place it is.

use std::path::PathBuf;

use super::{error::SourceError, oci::Reference};

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Place {
    BuiltIn,
    Path(PathBuf),
    /// A `.tgz` behind a URL.
    Archive(String),
    /// A URL under which there is an `index.yaml`.
    Repository(String),
    Registry(Reference),
}

impl Place {
    pub(super) fn parse(text: &str) -> Result<Self, SourceError> {
        let refuse = |why: &str| Err(SourceError::Place { text: text.to_owned(), why: why.to_owned() });
        if text.is_empty() {
            return Ok(Self::BuiltIn);
        }
        if let Some(reference) = text.strip_prefix("oci://") {
            return match Reference::parse(reference) {
                Some(reference) => Ok(Self::Registry(reference)),
                None => refuse("write oci://HOST/PATH, with :TAG or @sha256:… behind it where you want one"),
            };
        }
        let Some((scheme, rest)) = text.split_once("://") else { return Ok(Self::Path(PathBuf::from(text))) };
        let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
        match scheme {
            "https" | "http" if host.is_empty() => refuse("the host is missing"),
            "https" | "http" if host.contains('@') => refuse("a URL with a password in it is not taken"),
            "http" if !is_loopback(host) => {
                refuse("plain http is only taken from this machine; write https://")
            }
            "https" | "http" if ends_as_archive(rest) => Ok(Self::Archive(text.to_owned())),
            "https" | "http" => Ok(Self::Repository(text.trim_end_matches('/').to_owned())),
            _ => refuse("it may be a folder, a .tgz, https://… or oci://…"),
        }
    }
}

fn ends_as_archive(rest: &str) -> bool {
    let path = rest.split(['?', '#']).next().unwrap_or_default();
    path.ends_with(".tgz") || path.ends_with(".tar.gz")
}

/// This machine: where nobody listens on the way.
pub(super) fn is_loopback(host: &str) -> bool {
    let name = match host.strip_prefix('[') {
        Some(address) => address.split(']').next().unwrap_or_default(),
        None => host.rsplit_once(':').map_or(host, |(name, _)| name),
    };
    name == "localhost" || name.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_known_by_how_it_is_written() {
        let url = |text: &str| text.to_owned();
        for (text, wanted) in [
            ("", Place::BuiltIn),
            ("manifests", Place::Path("manifests".into())),
            ("./istio-1.26.0.tgz", Place::Path("./istio-1.26.0.tgz".into())),
            ("https://charts.example/istio/", Place::Repository(url("https://charts.example/istio"))),
            (
                "https://charts.example/base-1.0.tgz",
                Place::Archive(url("https://charts.example/base-1.0.tgz")),
            ),
            ("https://x.example/a.tar.gz?token=1", Place::Archive(url("https://x.example/a.tar.gz?token=1"))),
            ("http://127.0.0.1:80/x", Place::Repository(url("http://127.0.0.1:80/x"))),
            ("http://[::1]:80/x", Place::Repository(url("http://[::1]:80/x"))),
        ] {
            assert_eq!(Place::parse(text).unwrap(), wanted, "{text}");
        }
        assert!(matches!(Place::parse("oci://r.example/charts:1.0").unwrap(), Place::Registry(_)));
    }

    #[test]
    fn what_is_no_place_is_told_with_the_way_out() {
        for (text, told) in [
            ("http://charts.example/x", "plain http is only taken from this machine"),
            ("http://127.0.0.1.evil.example/x", "plain http is only taken from this machine"),
            ("https:///x", "the host is missing"),
            ("https://me:secret@x.example/", "a password in it"),
            ("ftp://x.example/", "it may be a folder"),
            ("oci://", "write oci://HOST/PATH"),
            ("oci://host", "write oci://HOST/PATH"),
            ("oci://host/a@sha256:12", "write oci://HOST/PATH"),
            ("oci://host/a b", "write oci://HOST/PATH"),
        ] {
            let error = Place::parse(text).unwrap_err().to_string();
            assert!(error.contains(told), "{text}: {error}");
        }
    }
}
