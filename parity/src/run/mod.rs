//! The comparison with servers: one API server, two control planes on it, the same proxies on both.
//!
//! Each scenario is looked at three times: after a cold start of both with everything there; after all but pods and nodes
//! was deleted; after it was applied again, to the running pair. Every time both are given time to settle. Of istiod itself it
//! is known what it must say: the third time the same as the first, the second time something else. Only then a
//! comparison counts.

mod outcome;
mod pair;

use std::{path::PathBuf, time::Instant};

use anyhow::{Context as _, Result, bail};
use mizzen_testkit::{ApiServer, Istiod};

use self::pair::{Expected, Pair};
pub use self::{
    outcome::{Outcome, Phase, Summary},
    pair::{QUIET, connect},
};
use crate::{
    Cluster, Scenario,
    cluster::{configuration, everything},
    compare::Allowed,
    dump::Dump,
    proof,
};

#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Our control plane; istiod beside itself if none is given, which shows whether the yardstick holds still.
    pub program: Option<PathBuf>,
    pub allowed: Allowed,
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
        let looking = look(&server, &mut cluster, scenario, options, &mut outcome);
        if let Err(error) = Box::pin(looking).await {
            outcome.broken = Some(format!("{error:#}"));
        }
        // What is left over would be part of the next scenario.
        cluster.delete(everything).await.with_context(|| format!("after {}", scenario.name))?;
        outcome.seconds = start.elapsed().as_secs_f64();
        told(&outcome);
        outcomes.push(outcome);
    }
    Ok(Summary::new(outcomes, &options.allowed))
}

async fn look(
    server: &ApiServer,
    cluster: &mut Cluster,
    scenario: &Scenario,
    options: &Options,
    outcome: &mut Outcome,
) -> Result<()> {
    cluster.create(scenario, everything).await?;
    let pair = Box::pin(Pair::start(server, scenario, options.program.clone())).await?;
    let allowed = &options.allowed;

    let cold = pair.look(Expected::Anything, allowed).await?;
    outcome.note(Phase::Cold, &cold);
    outcome.seen = prove(&cold.theirs, &cold.ours, allowed);

    cluster.delete(configuration).await?;
    let deleted = pair.look(Expected::Not(&cold.theirs), allowed).await?;
    outcome.note(Phase::Deleted, &deleted);

    cluster.create(scenario, configuration).await?;
    let updated = pair.look(Expected::Same(&cold.theirs), allowed).await?;
    outcome.note(Phase::Updated, &updated);
    Ok(())
}

/// Whether a change of one leaf of ours, chosen at random, would have been seen.
fn prove(theirs: &Dump, ours: &Dump, allowed: &Allowed) -> bool {
    let before = crate::compare(theirs, ours, allowed).different.len();
    let place = proof::random(proof::places(ours));
    proof::plant(ours, place).is_some_and(|(planted, _)| {
        let after = crate::compare(theirs, &planted, allowed);
        // A leaf that is different already stays one difference.
        after.different.len() > before || (before > 0 && !after.equal())
    })
}

pub(crate) fn serves(program: &std::path::Path) -> Result<()> {
    let output = std::process::Command::new(program).args(["discovery", "--help"]).output();
    let output = output.with_context(|| format!("start {}", program.display()))?;
    if !output.status.success() {
        bail!("{} has no verb `discovery` yet, so there is nothing to compare", program.display());
    }
    Ok(())
}
