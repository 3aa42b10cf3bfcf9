//! Two control planes and the proxies of a scenario on both.

use std::{
    path::PathBuf,
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result};
use mizzen_testkit::{ApiServer, Istiod, Proxy, istiod, proxy};

use crate::{
    Scenario,
    compare::{Allowed, Report, compare},
    dump::Dump,
};

/// Nothing for that long, and a proxy is taken to have everything: istiod gathers changes for a tenth of a second.
pub const QUIET: Duration = Duration::from_millis(500);
/// For both to become equal, and for istiod to say what it must say. Not a measure of speed: what is red at its end is red.
const PATIENCE: Duration = Duration::from_secs(6);
/// For a control plane of ours that does not answer; of istiod it is known that it does.
const ANSWER: Duration = Duration::from_secs(10);

/// What istiod's own answer must be before it counts.
pub(super) enum Expected<'d> {
    Anything,
    Same(&'d Dump),
    Not(&'d Dump),
}

/// What was seen on both sides.
pub(super) struct Sight {
    pub(super) theirs: Dump,
    pub(super) ours: Dump,
    pub(super) report: Report,
    /// Something about a side that is worth a word.
    pub(super) notes: Vec<String>,
}

pub(super) struct Pair {
    theirs: Side,
    ours: Side,
}

struct Side {
    control_plane: Istiod,
    proxies: Vec<(String, Proxy)>,
}

impl Pair {
    pub(super) async fn start(
        server: &ApiServer,
        scenario: &Scenario,
        program: Option<PathBuf>,
    ) -> Result<Self> {
        let theirs = Side::start(server, scenario, None);
        let (theirs, ours) = tokio::join!(theirs, Side::start(server, scenario, program));
        Ok(Self { theirs: theirs.context("istiod")?, ours: ours.context("ours")? })
    }

    pub(super) async fn look(&self, expected: Expected<'_>, allowed: &Allowed) -> Result<Sight> {
        let start = Instant::now();
        loop {
            let (theirs, ours) = tokio::join!(self.theirs.settled(), self.ours.settled());
            theirs.context("istiod's proxies")?;
            let (theirs, dump) = (self.theirs.dump().context("istiod's")?, self.ours.dump().context("ours")?);
            let report = compare(&theirs, &dump, allowed);
            let met = match expected {
                Expected::Anything => true,
                Expected::Same(before) => compare(before, &theirs, &Allowed::default()).equal(),
                Expected::Not(before) => !compare(before, &theirs, &Allowed::default()).equal(),
            };
            if (met && report.equal()) || start.elapsed() > PATIENCE {
                let mut notes = Vec::new();
                notes.extend(ours.err().map(|error| format!("ours does not settle: {error:#}")));
                if !met {
                    notes.push("istiod itself does not say what it should here".to_owned());
                }
                return Ok(Sight { theirs, ours: dump, report, notes });
            }
            tokio::time::sleep(QUIET / 2).await;
        }
    }
}

impl Side {
    async fn start(server: &ApiServer, scenario: &Scenario, program: Option<PathBuf>) -> Result<Self> {
        let options =
            istiod::Options { mesh_config: scenario.mesh.clone(), program, ..istiod::Options::default() };
        let control_plane = Istiod::start(server, options).await?;
        let proxies = connect(&control_plane, scenario).await?;
        Ok(Self { control_plane, proxies })
    }

    async fn settled(&self) -> Result<()> {
        for (name, proxy) in &self.proxies {
            let settled = tokio::time::timeout(ANSWER, proxy.settled(QUIET)).await;
            if let Some(end) = self.control_plane.part().ended() {
                return Err(self.control_plane.part().error(format_args!("it ended ({end})")).into());
            }
            match settled {
                Ok(settled) => settled.with_context(|| name.clone())?,
                Err(_) => {
                    anyhow::bail!("{name}: {}", proxy.ledger().open().unwrap_or_else(|| "never quiet".into()))
                }
            }
        }
        Ok(())
    }

    fn dump(&self) -> Result<Dump> {
        let dumps = self.proxies.iter().map(|(name, proxy)| Ok((name.clone(), proxy.dump()?)));
        dumps.collect::<Result<_>>().map(Dump)
    }
}

/// The proxies of a scenario, connected.
pub async fn connect(control_plane: &Istiod, scenario: &Scenario) -> Result<Vec<(String, Proxy)>> {
    let mut proxies = Vec::new();
    for who in &scenario.proxies {
        let identity = who.identity(scenario)?;
        let proxy = Proxy::connect(control_plane.discovery(), &identity, proxy::Options::default()).await?;
        proxies.push((who.name().to_owned(), proxy));
    }
    Ok(proxies)
}
