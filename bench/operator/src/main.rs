//! `cargo xtask bench operator`: the operator for the `Istio` resource in a cluster with many pods that have sidecars: what it costs to see
//! that nothing has to be restarted, and what to restart some. Memory is that of the process.
//!
//! Time is measured by an operator at the API server itself. Requests are counted by another one that goes through a proxy.

mod operator;
mod workloads;

use anyhow::{Context as _, Result, ensure};
use clap::Parser;
use mizzen_testkit::ApiServer;
use operator::Operator;
use serde_json::{Value, json};
use std::{fs, path::PathBuf};
use workloads::Shop;

#[derive(Debug, Parser)]
#[command(name = "bench-operator")]
struct Arguments {
    /// The program to measure.
    #[arg(long)]
    mizzen: PathBuf,
    /// How many pods there are, at each point of the curve.
    #[arg(long, value_delimiter = ',', default_value = "1000,5000,10000")]
    pods: Vec<usize>,
    #[arg(long, default_value_t = 50)]
    nodes: u8,
    /// Looks at each point.
    #[arg(long, default_value_t = 7)]
    rounds: usize,
    /// Where the figures go, as JSON.
    #[arg(long)]
    out: Option<PathBuf>,
}

/// Workloads that are to be restarted, with two pods each.
const OLD: usize = 31;

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() -> Result<()> {
    let arguments = Arguments::parse();
    let server = ApiServer::start().await?;
    server.controllers().await?.nodes(&server, arguments.nodes).await?;
    let faults = server.faults().await?;
    let direct = Operator::install(&arguments.mizzen, &server).await?;
    let empty = direct.memory()?;
    let shop = Shop::open(&server).await?;
    let mut curve = Vec::new();
    let mut there = 0;
    for pods in &arguments.pods {
        shop.add(there, *pods).await?;
        there = *pods;
        // The first one meets what has happened in between.
        direct.look(&server).await?;
        let mut seconds = Vec::new();
        for _ in 0..arguments.rounds {
            let look = direct.look(&server).await?;
            ensure!(look.outcome == "Unchanged", "nothing has to be done, but it came to {}", look.outcome);
            seconds.push(look.seconds);
        }
        seconds.sort_by(f64::total_cmp);
        let median = seconds[seconds.len() / 2];
        curve.push(json!({ "pods": pods, "memory": direct.memory()?, "lookSeconds": median }));
    }
    shop.add_old("first", OLD).await?;
    let restart = direct.look(&server).await?;
    ensure!(shop.restarted("first").await? == OLD, "some were not restarted");
    let memory = direct.memory()?;
    direct.end();

    let proxied = Operator::start(&arguments.mizzen, &faults.kubeconfig_file())?;
    proxied.look(&server).await?;
    // Pods of those that were restarted are replaced meanwhile.
    shop.settle().await?;
    shop.remove_old("first").await?;
    proxied.look(&server).await?;
    let idle = counted(&faults, proxied.look(&server)).await?;
    ensure!(idle["writes"] == 0, "a look that finds all well writes: {idle}");
    shop.add_old("second", OLD).await?;
    let busy = counted(&faults, proxied.look(&server)).await?;
    ensure!(shop.restarted("second").await? == OLD, "some were not restarted");

    let figures = json!({
        "nodes": arguments.nodes, "rounds": arguments.rounds, "memoryWithoutPods": empty, "curve": curve,
        "lookRequests": idle,
        "restart": { "workloads": OLD, "seconds": restart.seconds, "requests": busy },
        "memoryAtTheEnd": memory,
    });
    report(&figures);
    if let Some(out) = arguments.out {
        fs::write(&out, figures.to_string())
            .with_context(|| format!("{} cannot be written", out.display()))?;
    }
    Ok(())
}

/// What a look asks of the server.
async fn counted(
    faults: &mizzen_testkit::Faults,
    look: impl Future<Output = Result<operator::Look>>,
) -> Result<Value> {
    use mizzen_testkit::faults::Verb::{Read, Watch, Write};
    let seen = || [Read, Write, Watch].map(|verb| faults.seen(verb));
    let before = seen();
    look.await?;
    let [reads, writes, watches] = std::array::from_fn(|at| seen()[at] - before[at]);
    Ok(json!({ "reads": reads, "writes": writes, "watches": watches }))
}

#[expect(clippy::print_stdout, reason = "figures are what this program is for")]
fn report(figures: &Value) {
    println!("{figures:#}");
}
