//! `app`: an application says what it wants from the mesh in one file. Each task is a file.

mod apply;
mod build;
mod destroy;
mod disk;
mod go;
mod init;
mod left;
mod local;
mod person;
mod preview;
mod releases;
mod report;
mod rollback;
mod schema;
mod show;
mod which;

use super::{Group, Verb};
use crate::{exit::Exit, output::Output, program::Program};
use anyhow::Result;
use clap::{Args, Subcommand};

#[derive(Args)]
pub(crate) struct Typed {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Bring an application into a cluster, or to what it should be
    Apply(apply::Typed),
    /// Print the objects of an application, or what is wrong with its files
    Build(build::Typed),
    /// Delete everything that releases of an application have made
    Destroy(destroy::Typed),
    /// Write a file to begin with
    Init(init::Typed),
    /// Show what `apply` would do, object by object
    Preview(preview::Typed),
    /// List the releases of an application, and who is at work
    Releases(releases::Typed),
    /// Bring an application back to an earlier release
    Rollback(rollback::Typed),
    /// Print what can be written, as JSON Schema for editors or as KCL
    Schema(schema::Typed),
}

pub(crate) struct App(Task);

impl Verb for App {
    const NAME: &'static str = "app";
    const ABOUT: &'static str = "An application in one file: build, preview, apply, destroy";
    const GROUP: Group = Group::Models;
    const ALSO_IN: &'static [Program] = &[];
    const EXAMPLES: &'static [(&'static str, &'static str)] = &[
        ("app init", "A file to begin with, in this folder"),
        ("app build", "The objects of the application in this folder"),
        ("app build -C shop --stack prod -o json > shop.json", "Those of another, in one of its stacks"),
        ("app build --check --diagnostics sarif > app.sarif", "Only what is wrong, for a code scanning page"),
        ("app preview --stack prod", "What `apply` would do"),
        (
            "app preview --spec-file shop.json -o json",
            "The same, of a Spec that was built before, for a script",
        ),
        ("app apply --stack prod", "Bring it into the cluster, after showing what will be done and asking"),
        ("app apply --stack prod -y --timeout 10m", "Without asking, with more patience for workloads"),
        ("app apply --local", "On the mesh of `mizzen up`, without a cluster"),
        ("app releases --stack prod", "Which releases there were, and who is at work"),
        ("app rollback --stack prod", "Back to the release before"),
        ("app rollback 3 --stack prod", "Back to a certain one"),
        ("app destroy --stack prod", "Delete all that its releases have made, after asking"),
        ("app schema platform > platform.schema.json", "What an editor must know of platform.yaml"),
        ("app schema --kcl > app_model.k", "What a program in KCL imports that writes an application"),
    ];
    type Typed = Typed;

    fn meant(typed: Typed, _: Program) -> Result<Self> {
        Ok(Self(typed.task))
    }

    fn run(self, output: &mut Output) -> Result<Exit> {
        match self.0 {
            Task::Apply(typed) => apply::run(typed, output),
            Task::Build(typed) => build::run(&typed, output),
            Task::Destroy(typed) => destroy::run(typed, output),
            Task::Init(typed) => init::run(&typed, output),
            Task::Preview(typed) => preview::run(typed, output),
            Task::Releases(typed) => releases::run(typed, output),
            Task::Rollback(typed) => rollback::run(typed, output),
            Task::Schema(typed) => schema::run(&typed, output),
        }
    }
}
