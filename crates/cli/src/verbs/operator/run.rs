//! `operator run`: the process. Its environment is that of Istio's operator.

use crate::{
    args::{connection, duration, mesh::ChartsTyped},
    build,
    exit::Exit,
    failure::{Hint, Usage},
};
use anyhow::{Context, Result};
use clap::{Args, ValueEnum};
use mizzen_operator::Options;
use std::{
    env, process,
    sync::Arc,
    time::{Duration, SystemTime, UNIX_EPOCH},
};
use tokio::signal::unix::{SignalKind, signal};

#[derive(Args)]
pub(crate) struct Typed {
    /// Which resources it looks at
    #[arg(long, value_name = "KIND", default_value = "IstioOperator")]
    kind: Kind,

    /// The address of health and metrics
    #[arg(long = "monitoring-host", value_name = "ADDRESS", default_value = "0.0.0.0")]
    host: String,

    /// Their port; 0 for none
    #[arg(long = "monitoring-port", value_name = "PORT", default_value_t = 8383)]
    port: u16,

    #[command(flatten)]
    charts: ChartsTyped,

    #[command(flatten)]
    connection: connection::Typed,

    // Istio's, without an effect here.
    #[arg(long, hide = true)]
    force: bool,
    #[arg(long = "max-concurrent-reconciles", hide = true)]
    max_concurrent_reconciles: Option<u32>,
}

#[derive(Clone, Copy, ValueEnum)]
enum Kind {
    #[value(name = "IstioOperator")]
    IstioOperator,
}

pub(crate) struct Run {
    typed: Typed,
    environment: Environment,
}

impl Run {
    pub(super) fn meant(typed: Typed) -> Result<Self> {
        // The only kind today.
        let Kind::IstioOperator = typed.kind;
        Ok(Self { typed, environment: Environment::read(|name| env::var(name).ok())? })
    }

    pub(super) fn run(self) -> Result<Exit> {
        let Self { typed, environment } = self;
        let charts = typed.charts.open(typed.charts.manifests.as_deref())?;
        let connection = typed.connection.connect()?;
        let options = Options {
            charts,
            version: build::VERSION.to_owned(),
            revision: environment.revision,
            namespaces: environment.namespaces,
            lease_namespace: environment.lease_namespace,
            holder: environment.holder,
            renew_deadline: environment.renew_deadline,
            patience: environment.patience,
            address: (typed.port != 0).then(|| format!("{}:{}", typed.host, typed.port)),
        };
        connection.run(async {
            let mut terminate = signal(SignalKind::terminate()).context("cannot wait for signals")?;
            let mut interrupt = signal(SignalKind::interrupt()).context("cannot wait for signals")?;
            let end = async move {
                tokio::select! {
                    _ = terminate.recv() => {}
                    _ = interrupt.recv() => {}
                }
            };
            let done = Box::pin(mizzen_operator::run(Arc::clone(&connection.cluster), options, end)).await;
            done.map_err(|failed| {
                failed.hint("give another --monitoring-port, or 0 to do without health and metrics")
            })
        })?;
        Ok(Exit::Done)
    }
}

/// The variables of Istio's operator.
#[derive(Debug)]
struct Environment {
    revision: String,
    namespaces: Vec<String>,
    lease_namespace: String,
    holder: String,
    renew_deadline: Duration,
    patience: Duration,
}

impl Environment {
    /// An empty variable counts as not set.
    fn read(variable: impl Fn(&str) -> Option<String>) -> Result<Self> {
        let text = |name: &str| variable(name).filter(|value| !value.is_empty());
        let span = |name: &str, otherwise: u64| match text(name) {
            None => Ok(Duration::from_secs(otherwise)),
            Some(value) => duration::read(&value)
                .map_err(|why| Usage(format!("{name} is {value:?}, which is no duration: {why}"))),
        };
        let namespaces = text("WATCH_NAMESPACE").unwrap_or_default();
        let namespaces = namespaces.split(',').map(str::trim).filter(|name| !name.is_empty());
        let pod = text("POD_NAME").or_else(|| text("HOSTNAME")).unwrap_or_else(|| "mizzen".to_owned());
        // A pod that starts anew is another process, and must not take itself for the one that was killed.
        let born = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
        Ok(Self {
            revision: text("REVISION").filter(|name| name != "default").unwrap_or_default(),
            namespaces: namespaces.map(str::to_owned).collect(),
            lease_namespace: text("LEADER_ELECTION_NAMESPACE")
                .or_else(|| text("POD_NAMESPACE"))
                .unwrap_or_else(|| "istio-operator".to_owned()),
            holder: format!("{pod}_{:x}_{born:x}", process::id()),
            renew_deadline: span("RENEW_DEADLINE", 10)?,
            patience: span("WAIT_FOR_RESOURCES_TIMEOUT", 300)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(variables: &[(&str, &str)]) -> Result<Environment> {
        let find = |name: &str| variables.iter().find(|(known, _)| *known == name);
        Environment::read(|name| find(name).map(|(_, value)| (*value).to_owned()))
    }

    #[test]
    fn variables_are_istios() {
        let environment = read(&[
            ("WATCH_NAMESPACE", "istio-system, other"),
            ("LEADER_ELECTION_NAMESPACE", "here"),
            ("REVISION", "canary"),
            ("WAIT_FOR_RESOURCES_TIMEOUT", "20s"),
            ("RENEW_DEADLINE", "1m"),
            ("POD_NAME", "pod"),
        ])
        .unwrap();
        assert_eq!(environment.namespaces, ["istio-system", "other"]);
        assert_eq!((environment.lease_namespace.as_str(), environment.revision.as_str()), ("here", "canary"));
        assert_eq!((environment.patience.as_secs(), environment.renew_deadline.as_secs()), (20, 60));
        assert!(environment.holder.starts_with("pod_"), "{}", environment.holder);
    }

    #[test]
    fn nothing_set_means_all_namespaces_and_nonsense_is_wrong_usage() {
        let environment = read(&[("REVISION", "default"), ("WATCH_NAMESPACE", "")]).unwrap();
        assert!(environment.namespaces.is_empty() && environment.revision.is_empty());
        assert_eq!(environment.patience.as_secs(), 300);
        let wrong = read(&[("RENEW_DEADLINE", "soon")]).unwrap_err();
        assert!(wrong.to_string().contains("RENEW_DEADLINE"), "{wrong}");
    }
}
