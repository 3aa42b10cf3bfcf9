//! `reconcile`: one pass over the components of Kyma's mesh, from a terminal.

mod show;

use super::{
    Group, Verb,
    install::{attended, line},
};
use crate::{
    args::{connection, duration, format::TextOrJson, mesh::ChartsTyped},
    build,
    confirm::confirm,
    exit::Exit,
    failure::{Hint, Usage},
    inputs::{self, Input},
    output::Output,
    program::Program,
};
use anyhow::{Result, anyhow, bail};
use clap::{Args, ValueEnum};
use mizzen_check::schema::names;
use mizzen_install::Refused;
use mizzen_operator::istio::{
    profile::Size,
    reconcile::{Component, Order, Outcome, Pass, Status, Told, Values, reconcile},
};
use mizzen_text::yaml::Options;
use serde_json::json;
use std::{env, path::Path, sync::Arc, time::Duration};
use tokio::sync::mpsc;

#[derive(Args)]
pub(crate) struct Typed {
    /// Which components, parted by commas: cluster-essentials, istio, istio-resources; also as NAME@NAMESPACE [default: all]
    #[arg(long, value_name = "LIST", conflicts_with = "components_file")]
    components: Option<String>,

    /// A file that names them, such as Kyma's components.yaml
    #[arg(long, value_name = "FILE")]
    components_file: Option<String>,

    /// Values, parted by commas: `global.…` is for every component, `istio.…` for that one; may be repeated
    #[arg(long = "value", value_name = "KEY=VALUE,…")]
    values: Vec<String>,

    /// How large the mesh is [default: by the size of the cluster]
    #[arg(long, value_name = "PROFILE")]
    profile: Option<Profile>,

    /// The version of Kyma that objects are labelled with; that of Istio is the charts'
    #[arg(long, value_name = "VERSION", default_value = "main")]
    version: String,

    /// Delete the components instead, the last first
    #[arg(short, long)]
    delete: bool,

    /// Show what would be done, and do nothing
    #[arg(long)]
    dry_run: bool,

    /// Go back to an older version, and on where parts of the mesh have different ones
    #[arg(long)]
    force: bool,

    /// Do not ask before something is deleted
    #[arg(short = 'y', long = "skip-confirmation", alias = "yes")]
    yes: bool,

    /// Charts: a folder, a .tgz, https://… or oci://…; without it those built in
    #[arg(long, value_name = "SOURCE", alias = "charts")]
    manifests: Option<String>,

    /// For each part of the mesh to become ready
    #[arg(long, value_name = "DURATION", default_value = "5m0s", value_parser = duration::read)]
    readiness_timeout: Duration,

    /// How to print it
    #[arg(short, long, value_name = "FORMAT", default_value = "text")]
    output: TextOrJson,

    #[command(flatten)]
    connection: connection::Typed,
}

#[derive(Clone, Copy, ValueEnum)]
enum Profile {
    Evaluation,
    Production,
}

pub(crate) struct Reconcile {
    order: Order,
    charts: ChartsTyped,
    connection: connection::Typed,
    text: bool,
    yes: bool,
}

