//! `cargo xtask bench xds`: the real istiod and `mizzen discovery` on one API server with the same objects, in turn, each
//! serving the same simulated proxies; what the same change costs either of them.
//!
//! One at a time: while one control plane is measured the other does not run. Both are bound to the same processors,
//! which they share with the API server and the proxies.

mod fleet;
mod meter;
mod plane;
mod report;
mod rounds;
mod world;

use std::path::PathBuf;

use anyhow::Result;
use clap::Parser;
use mizzen_testkit::{ApiServer, Istiod};

use crate::{plane::Which, rounds::Plan, world::World};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

#[derive(Clone, Debug, Parser)]
#[command(name = "bench-xds")]
pub(crate) struct Arguments {
    /// The program to measure.
    #[arg(long)]
    mizzen: PathBuf,
    #[arg(long, default_value_t = 1_000)]
    services: usize,
    /// Of each service.
    #[arg(long, default_value_t = 5)]
    endpoints: usize,
    #[arg(long, default_value_t = 100)]
    proxies: usize,
    /// How often each control plane is started and measured, in turn.
    #[arg(long, default_value_t = 3)]
    runs: usize,
    /// How often each change is made in a run; the median counts.
    #[arg(long, default_value_t = 5)]
    changes: usize,
    /// Seconds of endpoint changes, twenty a second.
    #[arg(long, default_value_t = 30)]
    churn: u64,
    /// VirtualServices and DestinationRules, one of each for that many services.
    #[arg(long, default_value_t = 0)]
    objects: usize,
    /// Also istiod with its debounce at one millisecond.
    #[arg(long)]
    eager: bool,
    /// Where the figures go, as JSON.
    #[arg(long)]
    out: Option<PathBuf>,
    /// Only this one (`istiod` or `mizzen`), for a quick look.
    #[arg(long)]
    only: Option<String>,
}

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() -> Result<()> {
    let arguments = Arguments::parse();
    let server = ApiServer::start().await?;
    // For the kinds: it installs them. Ended before anything is measured.
    drop(Istiod::start(&server, mizzen_testkit::istiod::Options::default()).await?);
    let world = World::new(&server, &arguments)?;
    report::say(format_args!(
        "{} services of {} endpoints, {} proxies, {} more objects: made in {:.0} s",
        arguments.services,
        arguments.endpoints,
        arguments.proxies,
        arguments.objects * 2,
        world.fill().await?
    ));

    let mut sides = vec![Which::Istiod, Which::EagerIstiod, Which::Mizzen];
    sides.retain(|side| *side != Which::EagerIstiod || arguments.eager);
    if let Some(only) = &arguments.only {
        sides.retain(|side| side.name() == only);
    }
    let plan = Plan { server: &server, world: &world, arguments: &arguments };
    let mut runs = Vec::new();
    for run in 0..arguments.runs {
        // Who is first changes, so that neither always finds a warmer machine.
        let order: Vec<Which> =
            if run % 2 == 0 { sides.clone() } else { sides.iter().rev().copied().collect() };
        for which in order {
            report::say(format_args!("run {} of {}: {}", run + 1, arguments.runs, which.name()));
            runs.push((which, plan.run(which).await?));
        }
    }
    report::print(&arguments, &runs)
}
