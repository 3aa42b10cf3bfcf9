//! How somebody reaches an API server, directly or through something in front of it: as a client of this process
//! and as a kubeconfig for others.

use http::Uri;
use kube::{Client, Config, config::AuthInfo};
use rustls::pki_types::{CertificateDer, pem::PemObject};

use super::kubeconfig::{Credentials, kubeconfig};
use crate::error::{Error, Result};

#[derive(Clone)]
pub struct Access {
    pub url: String,
    /// PEM of who signed the server's certificate.
    pub authority: String,
    pub credentials: Credentials,
}

impl Access {
    /// A kubeconfig's text.
    pub fn kubeconfig(&self) -> String {
        kubeconfig(&self.url, &self.authority, &self.credentials)
    }

    /// For tests that want other settings than [`Access::client`] has.
    pub fn config(&self) -> Result<Config> {
        let url: Uri =
            self.url.parse().map_err(|error| Error::other(format_args!("{}: {error}", self.url)))?;
        let authority = CertificateDer::from_pem_slice(self.authority.as_bytes())
            .map_err(|error| Error::other(format_args!("the authority's certificate: {error}")))?;
        let mut config = Config::new(url);
        config.root_cert = Some(vec![authority.to_vec()]);
        config.auth_info =
            serde_json::from_value::<AuthInfo>(self.credentials.user()).map_err(Error::other)?;
        Ok(config)
    }

    /// A client is bound to the runtime that made it, so every test asks for its own.
    pub fn client(&self) -> Result<Client> {
        Ok(Client::try_from(self.config()?)?)
    }

    /// A client that is somebody else, by impersonation: the API server decides by that somebody's rights alone.
    pub fn client_as(&self, user: &str, groups: &[&str]) -> Result<Client> {
        let mut config = self.config()?;
        config.auth_info.impersonate = Some(user.to_owned());
        config.auth_info.impersonate_groups = Some(groups.iter().map(|group| (*group).to_owned()).collect());
        Ok(Client::try_from(config)?)
    }
}
