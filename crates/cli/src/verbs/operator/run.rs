//! `operator run`: the process. Its environment is that of Istio's operator.

use super::sources;
use crate::{
    args::{connection, duration, mesh::ChartsTyped},
    build,
    exit::Exit,
    failure::{Hint, Usage},
};
use anyhow::{Context, Result};
use clap::{Args, ValueEnum};
use mizzen_operator::{
    Options, Pace,
    istio::{self, client::IstioClient, images::Images, manager::IstioManager},
};
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

    /// Upstream's charts, for `Istio` resources with `spec.mizzen.distribution: istio`; may be repeated for several versions,
    /// or name a folder that has several
    #[arg(long = "istio-manifests", value_name = "DIR")]
    istio_manifests: Vec<String>,

    /// When an `Istio` resource is looked at again though nothing has happened
    #[arg(long, value_name = "DURATION", default_value = "10h", value_parser = duration::read)]
    reconciliation_interval: Duration,

    /// When an `Istio` resource is tried again after a failure, doubled each time
    #[arg(long, value_name = "DURATION", default_value = "1s", value_parser = duration::read)]
    failure_base_delay: Duration,

    /// The longest that it becomes
    #[arg(long, value_name = "DURATION", default_value = "1000s", value_parser = duration::read)]
    failure_max_delay: Duration,

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
    #[value(name = "Istio")]
    Istio,
}

pub(crate) struct Run {
    typed: Typed,
    environment: Environment,
}

impl Run {
    pub(super) fn meant(typed: Typed) -> Result<Self> {
        let environment = Environment::read(typed.kind, |name| env::var(name).ok())?;
        Ok(Self { typed, environment })
    }

    pub(super) fn run(self) -> Result<Exit> {
        let Self { typed, environment } = self;
        let charts = typed.charts.open(typed.charts.manifests.as_deref())?;
        let connection = typed.connection.connect()?;
        let kind = match typed.kind {
            Kind::IstioOperator => mizzen_operator::Kind::IstioOperator {
                revision: environment.revision,
                namespaces: environment.namespaces,
            },
            Kind::Istio => {
                let places = typed.istio_manifests.iter().flat_map(|place| sources::of(place));
                let clients = places.map(|place| Ok(IstioClient::new(typed.charts.open(Some(&place))?)));
                let istio = IstioManager::new(clients.collect::<Result<_>>()?).map_err(Usage)?;
                mizzen_operator::Kind::Istio(istio::Settings {
                    istio,
                    images: environment.images,
                    pull_secret: environment.pull_secret,
                    experimental: false,
                    pace: Pace {
                        regular: typed.reconciliation_interval,
                        blocked: Duration::from_secs(60),
                        noted: Duration::from_secs(3600),
                        first: typed.failure_base_delay,
                        longest: typed.failure_max_delay,
                    },
                })
            }
        };
        let options = Options {
            charts,
            version: build::VERSION.to_owned(),
            kind,
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

/// The variables of Istio's operator, and of Kyma's.
#[derive(Debug)]
struct Environment {
    images: Option<Images>,
    pull_secret: Option<String>,
    revision: String,
    namespaces: Vec<String>,
    lease_namespace: String,
    holder: String,
    renew_deadline: Duration,
    patience: Duration,
}

impl Environment {
    /// An empty variable counts as not set.
    fn read(kind: Kind, variable: impl Fn(&str) -> Option<String>) -> Result<Self> {
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
        let (home, images) = match kind {
            Kind::IstioOperator => ("istio-operator", None),
            Kind::Istio => (istio::NAMESPACE, Images::read(&variable).map_err(|why| Usage(why.to_string()))?),
        };
        Ok(Self {
            images,
            pull_secret: text("SKR_IMG_PULL_SECRET"),
            revision: text("REVISION").filter(|name| name != "default").unwrap_or_default(),
            namespaces: namespaces.map(str::to_owned).collect(),
            lease_namespace: text("LEADER_ELECTION_NAMESPACE")
                .or_else(|| text("POD_NAMESPACE"))
                .unwrap_or_else(|| home.to_owned()),
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
        Environment::read(Kind::Istio, |name| find(name).map(|(_, value)| (*value).to_owned()))
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
        let wrong = read(&[("pilot", "r/pilot:1")]).unwrap_err();
        assert!(wrong.to_string().contains("install-cni is not set"), "{wrong}");
        assert_eq!(environment.lease_namespace, "kyma-system");
    }
}
