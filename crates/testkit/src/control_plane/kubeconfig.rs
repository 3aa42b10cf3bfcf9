//! Kubeconfigs, with everything inside: they are read by processes in other namespaces and by tests.

use base64::{Engine, engine::general_purpose::STANDARD};
use serde_json::{Value, json};

use super::{Access, ControlPlane};
use crate::{
    error::{During, Result},
    pki::Pair,
};

/// How somebody proves who they are.
#[derive(Clone)]
pub enum Credentials {
    Certificate(Pair),
    Token(String),
}

impl Credentials {
    /// The user of a kubeconfig.
    pub(super) fn user(&self) -> Value {
        match self {
            Self::Certificate(pair) => json!({
                "client-certificate-data": STANDARD.encode(&pair.certificate),
                "client-key-data": STANDARD.encode(&pair.key),
            }),
            Self::Token(token) => json!({ "token": token }),
        }
    }
}

/// The text of a kubeconfig. It is JSON, which every reader of YAML takes.
pub fn kubeconfig(url: &str, authority_pem: &str, credentials: &Credentials) -> String {
    let cluster = json!({ "server": url, "certificate-authority-data": STANDARD.encode(authority_pem) });
    let config = json!({
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{ "name": "testkit", "cluster": cluster }],
        "users": [{ "name": "user", "user": credentials.user() }],
        "contexts": [{ "name": "testkit", "context": { "cluster": "testkit", "user": "user" } }],
        "current-context": "testkit",
    });
    config.to_string()
}

impl ControlPlane {
    pub(super) fn write_kubeconfigs(&self) -> Result<()> {
        let mut names = vec!["admin", "controller-manager", "scheduler"];
        if self.settings.node.is_some() {
            names.extend(["kubelet", "proxy"]);
        }
        for name in names {
            let text = self.kubeconfig_as(name, &self.url())?;
            std::fs::write(self.kubeconfig_file(name), text).during("write a kubeconfig")?;
        }
        Ok(())
    }

    /// The kubeconfig of one of the certificates, for an API server that is reached by another address
    /// (its certificate holds `localhost` and `127.0.0.1` in any case).
    pub fn kubeconfig_as(&self, name: &str, url: &str) -> Result<String> {
        Ok(self.access(name, url)?.kubeconfig())
    }

    /// Access with one of the certificates: `admin`, …
    pub fn access(&self, name: &str, url: &str) -> Result<Access> {
        let read = |end: &str| {
            std::fs::read_to_string(self.certificate_file(&format!("{name}.{end}")))
                .during(format_args!("read the certificate of {name}"))
        };
        let credentials = Credentials::Certificate(Pair { certificate: read("crt")?, key: read("key")? });
        Ok(Access { url: url.to_owned(), authority: self.authority.certificate(), credentials })
    }
}
