//! `mizzen-parity`: dumps of the real istiod, and the comparison with ours. Called by `cargo xtask parity`.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a tool for the people at this terminal")]

use std::{
    fs,
    path::{Path, PathBuf},
    process::ExitCode,
    time::{Duration, Instant},
};

use clap::{Parser, Subcommand};
use mizzen_parity::{Cluster, Dump, Scenario};
use mizzen_testkit::{
    ApiServer, Istiod, Proxy,
    istiod::Options,
    proxy::{self, Configuration},
};
use mizzen_text::yaml;

/// Nothing for that long, and a proxy is taken to have everything: istiod gathers changes for a tenth of a second.
const QUIET: Duration = Duration::from_millis(700);

#[derive(Parser)]
struct Arguments {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand)]
enum Verb {
    /// Write what the real istiod gives to the proxies of scenarios (all, or those named)
    Dump { folder: PathBuf, scenarios: Vec<String> },
}

#[tokio::main]
async fn main() -> ExitCode {
    let outcome = match Arguments::parse().verb {
        Verb::Dump { folder, scenarios } => dump(&folder, &scenarios).await,
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

async fn dump(folder: &Path, only: &[String]) -> anyhow::Result<()> {
    let scenarios = Scenario::all(only)?;
    let server = ApiServer::start().await?;
    Istiod::install_kinds(&server).await?;
    let mut cluster = Cluster::new(&server)?;
    for scenario in &scenarios {
        let start = Instant::now();
        cluster.create(scenario).await?;
        let options = Options { mesh_config: scenario.mesh.clone(), ..Options::default() };
        let istiod = Istiod::start(&server, options).await?;
        let dump = look(&istiod, scenario).await?;
        let folder = folder.join(&scenario.name);
        dump.write(&folder)?;
        let objects = cluster.objects().await?;
        let texts: Vec<String> = objects.iter().map(yaml::to_string).collect();
        fs::write(folder.join("objects.yaml"), texts.join("---\n"))?;
        fs::write(folder.join("mesh.yaml"), yaml::to_string(&scenario.mesh))?;
        drop(istiod);
        cluster.delete().await?;
        println!("{}: {} proxies, {:.1} s", scenario.name, scenario.proxies.len(), start.elapsed().as_secs_f32());
    }
    Ok(())
}

async fn look(istiod: &Istiod, scenario: &Scenario) -> anyhow::Result<Dump> {
    let mut proxies = Vec::new();
    for who in &scenario.proxies {
        let identity = who.identity(scenario)?;
        let proxy = Proxy::connect(istiod.discovery(), &identity, proxy::Options::default()).await?;
        proxies.push((who.name().to_owned(), proxy));
    }
    let mut dump = Dump::default();
    for (name, proxy) in &proxies {
        proxy.settled(QUIET).await?;
        let configuration: Configuration = proxy.dump()?;
        dump.0.insert(name.clone(), configuration);
    }
    Ok(dump)
}
