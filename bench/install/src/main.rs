//! `cargo xtask bench install`: the real istioctl and mizzen on one API server with controllers, with the same charts and the same
//! profile: an installation, one that has nothing to do, and a removal; in turn, and each from the same state.
//!
//! Time is measured at the API server itself. Requests are counted in a further round through a proxy, which would cost time.

mod measure;
mod report;

use anyhow::{Context as _, Result};
use clap::Parser;
use measure::{Cost, Round, STEPS};
use mizzen_testkit::{ApiServer, tools};
use serde_json::{Value, json};
use std::{fs, path::PathBuf};

#[derive(Debug, Parser)]
#[command(name = "bench-install")]
struct Arguments {
    /// The program to measure.
    #[arg(long)]
    mizzen: PathBuf,
    /// How often each of them goes through all steps.
    #[arg(long, default_value_t = 5)]
    rounds: usize,
    #[arg(long, default_value = "default")]
    profile: String,
    /// Where the figures go, as JSON.
    #[arg(long)]
    out: Option<PathBuf>,
}

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() -> Result<()> {
    let arguments = Arguments::parse();
    let server = ApiServer::start().await?;
    server.controllers().await?;
    let charts = tools::folder("modules/istio")?.join("manifests");
    let programs = [("mizzen", arguments.mizzen.clone()), ("istioctl", tools::command("istioctl")?)];
    let flags = format!("-y --set profile={} -d {}", arguments.profile, charts.display());
    let round = |program: PathBuf| Round { server: &server, program, flags: flags.clone() };

    // Images and caches are warm for both, and the namespace is there.
    for (_, program) in &programs {
        round(program.clone()).run().await?;
    }
    let mut costs: [Vec<Vec<Cost>>; 2] = Default::default();
    for _ in 0..arguments.rounds {
        for (side, (_, program)) in programs.iter().enumerate() {
            costs[side].push(round(program.clone()).run().await?);
        }
    }
    let mut requests = Vec::new();
    for (_, program) in &programs {
        requests.push(round(program.clone()).requests().await?);
    }
    let steps: serde_json::Map<String, Value> = STEPS
        .iter()
        .enumerate()
        .map(|(step, name)| {
            let of = |side: usize| -> Vec<Cost> { costs[side].iter().map(|round| round[step]).collect() };
            let row = report::row((&of(0), &requests[0][step]), (&of(1), &requests[1][step]));
            ((*name).to_owned(), row)
        })
        .collect();
    let figures = json!({ "profile": arguments.profile, "rounds": arguments.rounds, "steps": steps });
    report::say(&figures);
    if let Some(out) = arguments.out {
        fs::write(&out, figures.to_string())
            .with_context(|| format!("{} cannot be written", out.display()))?;
    }
    Ok(())
}
