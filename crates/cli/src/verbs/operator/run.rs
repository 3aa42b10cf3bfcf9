//! `operator run`: the process. Its environment is that of Istio's operator.

use super::{frugal, sources};
use crate::{
    args::{connection, duration, mesh::ChartsTyped},
    build,
    exit::Exit,
    failure::{Hint, Usage},
};
use anyhow::{Context, Result};
use clap::{ArgAction, Args, ValueEnum};
use mizzen_operator::{
    IstioOperators, Istios, Options, Pace,
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
    /// Which resources it looks at; both, each as soon as it is defined in the cluster, if this is not given
    #[arg(long, value_name = "KIND")]
    kind: Option<Kind>,

    #[command(flatten)]
    charts: ChartsTyped,

    /// Upstream's charts, for `Istio` resources with `spec.mizzen.distribution: istio`; may be repeated for several versions,
    /// or name a folder that has several
    #[arg(long = "istio-manifests", value_name = "DIR")]
    istio_manifests: Vec<String>,

    /// Grant what `Istio` resources ask for under `spec.experimental`
    #[arg(long)]
    experimental: bool,

    /// Work only while the lease is ours, so that of several operators one works
    #[arg(long = "leader-elect", value_name = "BOOL", default_value_t = true)]
    #[arg(num_args = 0..=1, require_equals = true, default_missing_value = "true", action = ArgAction::Set)]
    elects: bool,

    #[command(flatten)]
    pages: Pages,

    #[command(flatten)]
    pace: PaceTyped,

    #[command(flatten)]
    connection: connection::Typed,

    #[command(flatten)]
    ignored: Ignored,
}

/// Health (`/healthz`, `/readyz`) and metrics (`/metrics`) are at each of these addresses.
#[derive(Args)]
#[group(skip)]
#[command(next_help_heading = "Health and metrics")]
struct Pages {
    /// The address of health and metrics
    #[arg(long = "monitoring-host", value_name = "ADDRESS", default_value = "0.0.0.0")]
    host: String,

    /// Their port; 0 for none [default: 8383, if no other address is given]
    #[arg(long = "monitoring-port", value_name = "PORT")]
    port: Option<u16>,

    /// Metrics here, as Kyma's operator has it: `:8080`, or 0 for none
    #[arg(long = "metrics-bind-address", value_name = "ADDRESS")]
    metrics: Option<String>,

    /// Health here, as Kyma's operator has it: `:8081`, or 0 for none
    #[arg(long = "health-probe-bind-address", value_name = "ADDRESS")]
    health: Option<String>,
}

impl Pages {
    /// Each once.
    fn addresses(&self) -> Vec<String> {
        let further = [&self.metrics, &self.health].into_iter().flatten();
        let port = self.port.unwrap_or(if further.clone().next().is_none() { 8383 } else { 0 });
        let own = (port != 0).then(|| format!("{}:{port}", self.host));
        let mut all: Vec<String> = own.into_iter().chain(further.cloned()).collect();
        all.retain(|address| address != "0");
        all.dedup();
        all
    }
}

#[derive(Args)]
#[group(skip)]
#[command(next_help_heading = "When `Istio` resources are looked at")]
struct PaceTyped {
    /// When it is looked at again though nothing has happened
    #[arg(long, value_name = "DURATION", default_value = "10h", value_parser = duration::above_zero)]
    reconciliation_interval: Duration,

    /// When it is tried again after a failure, doubled each time
    #[arg(long, value_name = "DURATION", default_value = "1s", value_parser = duration::above_zero)]
    failure_base_delay: Duration,

    /// The longest that it becomes
    #[arg(long, value_name = "DURATION", default_value = "1000s", value_parser = duration::above_zero)]
    failure_max_delay: Duration,

    /// So many failures of all resources together are tried again by that alone
    #[arg(long, value_name = "COUNT", default_value_t = 200, value_parser = clap::value_parser!(u32).range(1..))]
    rate_limiter_burst: u32,

    /// And so many more each second
    #[arg(long, value_name = "COUNT", default_value_t = 30, value_parser = clap::value_parser!(u32).range(1..))]
    rate_limiter_frequency: u32,
}

impl PaceTyped {
    fn meant(&self) -> Pace {
        Pace {
            regular: self.reconciliation_interval,
            blocked: Duration::from_secs(60),
            noted: Duration::from_secs(3600),
            first: self.failure_base_delay,
            longest: self.failure_max_delay,
            burst: self.rate_limiter_burst,
            frequency: self.rate_limiter_frequency,
        }
    }
}

