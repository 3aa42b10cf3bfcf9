//! Which mesh: files, flags and charts, the same for every verb that renders one. istioctl's flags, and where charts
//! come from.

use crate::{
    failure::{Hint, Usage},
    inputs::{self, Input as Read},
};
use anyhow::{Result, anyhow, bail};
use mizzen_install::{
    Charts, Input, Refused, package_path,
    source::{self, SourceOptions},
};
use mizzen_text::yaml::Options;
use std::fs;

#[derive(clap::Args)]
#[group(skip)]
#[command(next_help_heading = "Which mesh")]
pub(crate) struct Typed {
    /// An IstioOperator file, or - for standard input; several are laid over each other, left to right
    #[arg(short = 'f', long = "filename", value_name = "FILE", value_delimiter = ',')]
    filename: Vec<String>,

    /// Set a field of the IstioOperator, for instance `profile=demo` or `components.cni.enabled=true`; null removes it
    #[arg(short, long = "set", value_name = "PATH=VALUE")]
    set: Vec<String>,

    /// The revision of the control plane
    #[arg(short, long, value_name = "NAME")]
    revision: Option<String>,

    #[command(flatten)]
    charts: ChartsTyped,
}

// Where charts and profiles come from.
#[derive(clap::Args)]
#[group(skip)]
pub(crate) struct ChartsTyped {
    /// Charts and profiles: a folder, a .tgz, https://… (a chart repository) or oci://…; without it those built in
    #[arg(short = 'd', long, value_name = "SOURCE", alias = "charts")]
    pub(crate) manifests: Option<String>,

    /// The version of the charts in a repository: exact, or such as `1.30.x`; without it the newest
    #[arg(long, value_name = "VERSION")]
    pub(crate) version: Option<String>,

    /// Ask no network: take charts only from what was fetched before
    #[arg(long)]
    pub(crate) offline: bool,
}

impl Typed {
    pub(crate) fn meant(self) -> Result<Mesh> {
        if let Some(place) = self.filename.iter().position(|name| name == "-")
            && place + 1 != self.filename.len()
        {
            bail!(
                Usage("standard input can only be the last file".into()).hint("put `-f -` behind the others")
            );
        }
        Ok(Mesh { typed: self })
    }
}

/// What is to be rendered; nothing has been read yet.
pub(crate) struct Mesh {
    typed: Typed,
}

impl Mesh {
    /// Reads the files and finds the charts.
    pub(crate) fn read(self, force: bool) -> Result<(Input, Box<dyn Charts>)> {
        let (input, charts) = self.files(force)?;
        let charts = charts.of(&input)?;
        Ok((input, charts))
    }

    /// Reads the files only; what they are is not looked at.
    pub(crate) fn files(self, force: bool) -> Result<(Input, ChartsTyped)> {
        let Typed { filename, set, revision, charts } = self.typed;
        if let Some(folder) = filename.iter().find(|name| fs::metadata(name).is_ok_and(|file| file.is_dir()))
        {
            let hint = "name its files, each with -f, in the order in which they are laid over each other";
            bail!(Usage(format!("{folder} is a folder, and -f takes files")).hint(hint));
        }
        let mut input = Input { sets: set, revision, force, ..Input::default() };
        let mut unreadable = Vec::new();
        for file in inputs::read(&filename, &Options::KUBERNETES) {
            match file {
                Read::Source(source) => input.files.push(source),
                Read::Unreadable(diagnostic) => unreadable.push(*diagnostic),
            }
        }
        if !unreadable.is_empty() {
            bail!(Refused(unreadable));
        }
        input.manifests.clone_from(&charts.manifests);
        Ok((input, charts))
    }
}

impl ChartsTyped {
    /// Those that an input names, also in a file.
    pub(crate) fn of(&self, input: &Input) -> Result<Box<dyn Charts>> {
        self.open(package_path(input)?.as_deref())
    }

    pub(crate) fn open(&self, manifests: Option<&str>) -> Result<Box<dyn Charts>> {
        let options = SourceOptions {
            version: self.version.clone(),
            offline: self.offline,
            ..SourceOptions::default()
        };
        let manifests = manifests.unwrap_or_default();
        if !manifests.is_empty() && !manifests.contains("://") {
            look_at(manifests)?;
        }
        Ok(source::open(manifests, &options)?)
    }
}

/// Whether charts can be at a path at all. A device or a pipe might never end.
fn look_at(path: &str) -> Result<()> {
    let hint =
        "--manifests takes a folder, a .tgz, https://… or oci://…; without it the charts built in are used";
    match fs::metadata(path) {
        Err(error) => Err(anyhow!("no charts can be read at {path}: {error}").hint(hint)),
        Ok(found) if found.is_dir() || found.is_file() => Ok(()),
        Ok(_) => Err(anyhow!("{path} is neither a folder nor a file").hint(hint)),
    }
}
