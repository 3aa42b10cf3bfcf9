//! The repository's own commands: `cargo xtask tools`, `test`, `generate`, `bench`, `fuzz`, `parity`.
//!
//! It depends on little, so that a fresh clone has it compiled in seconds.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a tool for the people at this terminal")]

mod bench;
mod failure;
mod fuzz;
mod generate;
mod keeper;
mod parity;
mod program;
mod result;
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
    /// Measure beside the original
    Bench(bench::Arguments),
    /// Make inputs up and look for one that harms
    Fuzz(fuzz::Arguments),
    /// Compare our control plane with the real istiod, scenario by scenario
    Parity(parity::Arguments),
}

fn main() -> ExitCode {
    let outcome = match Arguments::parse().verb {
        Verb::Tools(arguments) => tools::command(&arguments),
        Verb::Test(arguments) => test::command(&arguments),
        Verb::Generate => generate::command(),
        Verb::Bench(arguments) => bench::command(&arguments),
        Verb::Fuzz(arguments) => fuzz::command(&arguments),
        Verb::Parity(arguments) => parity::command(&arguments),
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
