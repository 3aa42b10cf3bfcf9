//! How it is typed: every flag of pilot-discovery's, a few of our own.

use super::{environment::Environment, wrong};
use crate::{args::duration, build::BUILD};
use anyhow::Result;
use clap::ValueEnum;
use mizzen_envoy::Filters;
use mizzen_pilot::{Access, Options};
use std::{path::PathBuf, time::Duration};

#[derive(clap::Args)]
pub(crate) struct Typed {
    /// A kubeconfig; without it the file that KUBECONFIG names, if there is one, then the service account of the pod
    #[arg(long, value_name = "FILE", help_heading = CLUSTER)]
    kubeconfig: Option<PathBuf>,

    /// A context of the kubeconfig
    #[arg(long, value_name = "NAME", help_heading = CLUSTER)]
    context: Option<String>,

    /// Where services come from: Kubernetes, or nothing to leave a cluster out
    #[arg(long, value_name = "LIST", default_value = "Kubernetes", value_delimiter = ',', help_heading = CLUSTER)]
    registries: Vec<String>,

    /// The namespace of the control plane [default: istio-system] [env: POD_NAMESPACE]
    #[arg(short, long, value_name = "NAME", help_heading = CLUSTER)]
    namespace: Option<String>,

    /// The cluster's domain
    #[arg(long, value_name = "NAME", default_value = "cluster.local", help_heading = CLUSTER)]
    domain: String,

    /// The name of the cluster [default: Kubernetes] [env: CLUSTER_ID]
    #[arg(long = "clusterID", value_name = "NAME", help_heading = CLUSTER)]
    cluster_id: Option<String>,

    /// A folder with Istio objects, used instead of the cluster's; without registries also Services, EndpointSlices, Pods, …; may be
    /// given several times
    #[arg(long = "configDir", value_name = "FOLDER", help_heading = FILES)]
    config_dirs: Vec<PathBuf>,

    /// The mesh's configuration; if there is no such file, the ConfigMap of the cluster
    #[arg(long = "meshConfig", value_name = "FILE", default_value = "./etc/istio/config/mesh", help_heading = FILES)]
    mesh_config: PathBuf,

    /// The mesh's networks; if there is no such file, the ConfigMap of the cluster
    #[arg(long = "networksConfig", value_name = "FILE", default_value = "./etc/istio/config/meshNetworks", help_heading = FILES)]
    networks_config: PathBuf,

    /// Where proxies connect, without TLS
    #[arg(long = "grpcAddr", value_name = "ADDRESS", default_value = ":15010", help_heading = ADDRESSES)]
    grpc: String,

    /// Readiness and debug pages
    #[arg(long = "httpAddr", value_name = "ADDRESS", default_value = ":8080", help_heading = ADDRESSES)]
    http: String,

    /// Metrics and debug pages
    #[arg(long = "monitoringAddr", value_name = "ADDRESS", default_value = ":15014", help_heading = ADDRESSES)]
    monitoring: String,

    /// A quiet connection is asked for a sign of life after this
    #[arg(long = "keepaliveInterval", value_name = "DURATION", default_value = "30s", value_parser = duration::read, help_heading = STREAMS)]
    keepalive_interval: Duration,

    /// A connection that gives none within this is closed
    #[arg(long = "keepaliveTimeout", value_name = "DURATION", default_value = "10s", value_parser = duration::read, help_heading = STREAMS)]
    keepalive_timeout: Duration,

    /// A connection is closed in good order when it is this old [default: never]
    #[arg(long = "keepaliveMaxServerConnectionAge", value_name = "DURATION", value_parser = duration::read, help_heading = STREAMS)]
    max_age: Option<Duration>,

    /// How long streams may take to end when the process does
    #[arg(long = "shutdownDuration", value_name = "DURATION", default_value = "10s", value_parser = duration::read, help_heading = STREAMS)]
    shutdown: Duration,

    /// Whose filters proxies have: those of Envoy as it is released, or Istio's own besides
    #[arg(long, value_name = "WHOSE", default_value = "stock", help_heading = STREAMS)]
    filters: Whose,

