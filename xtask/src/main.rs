//! The repository's own commands: `cargo xtask tools`, `test`, `generate`.
//!
//! It depends on little, so that a fresh clone has it compiled in seconds.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a tool for the people at this terminal")]

mod failure;
mod generate;
mod keeper;
mod program;
mod test;
mod tools;

use std::{path::PathBuf, process::ExitCode};

use clap::{Parser, Subcommand};

#[derive(Parser)]
#[command(
    name = "cargo xtask",
    bin_name = "cargo xtask",
    about = "The commands of this repository",
    disable_help_subcommand = true
)]
struct Arguments {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand)]
enum Verb {
    /// Install the real parts that tests use (all, or those named) into the tools cache
    Tools(tools::Arguments),
    /// Run the tests (all, or the parts named) and print one table
    Test(test::Arguments),
    /// Make anew what is generated from Istio's and Envoy's interface definitions and committed
    Generate,
}

fn main() -> ExitCode {
    let outcome = match Arguments::parse().verb {
        Verb::Tools(arguments) => tools::command(&arguments),
        Verb::Test(arguments) => test::command(&arguments),
        Verb::Generate => generate::command(),
    };
    outcome.unwrap_or_else(|error| {
        eprintln!("error: {error:#}");
        ExitCode::FAILURE
    })
}

/// The top of this checkout.
fn root() -> PathBuf {
    let here = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    here.parent().map(PathBuf::from).unwrap_or(here)
}
