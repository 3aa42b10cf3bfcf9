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
use mizzen_parity::{Allowed, Dump, Scenario, compare, envoys, run};
use serde_json::Value;

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
    /// Give scenarios (all, or those named) to real Envoys
    Envoys {
        scenarios: Vec<String>,
        /// Our binary; without it it is istiod whose configuration they get
        #[arg(long)]
        binary: Option<PathBuf>,
        /// Where to write the red scenarios with all that is wrong
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
        Verb::Envoys { scenarios, binary, page, json } => {
            taken(&scenarios, binary, page.as_deref(), json.as_deref()).await
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
        let word = |value: &Option<Value>| value.as_ref().map_or("nothing".into(), ToString::to_string);
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
    let options = run::Options { program: absolute(program)?, allowed: Allowed::read()? };
    let summary = run::run(&scenarios, &options, |outcome| println!("{}", outcome.line())).await?;
    print!("{}", summary.lines());
    write(page, &summary.page(), json, &summary.json())?;
    let idle: Vec<&str> = if only.is_empty() { summary.idle().collect() } else { Vec::new() };
    for path in &idle {
        println!("an allowed difference that excuses nothing: {path}");
    }
    Ok(summary.equal() == summary.total() && idle.is_empty())
}

async fn taken(
    only: &[String],
    program: Option<PathBuf>,
    page: Option<&Path>,
    json: Option<&Path>,
) -> Result<bool> {
    let scenarios = Scenario::all(only)?;
    let options = envoys::Options { program: absolute(program)? };
    let summary = envoys::run(&scenarios, &options, |outcome| println!("{}", outcome.line())).await?;
    print!("{}", summary.lines());
    write(page, &summary.page(), json, &summary.json())?;
    Ok(summary.taken() == summary.total())
}

/// It is started in a folder of its own.
fn absolute(program: Option<PathBuf>) -> Result<Option<PathBuf>> {
    program.map(|path| fs::canonicalize(&path).with_context(|| path.display().to_string())).transpose()
}

fn write(page: Option<&Path>, text: &str, json: Option<&Path>, value: &Value) -> Result<()> {
    if let Some(page) = page {
        fs::write(page, text).with_context(|| page.display().to_string())?;
        println!("report: {}", page.display());
    }
    if let Some(json) = json {
        fs::write(json, format!("{value:#}\n")).with_context(|| json.display().to_string())?;
    }
    Ok(())
}
