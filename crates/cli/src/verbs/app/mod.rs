//! `app`: an application says what it wants from the mesh in one file. Each task is a file.

mod build;
mod disk;
mod init;
mod report;
mod schema;

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
    /// Print the objects of an application, or what is wrong with its files
    Build(build::Typed),
    /// Write a file to begin with
    Init(init::Typed),
    /// Print what can be written, as JSON Schema for editors or as KCL
    Schema(schema::Typed),
}

pub(crate) struct App(Task);

impl Verb for App {
    const NAME: &'static str = "app";
    const ABOUT: &'static str = "Build an application's objects from one file";
    const GROUP: Group = Group::Models;
    const ALSO_IN: &'static [Program] = &[];
    const EXAMPLES: &'static [(&'static str, &'static str)] = &[
        ("app init", "A file to begin with, in this folder"),
        ("app build", "The objects of the application in this folder"),
        ("app build -C shop --stack prod -o json > shop.json", "Those of another, in one of its stacks"),
        ("app build --check --diagnostics sarif > app.sarif", "Only what is wrong, for a code scanning page"),
        ("app schema platform > platform.schema.json", "What an editor must know of platform.yaml"),
        ("app schema --kcl > app_model.k", "What a program in KCL imports that writes an application"),
    ];
    type Typed = Typed;

    fn meant(typed: Typed, _: Program) -> Result<Self> {
        Ok(Self(typed.task))
    }

    fn run(self, output: &mut Output) -> Result<Exit> {
        match self.0 {
            Task::Build(typed) => build::run(&typed, output),
            Task::Init(typed) => init::run(&typed, output),
            Task::Schema(typed) => schema::run(&typed, output),
        }
    }
}
