//! `discovery`: the control plane. Flags and environment are those of `pilot-discovery discovery`; what means nothing here is
//! accepted and said once.

mod environment;
mod flags;

use super::{Group, Verb};
use crate::{
    exit::Exit,
    failure::{Hint, Usage},
    output::Output,
    program::Program,
};
use anyhow::{Context, Result, anyhow};
use environment::Environment;
use flags::Typed;
use mizzen_pilot::{Failed, Options};
use std::env;
use tokio::{
    runtime,
    signal::unix::{SignalKind, signal},
};

pub(crate) struct Discovery {
    options: Options,
    threads: usize,
    /// What was said and means nothing here.
    idle: Vec<String>,
}

impl Verb for Discovery {
    const NAME: &'static str = "discovery";
    const ABOUT: &'static str = "Run the control plane: services and configuration in, xDS for proxies out";
    const GROUP: Group = Group::Processes;
    const ALSO_IN: &'static [Program] = &[Program::PilotDiscovery];
    const EXAMPLES: &'static [(&'static str, &'static str)] = &[
        ("discovery --kubeconfig cluster.yaml -n istio-system", "On a cluster, from outside of it"),
        (
            "discovery --registries= --configDir mesh/ --meshConfig mesh.yaml",
            "Without a cluster: services, endpoints and routes from the files of a folder, followed as they change",
        ),
        (
            "discovery --grpcAddr 127.0.0.1:15010 --httpAddr 127.0.0.1:8080 --monitoringAddr 127.0.0.1:15014",
            "For this machine only; `curl 127.0.0.1:8080/debug/list` names the pages",
        ),
    ];
    type Typed = Typed;

    fn meant(typed: Typed, _: Program) -> Result<Self> {
        let environment = Environment::read(|name| env::var(name).ok())?;
        let mut idle = typed.idle();
        idle.extend(environment.idle.iter().cloned());
        let threads = environment.threads;
        Ok(Self { options: typed.options(&environment)?, threads, idle })
    }

    fn run(self, _: &mut Output) -> Result<Exit> {
        for name in &self.idle {
            tracing::info!("{name} means nothing here and is passed by");
        }
        // Streams are small and work is short: a thread a core, and few that may block.
        let runtime = runtime::Builder::new_multi_thread()
            .worker_threads(self.threads)
            .max_blocking_threads(self.threads + 4)
            .thread_name("mizzen")
            .thread_stack_size(1 << 20)
            .enable_all()
            .build()
            .context("cannot start")?;
        runtime.block_on(async {
            let mut terminate = signal(SignalKind::terminate()).context("cannot wait for signals")?;
            let mut interrupt = signal(SignalKind::interrupt()).context("cannot wait for signals")?;
            let end = async move {
                tokio::select! {
                    _ = terminate.recv() => {}
                    _ = interrupt.recv() => {}
                }
            };
            mizzen_pilot::run(self.options, end).await.map_err(told)
        })?;
        Ok(Exit::Done)
    }
}

fn told(failed: Failed) -> anyhow::Error {
    let hint = match &failed {
        Failed::Client(_) => "give --kubeconfig, or --registries= and --configDir to do without a cluster",
        Failed::Listen { .. } => "give another address, or none at all to leave it out",
        Failed::Thread(_) => return failed.into(),
    };
    anyhow!(failed).hint(hint)
}

fn wrong(text: String) -> anyhow::Error {
    Usage(text).into()
}
