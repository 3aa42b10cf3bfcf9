//! `chart render`: any chart, as `helm template` prints it. Not in the help: it is there to look into charts and to compare
//! with Helm.

use super::{Group, Verb};
use crate::{
    diagnostics,
    exit::Exit,
    failure::Usage,
    inputs::{self, Input},
    output::Output,
    program::Program,
};
use anyhow::{Context, Result, anyhow, bail};
use clap::{Args, Subcommand};
use mizzen_install::{Refused, merge_trees, set_path, typed};
use mizzen_template::helm::{
    self, Capabilities, Chart, KubeVersion, ManifestOptions, Release, RenderOptions,
};
use mizzen_text::{
    Code, Diagnostic,
    yaml::{self, Options},
};
use serde_json::{Value, json};
use std::{
    fs::File,
    io::Read,
    path::{Path, PathBuf},
};

#[derive(Args)]
pub(crate) struct Typed {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Print the objects of a chart
    Render(Render),
}

#[derive(Args)]
pub(crate) struct Render {
    /// The name of the release
    #[arg(value_name = "NAME")]
    release: String,

    /// The chart: a folder, or a .tgz
    #[arg(value_name = "CHART")]
    chart: PathBuf,

    /// The release's namespace
    #[arg(short, long, value_name = "NAME", default_value = "default")]
    namespace: String,

    /// A file with values; several are laid over each other, left to right
    #[arg(short = 'f', long = "values", value_name = "FILE", value_delimiter = ',')]
    values: Vec<String>,

    /// Set one value, in istioctl's way and not in Helm's: one a flag, commas and braces are text
    #[arg(short, long = "set", value_name = "PATH=VALUE")]
    set: Vec<String>,

    /// Render for an upgrade instead of an installation
    #[arg(long)]
    is_upgrade: bool,

    /// The version of Kubernetes that the chart is told
    #[arg(long, value_name = "VERSION")]
    kube_version: Option<String>,

    /// An API that the chart is told of, besides those of Kubernetes
    #[arg(short, long, value_name = "GROUP/VERSION", value_delimiter = ',')]
    api_versions: Vec<String>,

    /// Also print what is in crds/
    #[arg(long)]
    include_crds: bool,

    /// Print no hooks
    #[arg(long)]
    no_hooks: bool,

    /// A key that is missing is an error
    #[arg(long)]
    strict: bool,

    /// Print NOTES.txt instead of the objects
    #[arg(long)]
    notes: bool,
}

pub(crate) struct ChartVerb(Render);

impl Verb for ChartVerb {
    const NAME: &'static str = "chart";
    const ABOUT: &'static str = "Print the objects of a chart";
    const GROUP: Group = Group::Install;
    const HIDDEN: bool = true;
    const ALSO_IN: &'static [Program] = &[];
    const EXAMPLES: &'static [(&'static str, &'static str)] = &[
        ("chart render mesh charts/base --namespace istio-system", "A chart with its own values"),
        (
            "chart render mesh ./istiod.tgz -f values.yaml --set global.hub=mirror/mesh --is-upgrade",
            "With others",
        ),
    ];
    type Typed = Typed;

    fn meant(typed: Typed, _: Program) -> Result<Self> {
        let Task::Render(render) = typed.task;
        Ok(Self(render))
    }

    fn run(self, output: &mut Output) -> Result<Exit> {
        let render = self.0;
        let chart = chart(&render.chart)?;
        let values = values(&render)?;
        let mut capabilities = Capabilities::default();
        if let Some(text) = &render.kube_version {
            let Some(version) = KubeVersion::parse(text) else {
                bail!(Usage(format!("`{text}` is no version of Kubernetes: write it like `v1.33.4`")));
            };
            capabilities = capabilities.with_kube_version(version);
        }
        capabilities.api_versions.extend(render.api_versions.iter().cloned());
        let release = Release {
            name: render.release.clone(),
            namespace: render.namespace.clone(),
            is_upgrade: render.is_upgrade,
            is_install: !render.is_upgrade,
            revision: 1,
            ..Release::default()
        };
        let options = RenderOptions { dependencies: true, strict: render.strict, ..RenderOptions::default() };
        let rendered = helm::render(&chart, &values, &release, &capabilities, &options).map_err(told)?;
        let warning = |text: &String| Diagnostic::new(Code::Doubtful, text.as_str());
        diagnostics::warn(&rendered.warnings.iter().map(warning).collect::<Vec<_>>());
        let text = if render.notes {
            rendered.notes.unwrap_or_default()
        } else {
            let options = ManifestOptions {
                crds: render.include_crds,
                no_hooks: render.no_hooks,
                ..ManifestOptions::default()
            };
            helm::manifest(&rendered, options).map_err(told)?
        };
        output.bytes(text.as_bytes())?;
        Ok(Exit::Done)
    }
}

/// As large as an archive may be.
const ARCHIVE: u64 = 100 << 20;

fn chart(path: &Path) -> Result<Chart> {
    if path.is_dir() {
        return Chart::from_folder(path).map_err(told);
    }
    if path.exists() && !path.is_file() {
        bail!("{} is neither a folder nor a file", path.display());
    }
    let mut bytes = Vec::new();
    let read = File::open(path).and_then(|file| file.take(ARCHIVE + 1).read_to_end(&mut bytes));
    let read = read.with_context(|| format!("{} cannot be read", path.display()))?;
    if u64::try_from(read).unwrap_or(u64::MAX) > ARCHIVE {
        bail!(
            "{} has more than {} MiB, which is more than an archive may have",
            path.display(),
            ARCHIVE >> 20
        );
    }
    Chart::from_archive(&bytes).map_err(|error| anyhow!("{}: {error}", path.display()))
}

/// Its sentence has the causes in it already.
fn told(error: impl std::fmt::Display) -> anyhow::Error {
    anyhow!("{error}")
}

fn values(render: &Render) -> Result<Value> {
    let mut all = json!({});
    for input in inputs::read(&render.values, &Options::KUBERNETES) {
        match input {
            Input::Unreadable(diagnostic) => bail!(Refused(vec![*diagnostic])),
            Input::Source(source) => match yaml::load_first(&source, &Options::KUBERNETES) {
                Ok(None | Some(Value::Null)) => {}
                Ok(Some(values @ Value::Object(_))) => merge_trees(&mut all, &values),
                Ok(Some(_)) => bail!("{} holds no values: it is no map", source.name()),
                Err(diagnostic) => bail!(Refused(vec![*diagnostic])),
            },
        }
    }
    for text in &render.set {
        let (path, value) = match text.split_once('=') {
            Some((path, value)) if !path.trim_matches(['.', ' ']).is_empty() => (path.trim(), value.trim()),
            _ => bail!(Usage(format!("--set {text} is not PATH=VALUE"))),
        };
        let value = if value == "null" { Value::Null } else { typed(path, value) };
        set_path(&mut all, path, value).map_err(|error| Usage(format!("--set {text}: {error}")))?;
    }
    Ok(all)
}