    #[command(flatten)]
    idle: Idle,
}

const CLUSTER: &str = "Cluster";
const FILES: &str = "Files";
const ADDRESSES: &str = "Addresses; an empty one is not served";
const STREAMS: &str = "Proxies";

#[derive(Clone, Copy, ValueEnum)]
enum Whose {
    Stock,
    Istio,
}

// pilot-discovery's flags that change nothing here, or nothing yet. (A doc comment would become the verb's help.)
#[derive(clap::Args)]
#[group(skip)]
struct Idle {
    #[arg(long = "secureGRPCAddr", hide = true)]
    secure_grpc: Option<String>,
    #[arg(long = "httpsAddr", hide = true)]
    https: Option<String>,
    #[arg(long = "ctrlz_port", hide = true)]
    ctrlz_port: Option<u16>,
    #[arg(long = "ctrlz_address", hide = true)]
    ctrlz_address: Option<String>,
    #[arg(long = "kubernetesApiQPS", hide = true)]
    qps: Option<f32>,
    #[arg(long = "kubernetesApiBurst", hide = true)]
    burst: Option<u32>,
    #[arg(long = "clusterAliases", hide = true)]
    cluster_aliases: Option<String>,
    #[arg(long = "clusterRegistriesNamespace", hide = true)]
    registries_namespace: Option<String>,
    #[arg(long = "cniNamespace", hide = true)]
    cni_namespace: Option<String>,
    #[arg(long = "caCertFile", hide = true)]
    ca_cert: Option<String>,
    #[arg(long = "tlsCertFile", hide = true)]
    tls_cert: Option<String>,
    #[arg(long = "tlsKeyFile", hide = true)]
    tls_key: Option<String>,
    #[arg(long = "tls-cipher-suites", hide = true)]
    tls_suites: Option<String>,
    #[arg(long = "tls-min-version", hide = true)]
    tls_version: Option<String>,
    #[arg(long, hide = true, num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    profile: Option<bool>,
    #[arg(long = "log_caller", hide = true)]
    log_caller: Option<String>,
    #[arg(long = "log_stacktrace_level", hide = true)]
    log_stacktrace_level: Option<String>,
    #[arg(long = "log_target", hide = true)]
    log_target: Vec<String>,
    #[arg(long, hide = true)]
    vklog: Option<String>,
}

impl Typed {
    /// What was said in vain.
    pub(super) fn idle(&self) -> Vec<String> {
        let idle = &self.idle;
        let text = |value: &Option<String>| value.as_ref().is_some_and(|value| !value.is_empty());
        let said = [
            ("--secureGRPCAddr (TLS is not in this version yet)", text(&idle.secure_grpc)),
            ("--httpsAddr (webhooks are not in this version yet)", text(&idle.https)),
            ("--ctrlz_port", idle.ctrlz_port.is_some_and(|port| port != 0)),
            ("--ctrlz_address", text(&idle.ctrlz_address)),
            ("--kubernetesApiQPS (few requests are made)", idle.qps.is_some()),
            ("--kubernetesApiBurst (few requests are made)", idle.burst.is_some()),
            ("--clusterAliases", text(&idle.cluster_aliases)),
            ("--clusterRegistriesNamespace", text(&idle.registries_namespace)),
            ("--cniNamespace", text(&idle.cni_namespace)),
            ("--caCertFile", text(&idle.ca_cert)),
            ("--tlsCertFile", text(&idle.tls_cert)),
            ("--tlsKeyFile", text(&idle.tls_key)),
            ("--tls-cipher-suites", text(&idle.tls_suites)),
            ("--tls-min-version", text(&idle.tls_version)),
            ("--profile", idle.profile == Some(true)),
            ("--log_caller", text(&idle.log_caller)),
            ("--log_stacktrace_level", text(&idle.log_stacktrace_level)),
            ("--log_target (logs go to standard error)", !idle.log_target.is_empty()),
            ("--vklog", text(&idle.vklog)),
        ];
        said.iter().filter(|(_, said)| *said).map(|(name, _)| (*name).to_owned()).collect()
    }

