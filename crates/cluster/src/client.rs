//! The way in: a kubeconfig, or the service account of the pod that this process runs in.

use http::{HeaderValue, header};
use kube::{
    Client, Config,
    config::{KubeConfigOptions, Kubeconfig},
};
use std::{env, path::PathBuf, time::Duration};

#[derive(Clone, Debug, Default)]
pub struct Access {
    /// Without it what `KUBECONFIG` names, then the service account of the pod, then `~/.kube/config`.
    pub kubeconfig: Option<PathBuf>,
    /// One of the kubeconfig's, instead of its current one.
    pub context: Option<String>,
    /// Whose rights to use instead of one's own.
    pub as_user: Option<String>,
    pub as_groups: Vec<String>,
}

#[derive(Debug, thiserror::Error)]
pub enum NoClient {
    #[error("the kubeconfig {path} cannot be used: {reason}")]
    Kubeconfig { path: PathBuf, reason: String },
    #[error("there is no way to a cluster: {0}")]
    Nowhere(String),
    #[error("no client can be made of the kubeconfig: {0}")]
    Client(String),
}

const AGENT: &str = concat!("mizzen/", env!("CARGO_PKG_VERSION"));
/// How long a connection may take to be made.
const CONNECT: Duration = Duration::from_secs(5);

pub async fn connect(access: &Access) -> Result<Client, NoClient> {
    let options = KubeConfigOptions { context: access.context.clone(), ..KubeConfigOptions::default() };
    let mut config = match &access.kubeconfig {
        Some(path) => {
            let broken = |reason: String| NoClient::Kubeconfig { path: path.clone(), reason };
            let kubeconfig = Kubeconfig::read_from(path).map_err(|error| broken(error.to_string()))?;
            Config::from_custom_kubeconfig(kubeconfig, &options)
                .await
                .map_err(|error| broken(error.to_string()))?
        }
        // Whoever names files means them, in a pod, too; those that are not there are passed by, as kubectl does.
        None if let Some(kubeconfig) = named_files()? => Config::from_custom_kubeconfig(kubeconfig, &options)
            .await
            .map_err(|error| NoClient::Nowhere(error.to_string()))?,
        None if access.context.is_some() => {
            Config::from_kubeconfig(&options).await.map_err(|error| NoClient::Nowhere(error.to_string()))?
        }
        None => match Config::incluster() {
            Ok(config) => config,
            Err(_) => Config::from_kubeconfig(&options)
                .await
                .map_err(|error| NoClient::Nowhere(error.to_string()))?,
        },
    };
    if let Some(user) = &access.as_user {
        config.auth_info.impersonate = Some(user.clone());
        config.auth_info.impersonate_groups = Some(access.as_groups.clone());
    }
    // So that an audit log says who it was.
    config.headers.push((header::USER_AGENT, HeaderValue::from_static(AGENT)));
    config.connect_timeout = Some(CONNECT);
    // A watch is silent for long; whoever reads limits its own waiting. And a reflector waits and tries again by itself.
    config.read_timeout = None;
    config.default_retry = false;
    Client::try_from(config).map_err(|error| NoClient::Client(error.to_string()))
}

/// What `KUBECONFIG` names, one file or several.
fn named_files() -> Result<Option<Kubeconfig>, NoClient> {
    let named = env::var_os("KUBECONFIG").unwrap_or_default();
    let mut all: Option<Kubeconfig> = None;
    for path in env::split_paths(&named).filter(|path| path.is_file()) {
        let broken = |reason: String| NoClient::Kubeconfig { path: path.clone(), reason };
        let next = Kubeconfig::read_from(&path).map_err(|error| broken(error.to_string()))?;
        all = Some(match all {
            Some(all) => all.merge(next).map_err(|error| broken(error.to_string()))?,
            None => next,
        });
    }
    Ok(all)
}
