//! `app build`: files → Spec. No cluster is asked.

use super::{
    disk::Disk,
    report::{self, Form},
};
use crate::{args::format::YamlOrJson, exit::Exit, output::Output};
use anyhow::Result;
use clap::Args;
use mizzen_app::{Choice, build};
use std::path::PathBuf;

#[derive(Args)]
pub(crate) struct Typed {
    /// The folder of app.yaml
    #[arg(short = 'C', long, value_name = "DIR", default_value = ".", hide_default_value = true)]
    workdir: PathBuf,

    /// Which of the application's stacks; needed where it has several
    #[arg(long, value_name = "NAME")]
    stack: Option<String>,

    /// The cluster, instead of the one that the stack names
    #[arg(long, value_name = "NAME")]
    cluster: Option<String>,

    /// The platform's file, from here; else platform.yaml beside app.yaml, if there is one
    #[arg(long, value_name = "FILE")]
    platform: Option<String>,

    /// How to print the objects
    #[arg(short, long, value_name = "FORMAT", default_value = "yaml")]
    output: YamlOrJson,

    /// Print no objects, only what is wrong
    #[arg(long)]
    check: bool,

    /// How to print what is wrong
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    diagnostics: Form,
}

pub(super) fn run(typed: &Typed, output: &mut Output) -> Result<Exit> {
    let choice = Choice {
        stack: typed.stack.clone(),
        cluster: typed.cluster.clone(),
        platform: typed.platform.clone(),
        ..Choice::default()
    };
    let disk = Disk { folder: typed.workdir.clone(), platform: typed.platform.clone() };
    let built = build(&disk, &choice);
    if typed.check {
        report::show(typed.diagnostics, &built.diagnostics, output)?;
    } else {
        report::tell(typed.diagnostics, &built.diagnostics);
        if built.accepted() {
            match typed.output {
                YamlOrJson::Yaml => output.bytes(built.spec.to_yaml().as_bytes())?,
                YamlOrJson::Json => output.json(&built.spec)?,
            }
        }
    }
    Ok(if built.accepted() { Exit::Done } else { Exit::Problem })
}