/// Istio's and Kyma's, without an effect here.
#[derive(Args)]
#[group(skip)]
struct Ignored {
    #[arg(long, hide = true)]
    force: bool,
    #[arg(long = "max-concurrent-reconciles", hide = true)]
    max_concurrent_reconciles: Option<u32>,
    #[arg(long = "zap-devel", hide = true, num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    zap_devel: Option<bool>,
    #[arg(long = "zap-stacktrace-level", hide = true)]
    zap_stacktrace_level: Option<String>,
    #[arg(long = "zap-time-encoding", hide = true)]
    zap_time_encoding: Option<String>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
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
        frugal::again();
        let Environment { lease_namespace, holder, renew_deadline, patience, .. } = environment;
        let charts = typed.charts.open(typed.charts.manifests.as_deref())?;
        let places = typed.istio_manifests.iter().flat_map(|place| sources::of(place));
        let clients = places.map(|place| Ok(IstioClient::new(typed.charts.open(Some(&place))?)));
        let istio = IstioManager::new(clients.collect::<Result<_>>()?).map_err(Usage)?;
        let connection = typed.connection.connect()?;
        let home = |own: &str| lease_namespace.clone().unwrap_or_else(|| own.to_owned());
        let istio_operators = (typed.kind != Some(Kind::Istio)).then(|| IstioOperators {
            revision: environment.revision,
            namespaces: environment.namespaces,
            lease_namespace: home("istio-operator"),
        });
        let istios = (typed.kind != Some(Kind::IstioOperator)).then(|| Istios {
            settings: istio::Settings {
                istio,
                images: environment.images,
                pull_secret: environment.pull_secret,
                experimental: typed.experimental,
                pace: typed.pace.meant(),
            },
            lease_namespace: home(istio::NAMESPACE),
        });
        let options = Options {
            charts,
            version: build::VERSION.to_owned(),
            istio_operators,
            istios,
            when_defined: typed.kind.is_none(),
            holder,
            elects: typed.elects,
            renew_deadline,
            patience,
            addresses: typed.pages.addresses(),
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
    lease_namespace: Option<String>,
    holder: String,
    renew_deadline: Duration,
    patience: Duration,
}

impl Environment {
    /// An empty variable counts as not set.
    fn read(kind: Option<Kind>, variable: impl Fn(&str) -> Option<String>) -> Result<Self> {
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
        let images = match kind {
            Some(Kind::IstioOperator) => None,
            _ => Images::read(&variable).map_err(|why| Usage(why.to_string()))?,
        };
        Ok(Self {
            images,
            pull_secret: text("SKR_IMG_PULL_SECRET"),
            revision: text("REVISION").filter(|name| name != "default").unwrap_or_default(),
            namespaces: namespaces.map(str::to_owned).collect(),
            lease_namespace: text("LEADER_ELECTION_NAMESPACE").or_else(|| text("POD_NAMESPACE")),
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
        Environment::read(None, |name| find(name).map(|(_, value)| (*value).to_owned()))
    }

    #[test]
    fn a_resource_is_looked_at_again_as_kymas_operator_does() {
        #[derive(clap::Parser)]
        struct Line {
            #[command(flatten)]
            pace: PaceTyped,
        }
        let seconds = |line: &[&str]| {
            let Pace { regular, blocked, noted, first, longest, burst, frequency } =
                <Line as clap::Parser>::try_parse_from(line).unwrap().pace.meant();
            let times = [regular, blocked, noted, first, longest].map(|time| time.as_secs());
            (times, burst, frequency)
        };
        assert_eq!(seconds(&["run"]), ([36_000, 60, 3600, 1, 1000], 200, 30));
        let given = [
            "run",
            "--reconciliation-interval",
            "5s",
            "--failure-max-delay",
            "2s",
            "--rate-limiter-burst",
            "9",
        ];
        assert_eq!(seconds(&given), ([5, 60, 3600, 1, 2], 9, 30));
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
        assert_eq!(
            (environment.lease_namespace.as_deref(), environment.revision.as_str()),
            (Some("here"), "canary")
        );
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
        assert_eq!(environment.lease_namespace, None, "each kind has its own");
    }

    #[test]
    fn health_and_metrics_are_where_either_way_of_saying_it_says() {
        let addresses = |port: Option<u16>, metrics: Option<&str>, health: Option<&str>| {
            let host = "h".to_owned();
            Pages { host, port, metrics: metrics.map(Into::into), health: health.map(Into::into) }.addresses()
        };
        assert_eq!(addresses(None, None, None), ["h:8383"]);
        assert_eq!(addresses(Some(0), None, None), [""; 0]);
        assert_eq!(addresses(None, Some(":8080"), Some(":8081")), [":8080", ":8081"]);
        assert_eq!(addresses(Some(1), Some(":8080"), Some(":8080")), ["h:1", ":8080"]);
        assert_eq!(addresses(None, Some("0"), Some("0")), [""; 0]);
    }
}
