//! `operator`: the installer that lives in the cluster. `run` is the process itself; `init`, `dump` and `remove` are about its
//! deployment for IstioOperator resources, with istioctl's flags; `manifest` is about that for `Istio` resources.

mod deployed;
mod dump;
mod frugal;
mod init;
mod manifest;
mod remove;
mod run;
mod sources;

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
    /// Run the operator: keep the mesh of every resource as it should be
    Run(Box<run::Typed>),
    /// Deploy the operator in a cluster
    Init(Box<init::Typed>),
    /// Print the objects that `init` applies
    Dump(dump::Typed),
    /// Remove the operator from a cluster; the meshes stay
    Remove(remove::Typed),
    /// Print the objects of the operator for `Istio` resources, or a sample of such a resource
    Manifest(manifest::Typed),
}

pub(crate) enum Operator {
    Run(Box<run::Run>),
    Init(Box<init::Typed>),
    Dump(dump::Typed),
    Remove(remove::Typed),
    Manifest(manifest::Typed),
}

impl Verb for Operator {
    const NAME: &'static str = "operator";
    const ABOUT: &'static str =
        "Install by resources: an operator in the cluster, its deployment and removal";
    const GROUP: Group = Group::Install;
    const ALSO_IN: &'static [Program] = &[Program::Istioctl];
    const EXAMPLES: &'static [(&'static str, &'static str)] = &[
        ("operator init", "Deploy it; then `kubectl apply` an IstioOperator resource"),
        ("operator init -f mesh.yaml --dry-run", "Only what would be done"),
        ("operator dump > operator.yaml", "The same objects, to be applied by other means"),
        ("operator remove", "The operator goes, its meshes stay"),
        ("operator manifest | kubectl apply --server-side -f -", "The operator for `Istio` resources"),
        (
            "operator run --kind IstioOperator --kubeconfig cluster.yaml",
            "The process itself, outside of the cluster",
        ),
    ];
    type Typed = Typed;

    fn meant(typed: Typed, _: Program) -> Result<Self> {
        Ok(match typed.task {
            Task::Run(typed) => Self::Run(Box::new(run::Run::meant(*typed)?)),
            Task::Init(typed) => Self::Init(typed),
            Task::Dump(typed) => Self::Dump(typed),
            Task::Remove(typed) => Self::Remove(typed),
            Task::Manifest(typed) => Self::Manifest(typed),
        })
    }

    fn run(self, output: &mut Output) -> Result<Exit> {
        match self {
            Self::Run(run) => run.run(),
            Self::Init(typed) => init::run(*typed, output),
            Self::Dump(typed) => dump::run(typed, output),
            Self::Remove(typed) => remove::run(typed, output),
            Self::Manifest(typed) => manifest::run(typed, output),
        }
    }
}
