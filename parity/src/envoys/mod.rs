//! Every scenario through real Envoys: whether they take all that our control plane sends, and have it in use.
//!
//! In: scenarios and the control plane's program. Out: for each proxy what was sent and what an Envoy of exactly that identity,
//! in a network of its own, has in use, name by name; and what differs, waits or was refused. The scenario stands on an API
//! server, as in the comparison with istiod and in its three phases (cold, all but pods deleted, applied again), so that it is the
//! very configuration that is compared there. Control plane, network and Envoys are new for each.

mod content;
mod fleet;
mod names;
mod outcome;
mod taken;

use std::{path::PathBuf, time::Instant};

use anyhow::{Context as _, Result};
use mizzen_testkit::{ApiServer, Istiod};

use self::fleet::{Expected, Fleet};
pub use self::{
    outcome::{Count, Outcome, Summary},
    taken::{Fault, Messages, Sent, Taken},
};
use crate::{
    Cluster, Scenario,
    cluster::{configuration, everything},
    run::{Phase, serves},
};

#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Our control plane; the real istiod if none is given.
    pub program: Option<PathBuf>,
}

/// Runs the scenarios, telling each outcome as it is known.
pub async fn run(
    scenarios: &[Scenario],
    options: &Options,
    mut told: impl FnMut(&Outcome),
) -> Result<Summary> {
    if let Some(program) = &options.program {
        serves(program)?;
    }
    let server = ApiServer::start().await?;
    Istiod::install_kinds(&server).await?;
    let mut cluster = Cluster::new(&server)?;
    let mut outcomes = Vec::new();
    for scenario in scenarios {
        let start = Instant::now();
        let mut outcome = Outcome::new(&scenario.name);
        if let Err(error) = Box::pin(look(&server, &mut cluster, scenario, options, &mut outcome)).await {
            outcome.broken = Some(format!("{error:#}"));
        }
        // What is left over would be part of the next scenario.
        cluster.delete(everything).await.with_context(|| format!("after {}", scenario.name))?;
        outcome.seconds = start.elapsed().as_secs_f64();
        told(&outcome);
        outcomes.push(outcome);
    }
    Ok(Summary { outcomes })
}

async fn look(
    server: &ApiServer,
    cluster: &mut Cluster,
    scenario: &Scenario,
    options: &Options,
    outcome: &mut Outcome,
) -> Result<()> {
    cluster.create(scenario, everything).await?;
    let fleet = Box::pin(Fleet::start(server, scenario, options)).await?;
    let cold = fleet.look(Expected::Anything).await?;
    outcome.note(Phase::Cold, &cold);

    cluster.delete(configuration).await?;
    outcome.note(Phase::Deleted, &fleet.look(Expected::Not(&cold)).await?);

    cluster.create(scenario, configuration).await?;
    outcome.note(Phase::Updated, &fleet.look(Expected::Same(&cold)).await?);
    Ok(())
}
