//! A small load generator: a steady number of requests a second, whatever the answers take.

use crate::{
    http::{Door, get},
    view::{Edge, View},
};
use http::{HeaderName, HeaderValue};
use serde::Serialize;
use std::{
    collections::BTreeMap,
    future::Future,
    net::SocketAddr,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};
use tokio::{
    sync::Semaphore,
    task::JoinSet,
    time::{MissedTickBehavior, interval, sleep},
};

/// What to send.
#[derive(Clone, Debug)]
pub struct Load {
    pub to: SocketAddr,
    pub path: String,
    pub headers: Vec<(HeaderName, HeaderValue)>,
    /// Requests a second.
    pub rate: f64,
    /// Without it until `end`.
    pub duration: Option<Duration>,
}

/// Requests that may be on their way at once; those that find no place count as failed.
const AT_ONCE: usize = 256;
const WAIT: Duration = Duration::from_secs(30);

#[derive(Default)]
struct Counts {
    sent: u64,
    by_status: BTreeMap<String, u64>,
    ok: u64,
    /// Microseconds.
    times: Vec<u32>,
}

/// What came back.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Report {
    pub seconds: f64,
    pub requests: u64,
    pub succeeded: u64,
    /// How many with each status, or each reason why there was no answer.
    pub answers: BTreeMap<String, u64>,
    /// Milliseconds.
    pub p50: Option<f64>,
    pub p90: Option<f64>,
    pub p99: Option<f64>,
    pub max: Option<f64>,
}

/// Sends until it is over or `end`; `show` is called every second with what came back so far.
pub async fn send(load: Load, end: impl Future<Output = ()>, mut show: impl FnMut(&Report)) -> Report {
    let counts = Arc::new(Mutex::new(Counts::default()));
    let begun = Instant::now();
    let report = |counts: &Mutex<Counts>| {
        Report::of(&counts.lock().unwrap_or_else(PoisonError::into_inner), begun.elapsed())
    };
    {
        let sending = generate(&load, &counts);
        let over = async {
            match load.duration {
                Some(duration) => sleep(duration).await,
                None => std::future::pending().await,
            }
        };
        let showing = async {
            loop {
                sleep(Duration::from_secs(1)).await;
                show(&report(&counts));
            }
        };
        tokio::select! {
            () = sending => {}
            () = showing => {}
            () = over => {}
            () = end => {}
        }
    }
    report(&counts)
}

async fn generate(load: &Load, counts: &Arc<Mutex<Counts>>) {
    let room = Arc::new(Semaphore::new(AT_ONCE));
    let mut requests = JoinSet::new();
    let mut ticks = interval(Duration::from_secs_f64(1.0 / load.rate.clamp(0.01, 10_000.0)));
    ticks.set_missed_tick_behavior(MissedTickBehavior::Burst);
    loop {
        ticks.tick().await;
        while requests.try_join_next().is_some() {}
        let note = |counts: &Mutex<Counts>, ok: bool, status: String, took: Option<Duration>| {
            let mut counts = counts.lock().unwrap_or_else(PoisonError::into_inner);
            counts.sent += 1;
            counts.ok += u64::from(ok);
            *counts.by_status.entry(status).or_default() += 1;
            counts.times.extend(took.map(|took| u32::try_from(took.as_micros()).unwrap_or(u32::MAX)));
        };
        let Ok(place) = Arc::clone(&room).try_acquire_owned() else {
            note(counts, false, format!("not sent: {AT_ONCE} are waiting for an answer"), None);
            continue;
        };
        let (load, counts) = (load.clone(), Arc::clone(counts));
        requests.spawn(async move {
            let begun = Instant::now();
            match get(&Door::Tcp(load.to), &load.path, &load.headers, WAIT).await {
                Ok(answer) => {
                    let ok = !answer.status.is_server_error();
                    note(&counts, ok, answer.status.as_u16().to_string(), Some(begun.elapsed()));
                }
                Err(error) => note(&counts, false, error.to_string(), None),
            }
            drop(place);
        });
    }
}

impl Report {
    fn of(counts: &Counts, took: Duration) -> Self {
        let mut times = counts.times.clone();
        times.sort_unstable();
        let at = |part: f64| {
            #[expect(
                clippy::cast_precision_loss,
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "a place in a list"
            )]
            let place = (part * (times.len().saturating_sub(1)) as f64).round() as usize;
            times.get(place).map(|micros| f64::from(*micros) / 1000.0)
        };
        Self {
            seconds: took.as_secs_f64(),
            requests: counts.sent,
            succeeded: counts.ok,
            answers: counts.by_status.clone(),
            p50: at(0.5),
            p90: at(0.9),
            p99: at(0.99),
            max: at(1.0),
        }
    }
}

/// How the calls between two looks were shared by the versions of each service that has several.
pub fn shares(before: &View, after: &View) -> BTreeMap<String, BTreeMap<String, u64>> {
    let count = |edges: &[Edge], to: &str| {
        edges.iter().filter(|edge| edge.to == to).map(|edge| edge.requests).sum::<u64>()
    };
    let mut shares: BTreeMap<String, BTreeMap<String, u64>> = BTreeMap::new();
    for workload in &after.workloads {
        let calls = count(&after.edges, &workload.name).saturating_sub(count(&before.edges, &workload.name));
        shares.entry(workload.service.clone()).or_default().insert(workload.version.clone(), calls);
    }
    shares.retain(|_, versions| versions.len() > 1 && versions.values().any(|&calls| calls > 0));
    shares
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_those_of_the_sorted_times() {
        let counts = Counts {
            sent: 100,
            ok: 99,
            times: (1..=100).rev().map(|ms| ms * 1000).collect(),
            ..Counts::default()
        };
        let report = Report::of(&counts, Duration::from_secs(2));
        assert_eq!((report.p50, report.p99, report.max), (Some(51.0), Some(99.0), Some(100.0)));
        assert_eq!(Report::of(&Counts::default(), Duration::ZERO).p50, None);
    }
}
