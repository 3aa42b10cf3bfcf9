//! Which cluster to work on, and as whom: istioctl's options, the same for every verb that asks a cluster.

use crate::failure::Hint;
use anyhow::{Context, Result, anyhow};
use mizzen_cluster::{Access, Cluster, Refused, connect};
use std::{env, future::Future, path::PathBuf, sync::Arc, time::Duration};
use tokio::{
    runtime::{Builder, Runtime},
    time::timeout,
};

/// Under this name our fields are ours.
pub(crate) const MANAGER: &str = "mizzen";

#[derive(clap::Args)]
#[group(skip)]
#[command(next_help_heading = "Which cluster")]
pub(crate) struct Typed {
    /// The kubeconfig file [default: what KUBECONFIG names, then the service account of the pod, then ~/.kube/config]
    #[arg(short = 'c', long, value_name = "FILE")]
    kubeconfig: Option<PathBuf>,

    /// A context of the kubeconfig instead of its current one
    #[arg(long, value_name = "NAME")]
    context: Option<String>,

    /// Work with the rights of this user
    #[arg(long = "as", value_name = "USER", hide_short_help = true)]
    as_user: Option<String>,

    /// Work with the rights of this group, too; needs --as
    #[arg(long, value_name = "GROUP", hide_short_help = true, requires = "as_user")]
    as_group: Vec<String>,

    // istioctl's, without an effect here.
    #[arg(long, hide = true)]
    as_uid: Option<String>,
    #[arg(long, hide = true)]
    kubeclient_timeout: Option<String>,
    #[arg(long, hide = true)]
    vklog: Option<String>,
}

/// A cluster, and what runs the work on it.
pub(crate) struct Connection {
    runtime: Runtime,
    pub(crate) cluster: Arc<Cluster>,
}

impl Typed {
    pub(crate) fn connect(self) -> Result<Connection> {
        self.connect_within(None)
    }

    /// With fields under another name than the installer's.
    pub(crate) fn connect_as(self, manager: &str) -> Result<Connection> {
        self.connection(manager, None)
    }

    /// Whether a cluster was named, or is by the environment.
    pub(crate) fn names_one(&self) -> bool {
        let set = |name: &str| env::var_os(name).filter(|value| !value.is_empty());
        let usual = || set("HOME").is_some_and(|home| PathBuf::from(home).join(".kube/config").exists());
        self.kubeconfig.is_some() || self.context.is_some() || set("KUBECONFIG").is_some() || usual()
    }

    /// For whoever would rather go on without a cluster than wait for one.
    pub(crate) fn connect_within(self, limit: Option<Duration>) -> Result<Connection> {
        self.connection(MANAGER, limit)
    }

    fn connection(self, manager: &str, limit: Option<Duration>) -> Result<Connection> {
        let access = Access {
            kubeconfig: self.kubeconfig.filter(|path| !path.as_os_str().is_empty()),
            context: self.context.filter(|name| !name.is_empty()),
            as_user: self.as_user,
            as_groups: self.as_group,
        };
        let runtime =
            Builder::new_current_thread().enable_all().build().context("no runtime can be started")?;
        let connected = async {
            let client = connect(&access).await.map_err(|error| {
                error.hint("name a kubeconfig with --kubeconfig, and one of its contexts with --context")
            })?;
            Cluster::new(client, manager).await.map_err(refused)
        };
        let cluster = runtime.block_on(async {
            match limit {
                None => connected.await,
                Some(limit) => timeout(limit, connected).await.unwrap_or_else(|_| {
                    Err(anyhow!("the cluster does not answer within {} s", limit.as_secs()))
                }),
            }
        })?;
        Ok(Connection { runtime, cluster: Arc::new(cluster) })
    }
}

impl Connection {
    pub(crate) fn run<T>(&self, work: impl Future<Output = T>) -> T {
        self.runtime.block_on(work)
    }
}

/// With what a person can do about it.
pub(crate) fn refused(refused: Refused) -> anyhow::Error {
    let hint = match &refused {
        Refused::Unreachable { .. } => {
            "is the cluster running, and is it the one meant? --kubeconfig and --context choose another"
        }
        Refused::Unauthorized(_) => {
            "the credentials of the kubeconfig may have expired: log in again, or choose another with --context"
        }
        Refused::Forbidden { .. } => "ask for that right, or choose another user with --context",
        _ => return refused.into(),
    };
    refused.hint(hint)
}
