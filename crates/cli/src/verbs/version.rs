//! `version`: what this binary is and how it was built; and, where a cluster is named, what runs there.
//!
//! JSON and YAML have istioctl's shape: `clientVersion` with the fields of [`Build`], `meshVersion`, `dataPlaneVersion`. As text,
//! `istioctl` prints one line for each unless told `--short=false`, and the other programs everything unless told `--short`, as
//! Istio's do. A cluster that cannot be asked is told on standard error and is no failure.

use super::{Group, Verb};
use crate::{
    args::{self, connection, control_plane},
    build::{BUILD, Build},
    exit::Exit,
    output::{Format, Output},
    program::Program,
};
use anyhow::{Result, anyhow};
use mizzen_install::running::{Proxy, Running, Server, Source};
use serde::Serialize;
use std::{
    collections::BTreeMap,
    fmt,
    io::{self, Write as _},
    time::Duration,
};

/// For a cluster that does not answer.
const PATIENCE: Duration = Duration::from_secs(5);

#[derive(clap::Args)]
pub(crate) struct Typed {
    #[command(flatten)]
    format: args::format::Typed,

    /// Print the numbers only; `--short=false` prints everything
    #[arg(short, long, value_name = "BOOL", num_args = 0..=1, require_equals = true)]
    #[arg(default_missing_value = "true", hide_possible_values = true)]
    short: Option<bool>,

    /// Ask the cluster too; without it that is done where a kubeconfig is found
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true)]
    #[arg(default_missing_value = "true", hide_possible_values = true)]
    remote: Option<bool>,

    /// Ask only this revision of the control plane
    #[arg(short, long, value_name = "NAME")]
    revision: Option<String>,

    #[command(flatten)]
    place: control_plane::Typed,

    #[command(flatten)]
    connection: connection::Typed,
}

pub(crate) struct Version {
    format: Format,
    short: bool,
    /// None: nobody is asked.
    cluster: Option<connection::Typed>,
    namespace: String,
    revision: Option<String>,
}

impl Verb for Version {
    const NAME: &'static str = "version";
    const ABOUT: &'static str = "Print the version, how it was built, and what runs in a cluster";
    const GROUP: Group = Group::Binary;
    const ALSO_IN: &'static [Program] = Program::ALL;
    const EXAMPLES: &'static [(&'static str, &'static str)] = &[
        ("version -o json", "Everything, for a script"),
        ("version --short", "A line each"),
        ("version --remote=false", "Without asking a cluster"),
    ];
    type Typed = Typed;

    fn meant(typed: Typed, program: Program) -> Result<Self> {
        let Typed { format, short, remote, revision, place, connection } = typed;
        // The others run in a cluster and are asked for themselves.
        let asks = matches!(program, Program::Mizzen | Program::Istioctl) && connection.names_one();
        Ok(Self {
            format: format.into(),
            short: short.unwrap_or(program == Program::Istioctl),
            cluster: remote.unwrap_or(asks).then_some(connection),
            namespace: place.istio_namespace,
            revision,
        })
    }

    fn run(self, output: &mut Output) -> Result<Exit> {
        let running =
            self.cluster.map(|connection| ask(connection, &self.namespace, self.revision.as_deref()));
        let running = running.and_then(|running| {
            running
                .inspect_err(|error| {
                    let text = format!("Istio is not present in the cluster: {error}\n");
                    // With standard error closed there is nobody to tell.
                    let _ = anstream::AutoStream::auto(io::stderr()).write_all(text.as_bytes());
                })
                .ok()
        });
        let (mesh_version, data_plane_version) = match running {
            Some(running) => (Some(running.servers), running.proxies),
            None => (None, None),
        };
        let shown = Shown { client_version: BUILD, mesh_version, data_plane_version, short: self.short };
        output.show(self.format, &shown)?;
        Ok(Exit::Done)
    }
}

fn ask(connection: connection::Typed, namespace: &str, revision: Option<&str>) -> Result<Running> {
    let connection = connection.connect_within(Some(PATIENCE))?;
    let limit = PATIENCE * 3;
    connection.run(async {
        let running = Running::read(&connection.cluster, namespace, revision);
        let running = tokio::time::timeout(limit, running).await;
        running.map_err(|_| anyhow!("no answer within {} s", limit.as_secs()))?.map_err(Into::into)
    })
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Shown {
    client_version: Build,
    #[serde(skip_serializing_if = "Option::is_none")]
    mesh_version: Option<Vec<Server>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    data_plane_version: Option<Vec<Proxy>>,
    #[serde(skip)]
    short: bool,
}

impl fmt::Display for Shown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let build = &self.client_version;
        write!(f, "client version: {}", build.version)?;
        if !self.short {
            write!(f, "\n  revision: {} ({}), tag: {}", build.revision, build.status, build.tag)?;
            write!(f, "\n  compatible with: Istio {}", build.istio_version)?;
            write!(f, "\n  built: Rust {}, {}, {}", build.rust_version, build.target, build.profile)?;
        }
        self.control_plane(f)?;
        match self.data_plane_version.as_deref() {
            None => Ok(()),
            Some([]) => write!(f, "\ndata plane version: none"),
            Some(proxies) => {
                let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
                for proxy in proxies {
                    *counts.entry(&proxy.istio_version).or_default() += 1;
                }
                let counts: Vec<String> =
                    counts.iter().map(|(version, count)| format!("{version} ({count} proxies)")).collect();
                write!(f, "\ndata plane version: {}", counts.join(", "))
            }
        }
    }
}

impl Shown {
    /// One line for all if they are equal and little is wanted.
    fn control_plane(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let servers = self.mesh_version.as_deref().unwrap_or_default();
        let equal = servers.windows(2).all(|pair| pair[0].info.version == pair[1].info.version);
        if let (true, true, Some(first)) = (self.short, equal, servers.first()) {
            return write!(f, "\ncontrol plane version: {}", first.info.version);
        }
        for server in servers {
            write!(f, "\n{} version: {}", server.component, server.info.version)?;
            if !self.short {
                write!(f, "\n  revision: {}", server.revision)?;
                if server.source == Some(Source::Image) {
                    write!(f, " (known by its image only)")?;
                }
            }
        }
        Ok(())
    }
}