impl Verb for Reconcile {
    const NAME: &'static str = "reconcile";
    const ABOUT: &'static str = "Bring Kyma's mesh to what it should be, once, without an operator";
    const GROUP: Group = Group::Install;
    const ALSO_IN: &'static [Program] = &[];
    const EXAMPLES: &'static [(&'static str, &'static str)] = &[
        ("reconcile --value global.domainName=example.com", "All components"),
        ("reconcile --value global.domainName=example.com --dry-run", "Only what would be done"),
        ("reconcile --components cluster-essentials,istio", "The mesh alone"),
        (
            "reconcile --components istio-resources --value global.domainName=example.com,istio-resources.dashboards.enabled=true",
            "What stands on it, with dashboards for Grafana",
        ),
        ("reconcile --delete", "Everything goes, after showing what and asking"),
    ];
    type Typed = Typed;

    fn meant(typed: Typed, _: Program) -> Result<Self> {
        let components = match (&typed.components, &typed.components_file) {
            (Some(list), _) => Component::list(list).map_err(Usage)?,
            (None, Some(file)) => in_file(file)?,
            (None, None) => Component::ALL.to_vec(),
        };
        let values = Values::read(&typed.values).map_err(Usage)?;
        names::label_value(&typed.version)
            .map_err(|why| Usage(format!("--version {:?} {why}: it becomes a label", typed.version)))?;
        let order = Order {
            components,
            values,
            size: typed.profile.map(|profile| match profile {
                Profile::Evaluation => Size::Evaluation,
                Profile::Production => Size::Production,
            }),
            kyma: typed.version,
            delete: typed.delete,
            dry_run: typed.dry_run,
            force: typed.force,
            patience: typed.readiness_timeout,
        };
        let charts = ChartsTyped { manifests: typed.manifests, version: None, offline: false };
        Ok(Self {
            order,
            charts,
            connection: typed.connection,
            text: typed.output == TextOrJson::Text,
            yes: typed.yes,
        })
    }

    fn run(self, output: &mut Output) -> Result<Exit> {
        let Self { mut order, charts, connection, text, yes } = self;
        if env::var_os("ISTIOCTL_PATH").is_some_and(|path| !path.is_empty()) {
            tracing::info!("ISTIOCTL_PATH is set, and not used: no istioctl is needed");
        }
        for key in &order.values.unused {
            tracing::warn!("the value {key} has no effect here");
        }
        let charts = charts.open(charts.manifests.as_deref())?;
        let connection = connection.connect()?;
        let pass = |order: &Order, output: &mut Output| -> Result<Vec<Outcome>> {
            connection.run(async {
                let (told, mut events) = mpsc::channel(4_096);
                let tell = move |event| {
                    // Whoever cannot follow misses a line.
                    let _ = told.try_send(event);
                };
                let pass = Pass {
                    cluster: &connection.cluster,
                    charts: charts.as_ref(),
                    version: build::VERSION,
                    order,
                    tell: Arc::new(tell),
                };
                let mut print = |told: Told| -> Result<()> {
                    if text {
                        output.text(&show::told(&told, order, line))?;
                        output.flush()?;
                    }
                    Ok(())
                };
                let interrupted = || format!("interrupted after {} writes", connection.cluster.requests().1);
                let work = Box::pin(reconcile(&pass));
                let outcomes = attended(work, &mut events, &mut print, interrupted).await?;
                outcomes.map_err(|why| anyhow!("{why}").hint("nothing was done"))
            })
        };
        if order.delete && !order.dry_run && !yes {
            order.dry_run = true;
            let planned = pass(&order, output)?;
            failed(&planned, 0)?;
            if !confirm("All of this will be deleted. Proceed? (y/N)", output)? {
                output.text("nothing was done\n")?;
                return Ok(Exit::Problem);
            }
            order.dry_run = false;
        }
        if !order.dry_run {
            output.go_on_unread();
        }
        let outcomes = pass(&order, output)?;
        let (requests, writes) = connection.cluster.requests();
        if !text {
            let told = json!({ "components": outcomes, "dryRun": order.dry_run, "requests": requests, "writes": writes });
            output.json(&told)?;
        }
        failed(&outcomes, writes)?;
        if text && !order.dry_run && writes == 0 {
            output.text("everything is as it should be; nothing was written\n")?;
        }
        Ok(Exit::Done)
    }
}

fn failed(outcomes: &[Outcome], writes: u64) -> Result<()> {
    let failed = outcomes.iter().filter(|outcome| outcome.status != Status::Success);
    let failed: Vec<String> = failed.map(show::failure).collect();
    if failed.is_empty() {
        return Ok(());
    }
    let hint = match writes {
        0 => "nothing was written",
        _ => "what was done stays; run the same command again to go on",
    };
    Err(anyhow!("components that failed:\n{}", failed.join("\n")).hint(hint))
}

fn in_file(name: &str) -> Result<Vec<Component>> {
    if Path::new(name).is_dir() {
        bail!(Usage(format!("--components-file {name}: it is a folder, and has to be a file")));
    }
    let names = [name.to_owned()];
    match inputs::read(&names, &Options::KUBERNETES).next() {
        Some(Input::Source(source)) => Ok(Component::file(&source).map_err(Usage)?),
        Some(Input::Unreadable(diagnostic)) => bail!(Refused(vec![*diagnostic])),
        None => bail!("{name} is empty"),
    }
}
