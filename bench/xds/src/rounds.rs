//! One control plane, started once, taken through all the changes.

use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

use anyhow::Result;
use mizzen_testkit::{ApiServer, proxy::Kind};

use crate::{
    Arguments,
    fleet::{Expected, Fleet, News},
    plane::{Plane, Which},
    world::World,
};

const PATIENCE: Duration = Duration::from_secs(120);
/// After the last proxy has a change: what is still worked on belongs to it.
const QUIET: Duration = Duration::from_millis(1_000);

/// Figures by name: `virtual service, seconds`.
pub(crate) type Figures = BTreeMap<&'static str, BTreeMap<&'static str, f64>>;

pub(crate) struct Plan<'a> {
    pub(crate) server: &'a ApiServer,
    pub(crate) world: &'a World,
    pub(crate) arguments: &'a Arguments,
}

impl Plan<'_> {
    pub(crate) async fn run(&self, which: Which) -> Result<Figures> {
        let mut figures = Figures::new();
        let plane = Plane::start(which, self.server, self.arguments).await?;
        figures.entry("start").or_default().insert("seconds", plane.start.as_secs_f64());
        tokio::time::sleep(QUIET).await;

        let before = plane.meter.cpu()?;
        let begun = Instant::now();
        let mut fleet = Fleet::connect(plane.address, &self.world.identities())?;
        let last = fleet.all(vec![vec![Expected::Complete]; fleet.size], PATIENCE).await?;
        fleet.quiet(QUIET).await;
        let (bytes, responses) = fleet.traffic();
        let connect = figures.entry("connect").or_default();
        connect.insert("seconds", last.duration_since(begun).as_secs_f64());
        connect.insert("cpuSeconds", plane.meter.cpu()? - before);
        connect.insert("bytes", bytes as f64);
        connect.insert("responses", responses as f64);

        for (name, kinds) in [
            ("virtual service", &[Kind::Routes][..]),
            ("destination rule", &[Kind::Clusters]),
            ("new service", &[Kind::Clusters, Kind::Routes]),
            ("endpoint", &[Kind::Endpoints]),
        ] {
            let mut measured = Vec::new();
            for _ in 0..self.arguments.changes {
                measured.push(self.change(name, kinds, &plane, &mut fleet).await?);
            }
            figures.insert(name, medians(&measured));
        }
        figures.insert("churn", self.churn(&plane, &mut fleet).await?);

        fleet.quiet(QUIET).await;
        let before = plane.meter.cpu()?;
        tokio::time::sleep(Duration::from_secs(10)).await;
        let (now, peak) = plane.meter.memory()?;
        let idle = figures.entry("idle").or_default();
        idle.insert("cpuSeconds", plane.meter.cpu()? - before);
        idle.insert("bytes", now as f64);
        figures.entry("peak").or_default().insert("bytes", peak as f64);
        Ok(figures)
    }

    async fn change(
        &self,
        name: &str,
        kinds: &[Kind],
        plane: &Plane,
        fleet: &mut Fleet,
    ) -> Result<BTreeMap<&'static str, f64>> {
        fleet.forget();
        let (cpu, (bytes, responses)) = (plane.meter.cpu()?, fleet.traffic());
        let mut mark = self.world.next_mark();
        let taken = match name {
            "virtual service" => self.world.virtual_service(mark).await?,
            "destination rule" => self.world.destination_rule(mark).await?,
            "new service" => self.world.new_service(mark).await?,
            _ => {
                let (spare, taken) = self.world.endpoint().await?;
                mark = spare;
                taken
            }
        };
        let expected = kinds.iter().map(|&kind| Expected::Mark { mark, kind }).collect();
        let last = fleet.all(vec![expected; fleet.size], PATIENCE).await?;
        fleet.quiet(QUIET).await;
        let (bytes_after, responses_after) = fleet.traffic();
        Ok(BTreeMap::from([
            // A proxy may have it before the API server's answer has been read.
            ("seconds", last.saturating_duration_since(taken).as_secs_f64()),
            ("cpuSeconds", plane.meter.cpu()? - cpu),
            ("bytes", (bytes_after - bytes) as f64),
            ("responses", (responses_after - responses) as f64),
        ]))
    }

    /// Twenty endpoint changes a second: how old what a proxy has is, from the API server's answer to the moment when the last proxy
    /// has it or something newer.
    async fn churn(&self, plane: &Plane, fleet: &mut Fleet) -> Result<BTreeMap<&'static str, f64>> {
        fleet.forget();
        let (cpu, (bytes, _)) = (plane.meter.cpu()?, fleet.traffic());
        let begun = Instant::now();
        let mut changes: Vec<(u64, Instant)> = Vec::new();
        let mut ticks = tokio::time::interval(Duration::from_millis(50));
        while begun.elapsed() < Duration::from_secs(self.arguments.churn) {
            ticks.tick().await;
            changes.push(self.world.endpoint().await?);
        }
        let Some(&(last_mark, _)) = changes.last() else { return Ok(BTreeMap::new()) };

        // For each proxy the next change that it has not seen; a report of a later one covers all before it. Marks come
        // again after a while, so a report counts for the latest change with it that had been made by then.
        let mut next = vec![0_usize; fleet.size];
        let mut seen: Vec<Vec<f64>> = vec![Vec::new(); changes.len()];
        let limit = Instant::now() + PATIENCE;
        while next.iter().any(|&next| next < changes.len()) {
            let report = fleet.next(limit).await?;
            let News::Mark { mark, kind: Kind::Endpoints } = report.news else { continue };
            // The request was on its way for a moment before its answer: a proxy may be quicker.
            let early = report.at + Duration::from_millis(200);
            let Some(index) = changes.iter().rposition(|&(of, at)| of == mark && at <= early) else {
                continue;
            };
            for change in next[report.proxy]..=index {
                seen[change].push(report.at.saturating_duration_since(changes[change].1).as_secs_f64());
            }
            next[report.proxy] = next[report.proxy].max(index + 1);
            if mark == last_mark && index + 1 == changes.len() {
                next[report.proxy] = changes.len();
            }
        }
        fleet.quiet(QUIET).await;
        let mut worst: Vec<f64> = seen.iter().map(|seen| seen.iter().copied().fold(0.0, f64::max)).collect();
        worst.sort_by(f64::total_cmp);
        Ok(BTreeMap::from([
            ("seconds", worst[worst.len() / 2]),
            ("worstSeconds", worst[worst.len() - 1]),
            ("cpuSeconds", plane.meter.cpu()? - cpu),
            ("bytes", (fleet.traffic().0 - bytes) as f64),
            ("changes", changes.len() as f64),
        ]))
    }
}

pub(crate) fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or_default()
}

fn medians(measured: &[BTreeMap<&'static str, f64>]) -> BTreeMap<&'static str, f64> {
    let names = measured.first().into_iter().flat_map(|first| first.keys().copied());
    names.map(|name| (name, median(measured.iter().map(|one| one[name]).collect()))).collect()
}
