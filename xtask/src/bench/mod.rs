//! `cargo xtask bench NAME`: measurements beside the original, as ratios in one run.

mod app;
mod install;
mod operator;
mod process;
mod programs;
mod render;
mod side;
mod up;
mod validate;
mod xds;

use std::{path::PathBuf, process::ExitCode};

use clap::Subcommand;

#[derive(clap::Args)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    what: What,

    /// Write the result to bench/results
    #[arg(long, global = true)]
    save: bool,

    /// Short: to see that it works, not to measure
    #[arg(long, global = true)]
    quick: bool,
}

#[derive(Subcommand)]
enum What {
    /// `mizzen validate` of 5,000 objects in one file, beside `istioctl validate`
    Validate,
    /// `mizzen manifest generate` beside istioctl, and `mizzen chart render` beside helm
    Render,
    /// `mizzen discovery` beside istiod: simulated proxies, changes, memory
    Xds(xds::Arguments),
    /// `mizzen install`, again, and `uninstall`, beside istioctl on the same API server
    Install,
    /// `mizzen operator run` in a cluster with 10,000 pods: memory, time and requests of a restart decision
    Operator,
    /// `mizzen app build` of 2,000 rules beside a KCL program that does the same
    App,
    /// `mizzen up` with its sample: time to the first answer, memory, time from a changed file to changed traffic
    Up,
    /// Run a program and print what it cost; how the others measure
    #[command(hide = true)]
    Process { program: PathBuf, arguments: Vec<String> },
}

pub(crate) fn command(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    match &arguments.what {
        What::Validate => validate::command(arguments.quick, arguments.save),
        What::Render => render::command(arguments.quick, arguments.save),
        What::Xds(of) => xds::command(of, arguments.quick, arguments.save),
        What::Install => install::command(arguments.quick, arguments.save),
        What::Operator => operator::command(arguments.quick, arguments.save),
        What::App => app::command(arguments.quick, arguments.save),
        What::Up => up::command(arguments.quick, arguments.save),
        What::Process { program, arguments } => process::child(program, arguments),
    }
}
