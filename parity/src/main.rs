//! `mizzen-parity`: dumps of the real istiod, and the comparison with ours. Called by `cargo xtask parity`.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a tool for the people at this terminal")]

mod dumping;

use std::{
    fs,
    path::{Path, PathBuf},
    process::ExitCode,
};

use anyhow::{Context as _, Result};
use clap::{Parser, Subcommand};
use mizzen_parity::{Allowed, Dump, Scenario, compare, run};

#[derive(Parser)]
#[command(about = "The control plane beside the real istiod")]
struct Arguments {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand)]
enum Verb {
    /// Write what the real istiod gives to the proxies of scenarios (all, or those named)
    Dump { folder: PathBuf, scenarios: Vec<String> },
    /// Compare two folders that were written so, or parts of them
    Compare { istiod: PathBuf, ours: PathBuf },
    /// Run scenarios (all, or those named) on the real istiod and on ours
    Run {
        scenarios: Vec<String>,
        /// Our binary; without it istiod stands beside itself
        #[arg(long)]
        binary: Option<PathBuf>,
        /// Where to write the red scenarios with their first differences
        #[arg(long)]
        page: Option<PathBuf>,
        /// Where to write everything as JSON
        #[arg(long)]
        json: Option<PathBuf>,
    },
}

#[tokio::main]
async fn main() -> ExitCode {
    let outcome = match Arguments::parse().verb {
        Verb::Dump { folder, scenarios } => dumping::dump(&folder, &scenarios).await,
        Verb::Compare { istiod, ours } => folders(&istiod, &ours),
        Verb::Run { scenarios, binary, page, json } => {
            live(&scenarios, binary, page.as_deref(), json.as_deref()).await
        }
    };
    match outcome {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn folders(istiod: &Path, ours: &Path) -> Result<bool> {
    let report = compare(&Dump::read(istiod)?, &Dump::read(ours)?, &Allowed::read()?);
    for difference in &report.different {
        let word =
            |value: &Option<serde_json::Value>| value.as_ref().map_or("nothing".into(), ToString::to_string);
        println!("{} {}", difference.proxy, difference.path);
        println!("    istiod: {}\n    ours:   {}", word(&difference.theirs), word(&difference.ours));
    }
    println!("{} differing leaves of {} / {}", report.different.len(), report.theirs, report.ours);
    Ok(report.equal())
}

async fn live(
    only: &[String],
    program: Option<PathBuf>,
    page: Option<&Path>,
    json: Option<&Path>,
) -> Result<bool> {
    let scenarios = Scenario::all(only)?;
    // It is started in a folder of its own.
    let program = program.map(|path| fs::canonicalize(&path).with_context(|| path.display().to_string()));
    let options = run::Options { program: program.transpose()?, allowed: Allowed::read()? };
    let summary = run::run(&scenarios, &options, |outcome| println!("{}", outcome.line())).await?;
    print!("{}", summary.lines());
    if let Some(page) = page {
        fs::write(page, summary.page()).with_context(|| page.display().to_string())?;
        println!("report: {}", page.display());
    }
    if let Some(json) = json {
        fs::write(json, format!("{:#}\n", summary.json())).with_context(|| json.display().to_string())?;
    }
    let idle: Vec<&str> = if only.is_empty() { summary.idle().collect() } else { Vec::new() };
    for path in &idle {
        println!("an allowed difference that excuses nothing: {path}");
    }
    Ok(summary.equal() == summary.total() && idle.is_empty())
}