    pub(super) fn options(self, environment: &Environment) -> Result<Options> {
        let mut registry = false;
        for name in self.registries.iter().map(|name| name.trim()).filter(|name| !name.is_empty()) {
            match name {
                "Kubernetes" => registry = true,
                other => return Err(wrong(format!("there is no registry {other:?}; Kubernetes is one"))),
            }
        }
        let some = |address: String| Some(address).filter(|address| !address.is_empty());
        let filters = match self.filters {
            Whose::Stock => Filters::Stock,
            Whose::Istio => Filters::Istio,
        };
        let streams = mizzen_pilot::Streams {
            control_plane: format!("{}/{}", environment.pod, BUILD.version),
            keepalive_interval: self.keepalive_interval,
            keepalive_timeout: self.keepalive_timeout,
            max_connection_age: self.max_age,
            new_streams_per_second: environment.new_streams_per_second,
            grace: self.shutdown,
            builders: environment.threads,
            ..mizzen_pilot::Streams::default()
        };
        Ok(Options {
            version: BUILD.version.to_owned(),
            build: BUILD.in_a_word(),
            registry,
            access: Access {
                // The charts name a file that is there only if the cluster to serve is another one than the pod's.
                kubeconfig: self
                    .kubeconfig
                    .or_else(|| environment.kubeconfig.clone().filter(|path| path.is_file())),
                context: self.context,
                ..Access::default()
            },
            config_dirs: self.config_dirs,
            mesh_config: self.mesh_config,
            networks_config: self.networks_config,
            namespace: self
                .namespace
                .or_else(|| environment.namespace.clone())
                .unwrap_or_else(|| "istio-system".into()),
            domain: self.domain,
            cluster: self
                .cluster_id
                .or_else(|| environment.cluster.clone())
                .unwrap_or_else(|| "Kubernetes".into()),
            revision: environment.revision.clone(),
            grpc: some(self.grpc),
            http: some(self.http),
            monitoring: some(self.monitoring),
            streams,
            proxies: mizzen_envoy::Options {
                filters,
                alpn: environment.alpn,
                metadata_exchange: environment.metadata_exchange,
            },
            verify: environment.verify,
            // Streams are given that long; then the process goes.
            grace: self.shutdown + Duration::from_secs(1),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;
    use std::env;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        typed: Typed,
    }

    fn options(words: &[&str], variables: &[(&str, &str)]) -> Options {
        let line = Line::try_parse_from([&["discovery"], words].concat()).unwrap();
        let find = |name: &str| variables.iter().find(|(known, _)| *known == name);
        let environment = Environment::read(|name| find(name).map(|(_, value)| (*value).to_owned())).unwrap();
        line.typed.options(&environment).unwrap()
    }

    #[test]
    fn the_cluster_is_named_by_the_flag_or_the_variable() {
        for (words, variables, cluster) in [
            (&[][..], &[][..], "Kubernetes"),
            (&[], &[("CLUSTER_ID", "")], "Kubernetes"),
            (&[], &[("CLUSTER_ID", "east")], "east"),
            (&["--clusterID=west"], &[("CLUSTER_ID", "east")], "west"),
        ] {
            assert_eq!(options(words, variables).cluster, cluster, "{words:?} {variables:?}");
        }
    }

    #[test]
    fn a_kubeconfig_that_the_chart_names_counts_if_it_is_there() {
        let there = env::current_exe().unwrap();
        let there = there.to_str().unwrap();
        for (words, variable, used) in [
            (&[][..], "/var/run/secrets/remote/config", None),
            (&[], there, Some(there)),
            (&["--kubeconfig=typed.yaml"], there, Some("typed.yaml")),
        ] {
            let access = options(words, &[("KUBECONFIG", variable)]).access;
            assert_eq!(access.kubeconfig, used.map(PathBuf::from), "{words:?} {variable}");
        }
    }
}
